"""What `benchmarks/compiler_lines.py` counts."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "compiler_lines.py"))

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


def test_docstrings_comments_and_empty_lines_are_no_code():
    assert SCRIPT["code_lines"](SOURCE) == 3 + 3


def test_files_count_in_their_part_or_aside():
    paths = {
        "plan.py": "decide",
        "planning/rules/verify.py": "decide",
        "planning/forms/text.py": "texts",
        "ir/program.py": "forms",
        "ir/read_program.py": "texts",
        "scheduling/expand.py": "scheduling",
        "passes/loops/search.py": "encode",
        "planning/cost.py": None,
        "cost.py": None,
        "ir/graph.py": None,
        "driver/ring.py": None,
    }
    for path, part in paths.items():
        assert SCRIPT["count_parts"]([(path, SOURCE)]) == ({part: 6} if part else {}), path


def test_every_part_is_there():
    counted = SCRIPT["count_parts"](
        (path.relative_to(ROOT / "sw").as_posix(), path.read_text())
        for path in ROOT.glob("sw/**/*.py")
    )
    assert {"decide", "forms", "scheduling", "encode", "texts"} <= counted.keys()
