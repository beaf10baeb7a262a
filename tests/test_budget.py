"""How long files and `elaborate` methods may be, and that every component has a test file."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("isa", "hw", "sw", "sim", "lab", "api")

FILE_LINES = 400
ELABORATE_LINES = 80

PROSE_COLUMNS = 120
README_LINES = 140
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
GENERATED = {"isa.md", "json.md", "counters.md", "registers.md"}

FILES = sorted(path.relative_to(ROOT) for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))


def parse(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(), filename=str(path))


def is_component(node: ast.AST) -> bool:
    """Whether `node` is a class with such a base, however that was imported."""
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(base).rpartition(".")[2] in {"Component", "Sleeping"} for base in node.bases
    )


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_is_within_its_budget(path):
    lines = len((ROOT / path).read_text().splitlines())
    assert lines <= FILE_LINES, f"{path}: {lines} lines, more than {FILE_LINES}; split it"


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "hw"], ids=str)
def test_an_elaborate_is_within_its_budget(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef) and node.name in {"elaborate", "build"}:
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            assert lines <= ELABORATE_LINES, (
                f"{path}:{node.lineno}: {node.name} has {lines} lines, more than {ELABORATE_LINES}"
            )


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "hw"], ids=str)
def test_a_component_has_a_test_file(path):
    if any(is_component(node) for node in ast.walk(parse(path))):
        mirror = Path("tests") / path.with_name(f"test_{path.name}")
        assert (ROOT / mirror).exists(), f"{path} defines a component; write {mirror}"


def prose(text: str) -> list[str]:
    """The lines of a document that are neither code, nor a table or a picture."""
    parts = text.split("```")[::2]
    lines = [line for part in parts for line in part.splitlines()]
    return [line for line in lines if not line.lstrip().startswith(("|", "!["))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_lines_of_a_document_wrap(path):
    if path.name not in GENERATED:
        long = [line for line in prose(path.read_text()) if len(line) > PROSE_COLUMNS]
        assert not long, f"{path}: more than {PROSE_COLUMNS} columns: {long[0]}"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES
