"""What `benchmarks/code_lines.py` counts."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "code_lines.py"))

VERIFIES = {
    "sw/compiler/verified.py",
    "sw/ir/product_verify.py",
    "sw/ir/program_verify.py",
    "sw/scheduling/memory/check_scratch.py",
    "sw/scheduling/memory/order.py",
}
"""What is loaded to verify programs alone."""

SOURCE = '''"""A docstring
of two lines."""

# A comment.
VALUE = (  # Three lines.
    1,
)
"""Of VALUE."""


def function(text="""a
b"""):
    """What it does."""
    return text
'''

FIELDS = "".join(f"    {name}: int\n" for name in "abcdefg")
RECORD = f"class ManyOptions:\n{FIELDS}"
FEW = "class FewOptions:\n    a: int\n"


def test_docstrings_comments_and_empty_lines_are_no_code():
    assert SCRIPT["code_lines"](SOURCE) == 3 + 3


def test_a_record_of_options_reaches_parameters_and_attributes():
    sources = {
        "many.py": RECORD,
        "few.py": FEW,
        "parameter.py": "def f(options: ManyOptions, few: FewOptions): ...\n",
        "attribute.py": "class A:\n    options: ManyOptions | None\n",
        "neither.py": "ManyOptions()\n",
    }
    assert SCRIPT["option_files"](sources.items()) == {
        "ManyOptions": {"parameter.py", "attribute.py"}
    }


def test_the_road_is_what_compiling_loads():
    """What verifies programs is of it; the timeline, graphs and what makes them are not."""
    loaded = SCRIPT["loaded_by_compiling"]()
    road = SCRIPT["road"](loaded)
    assert {"planning", "scheduling", "passes", "compiler", "ir"} <= road.keys()
    assert not {"timeline", "models", "quantize", "frontend"} & road.keys()
    assert {*loaded} > VERIFIES
    assert 3_000 < SCRIPT["road"]({*loaded} - VERIFIES).total() < 6_100
