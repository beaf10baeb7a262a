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
    "An operator of integer graphs": r"\bCombine\b",
    "A preset": r"\brebalanced\b",
    "A bench": r"\bTRACE\b",
}
"""What each section follows, as a pattern; others only name where things are."""
BESIDE = {
    "An operator of float graphs, and its ONNX form": {"sw/frontend/importer/table.py"},
    "A bench": {"lab/bench/tables.py"},
}
"""Files of a section that do not name the thing."""


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
    assert named - BESIDE.get(title, set()) == known


def test_a_function_of_the_lanes_is_few_files():
    """From the RTL to ONNX: what a further one may take."""
    title = "A function of the lanes"
    assert len(re.findall(r"(?m)^\d+\. `", sections()[title])) <= 8
