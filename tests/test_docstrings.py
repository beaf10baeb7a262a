"""A docstring is a sentence with a subject, so that an IDE can show it without the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("isa", "hw", "sw", "sim", "lab", "api")
FILES = sorted(path.relative_to(ROOT) for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))

HEADLESS = re.compile(r"(?:Of|Those|That|Whose|Who|Such|Beside|Behind|Whatever|As far as)\b")
"""First words of a docstring that go on with a sentence of the code."""


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield node.lineno, text.strip()


def headless(source: str) -> list[tuple[int, str]]:
    return [(line, text) for line, text in docstrings(source) if HEADLESS.match(text)]


def test_each_docstring_can_be_read_alone():
    """All files are one test: a test for each takes longer than what it looks at."""
    assert len(FILES) > 500
    found = [(path, *each) for path in FILES for each in headless((ROOT / path).read_text())]
    assert not found, "\n".join(
        f"{path}:{line}: {text.splitlines()[0]!r} lacks a subject; say what it is"
        for path, line, text in found
    )


@pytest.mark.parametrize(
    "source",
    [
        '"""Of tiles."""',
        'class A:\n    """Those of a product."""',
        'class A:\n    rows: int\n    """Whose rows they are."""',
        'def f():\n    """\n    As far as they go.\n    """',
        'def f(self):\n    self.x = 0\n    """Of a row."""',
    ],
)
def test_a_fragment_is_found_wherever_a_docstring_stands(source):
    assert len(headless(source)) == 1


def test_a_word_that_only_begins_like_one_of_a_fragment_is_none():
    assert not headless('"""Offsets of columns."""\nX = 1\n"""Whole numbers; those of a row."""')
