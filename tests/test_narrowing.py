"""Where software makes integers of fewer bits: by functions that say what happens to the rest."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NARROW = {"int8", "uint8", "int16", "uint16", "int32", "uint32"}
"""Types that `astype` may not cut to: `numerics.nearest` does, and refuses what does not fit."""
FOLDERS = ("sw/quantize", "sw/reference")
DEFINES = ROOT / "sw/reference/matmul.py"
"""Says for itself what wraps and what is clipped: what it computes is compared with the rest."""


def casts(path: Path) -> list[str]:
    """The types that numbers of a file are cast to without a check."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return [
        ast.unparse(call.args[0]).removeprefix("np.")
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "astype" and call.args
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_numbers_of_models_are_not_cut_without_a_check(folder):
    files = sorted((ROOT / folder).glob("*.py"))
    assert files
    found = {path.name: NARROW.intersection(casts(path)) for path in files if path != DEFINES}
    assert not any(found.values()), found
