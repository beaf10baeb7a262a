"""How long files and `elaborate` methods may be, and that every component has a test file."""

import ast
from collections.abc import Iterator
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
HARDWARE = [path for path in FILES if path.parts[0] == "hw"]


def parse(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(), filename=str(path))


def is_component(node: ast.AST) -> bool:
    """Whether `node` is a class with such a base, however that was imported."""
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(base).rpartition(".")[2] in {"Component", "Sleeping"} for base in node.bases
    )


# One test has all files: a test for each of a thousand takes longer than what it looks at.
def test_files_are_within_their_budget():
    assert len(FILES) > 500
    lines = {path: len((ROOT / path).read_text().splitlines()) for path in FILES}
    long = {path: count for path, count in lines.items() if count > FILE_LINES}
    assert not long, "\n".join(
        f"{path}: {count} lines, more than {FILE_LINES}; split it" for path, count in long.items()
    )


def elaborates(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in {"elaborate", "build"}:
            yield node


def test_each_elaborate_is_within_its_budget():
    found = [(path, node) for path in HARDWARE for node in elaborates(parse(path))]
    assert len(found) > 70
    long = []
    for path, node in found:
        assert node.end_lineno is not None
        lines = node.end_lineno - node.lineno + 1
        if lines > ELABORATE_LINES:
            place = f"{path}:{node.lineno}: {node.name}"
            long.append(f"{place} has {lines} lines, more than {ELABORATE_LINES}")
    assert not long, "\n".join(long)


def test_each_component_has_a_test_file():
    components = [path for path in HARDWARE if any(map(is_component, ast.walk(parse(path))))]
    assert len(components) > 70
    mirrors = {path: Path("tests") / path.with_name(f"test_{path.name}") for path in components}
    missing = {path: mirror for path, mirror in mirrors.items() if not (ROOT / mirror).exists()}
    assert not missing, "\n".join(
        f"{path} defines a component; write {mirror}" for path, mirror in missing.items()
    )


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
