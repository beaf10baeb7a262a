"""The page on how to add something names all files that know what it follows, and no others."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to-add.md").read_text()
LAYERS = ("isa", "hw", "sw", "sim", "lab", "api")

FOLLOWED = {
    "A function of the lanes": r"(?i)hardswish",
    "An operator of float graphs, and its ONNX form": r'"mod"',
    "An operator of integer graphs": r"\bSubtract(ion)?\b",
    "A preset": r"\brebalanced\b",
    "A bench": r"\brun_traces\b",
}
"""What each section follows, as a pattern; others only name where things are."""
BESIDE = {
    "An operator of float graphs, and its ONNX form": {"sw/frontend/importer/table.py"},
    "An operator of integer graphs": {
        "isa/functions/table.py",
        "hw/transform/controller.py",
        "sw/planning/decisions/decide_graph.py",
        "sw/planning/forms/stages.py",
        "sw/planning/rules/combine.py",
        "sw/planning/rules/verify.py",
        "sw/planning/schedules/roles.py",
        "sw/scheduling/expansion/expand_combine.py",
        "sw/scheduling/expansion/row_blocks.py",
    },
    "A bench": {"lab/bench/cases.py", "lab/bench/tables.py"},
}
"""Files of a section that do not name the thing."""
USERS = {"An operator of integer graphs": {"sw/quantize/graphs/emit_products.py"}}
"""Files that name the thing to make something else of it: a product's two halves are added."""


def sections() -> dict[str, str]:
    _, *parts = re.split(r"(?m)^## ", PAGE)
    return dict(part.split("\n", 1) for part in parts)


@pytest.mark.parametrize("title", FOLLOWED)
def test_a_section_names_all_files_that_know_its_thing(title):
    pattern = re.compile(FOLLOWED[title])
    known = {
        path.relative_to(ROOT).as_posix()
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
        if pattern.search(path.read_text())
    }
    named = set(re.findall(r"`((?:isa|hw|sw|sim|lab)/[\w/]+\.py)`", sections()[title]))
    assert named - BESIDE.get(title, set()) == known - USERS.get(title, set())


@pytest.mark.parametrize("title", ["A function of the lanes", "An operator of integer graphs"])
def test_from_the_rtl_to_onnx_is_few_files(title):
    """What a further one may take."""
    assert len(re.findall(r"(?m)^\d+\. `", sections()[title])) <= 8
