"""Writes what Sphinx reads: the documents as they stand, pages of folders, and the API's pages."""

import ast
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

__all__ = [
    "API",
    "BUILT_PAGE",
    "ROOT",
    "TOPICS",
    "documents",
    "module_file",
    "passed_on",
    "public",
    "rooms",
    "sources",
    "stage",
    "unexplained",
]

ROOT: Final = Path(__file__).resolve().parents[2]
LAYERS: Final = ("isa", "hw", "sw", "sim")
"""What others may import: `lab` is no library, and some of it needs extras."""
BUILT_PAGE: Final = ROOT / "build/page/index.html"
"""The page that runs the RTL in a browser: the site has it if it was built before."""
API: Final = "reference"
"""The folder of the API's pages."""

TOPICS: Final[Mapping[str, tuple[str, ...]]] = {
    "Begin": ("tutorial", "onnx-tutorial", "cli", "page", "waveforms", "lessons/index", "glossary"),
    "Models": (
        "models",
        "operators",
        "onnx-node-tests",
        "numerics",
        "model-format",
        "language-model",
        "pruning",
        "nas",
    ),
    "Compiler": ("tensor-expressions", "schedules", "rewriting", "tuning", "compilers"),
    "Hardware": (
        "architecture",
        "isa",
        "registers",
        "counters",
        "lanes",
        "gemmini",
        "c-host",
        "verilog",
        "silicon",
        "fpga",
    ),
    "Measures": ("performance", "survey", "reports", "json", "cluster", "verification"),
    "Work on it": ("../CONTRIBUTING", "how-to-add", "pitfalls", "adr/index", "../CHANGELOG"),
}
"""The documents of the site below a heading each, as paths from docs/ without their suffix.

What of docs/ is not named stands below *More*.
"""

_VALUE_CHARACTERS: Final = 60
"""Characters of a value without a docstring that are shown."""
_LINK: Final = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_FOLDERS: Final = {
    "docs/adr": "Decisions",
    "docs/lessons": "Lessons",
    "examples": "Examples",
    "examples/c": "Examples in C",
}


def documents() -> list[Path]:
    """The documents of the site, as paths from the root of the repository."""
    tops = [Path(f"{name}.md") for name in ("README", "CONTRIBUTING", "CHANGELOG")]
    return [*tops, *sorted(each.relative_to(ROOT) for each in (ROOT / "docs").rglob("*.md"))]


def rooms() -> dict[str, list[str]]:
    """The modules with public names, in order, by the folder that they are in: its page."""
    found: dict[str, list[str]] = {"celosia": ["celosia"]}
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            parts = ["celosia", *path.relative_to(ROOT).with_suffix("").parts]
            package = parts[-1] == "__init__"
            module = ".".join(parts[:-1] if package else parts)
            if public(path):
                found.setdefault(".".join(parts[:-1]), []).append(module)
    return found


@dataclass(frozen=True)
class _Written:
    """What a module's text says of its names."""

    public: tuple[str, ...]
    imported: Mapping[str, frozenset[str]]
    """The names that it has from each module of the package."""
    unexplained: Mapping[str, str]


@cache
def _written(path: Path) -> _Written:
    """Read a module, once: most are asked for by each of the three functions below."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    public: list[str] = []
    imported: dict[str, frozenset[str]] = {}
    values: dict[str, str] = {}
    for node, following in pairwise([*body, ast.Pass()]):
        if isinstance(node, ast.ImportFrom) and (module := node.module or "").startswith("celosia"):
            names = frozenset(alias.name for alias in node.names)
            imported[module] = imported.get(module, frozenset()) | names
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = public or list(ast.literal_eval(node.value))
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and not _is_text(following):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = ast.unparse(node.value)
            shown = value if len(value) <= _VALUE_CHARACTERS else ""
            values |= {ast.unparse(each): shown for each in targets}
    return _Written(tuple(public), imported, {n: v for n, v in values.items() if n in public})


def public(path: Path) -> list[str]:
    """The names that a module's ``__all__`` lists."""
    return list(_written(path).public)


def passed_on(path: Path) -> set[str]:
    """The public names of a module that are public in another one, too, from which it has them."""
    names = set(public(path))
    found = set()
    for module, imported in _written(path).imported.items():
        here = names & imported
        found |= here & set(public(module_file(module))) if here else set()
    return found


def unexplained(path: Path) -> dict[str, str]:
    """The public values of a module without a docstring, as they are written there.

    Sphinx leaves these out.  What is long is empty.
    """
    return dict(_written(path).unexplained)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def module_file(module: str) -> Path:
    """The file of a module of the package."""
    place = ROOT.joinpath(*module.split(".")[1:]) if module != "celosia" else ROOT / "api"
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def stage(folder: Path) -> None:
    """Bring `folder` up to date: what has not changed stays, and Sphinx does not read it again."""
    files = sources()
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if old.relative_to(folder).as_posix() not in files:
            old.unlink()
    for name, content in files.items():
        place = folder / name
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def sources() -> dict[str, bytes]:
    """All sources of the site, by their paths in the folder that Sphinx reads."""
    files: dict[str, bytes] = {}
    for document in documents():
        text, linked = _with_links((ROOT / document).read_text(encoding="utf-8"), document)
        if document.name == "README.md":
            files["index.md"] = "".join((text, _built_page(), *_contents())).encode()
        else:
            files[document.as_posix()] = text.encode()
        files |= {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in linked}
    for name, title in _FOLDERS.items():
        page, inside = _folder_page(name, title)
        files[f"{name}/index.md"] = page.encode()
        files |= {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in inside}
    files |= {"page/index.html": BUILT_PAGE.read_bytes()} if BUILT_PAGE.is_file() else {}
    return files | {f"{API}/{name}.rst": text.encode() for name, text in _api_pages()}


def _built_page() -> str:
    """A line that leads to the page that runs the RTL, if it was built."""
    said = "\n{download}`The RTL in a web page <page/index.html>` runs in the browser, offline.\n"
    return said if BUILT_PAGE.is_file() else ""


def _with_links(text: str, document: Path) -> tuple[str, list[Path]]:
    """The text of a document with links to pages of the site, and the files that it links to."""
    files = []

    def led(link: re.Match[str]) -> str:
        target = (ROOT / document.parent / link[2]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        if target.is_dir():
            return f"{link[1]}{link[2].rstrip('/')}/index.md{link[3]}"
        if target == ROOT / "README.md":
            return f"{link[1]}{link[2].removesuffix('README.md')}index.md{link[3]}"
        if target.is_file() and target.suffix != ".md":
            files.append(target)
        return link[0]

    return _LINK.sub(led, text), files


def _contents() -> Iterator[str]:
    """The tables of contents: documents below their topics, others, then examples and the API."""
    named = {
        topic: [os.path.normpath(Path("docs", name)) for name in names]
        for topic, names in TOPICS.items()
    }
    for topic, pages in named.items():
        yield _toctree(topic, pages)
    top = {each.with_suffix("").as_posix() for each in documents() if each.parent == Path("docs")}
    if more := sorted(top.difference(*named.values())):
        yield _toctree("More", more)
    yield _toctree("Reference", [f"{folder}/index" for folder in ("examples", API)])


def _toctree(topic: str, pages: list[str]) -> str:
    lines = ("```{toctree}", ":hidden:", f":caption: {topic}", ":maxdepth: 1", "", *pages, "```")
    return "\n" + "\n".join(lines) + "\n"


def _folder_page(name: str, title: str) -> tuple[str, list[Path]]:
    """A page for what links lead to as a folder, of its documents or files; and these files."""
    folder = ROOT / name
    pages = [each.stem for each in sorted(folder.glob("*.md")) if each.name != "README.md"]
    if pages:
        return f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n", []
    found = (path for path in folder.rglob("*") if path.is_file())
    files = sorted(path for path in found if "__pycache__" not in path.parts)
    shorts = (each.relative_to(folder) for each in files)
    lines = "".join(f"- {{download}}`{short} <{short}>`\n" for short in shorts)
    return f"---\norphan: true\n---\n# {title}\n\n{lines}", files


def _api_pages() -> Iterator[tuple[str, str]]:
    """The pages of the API, reStructuredText as docstrings are: an index, and one for each room."""
    found = rooms()
    head = f"{_heading('API', '=')}\n.. toctree::\n   :maxdepth: 1\n\n"
    yield "index", head + "".join(f"   {room}\n" for room in found)
    for room, modules in found.items():
        parts = [_heading(room, "=")]
        for module in modules:
            parts += [_heading(module, "-"), f".. automodule:: {module}", _passed_on(module)]
            parts += _values(module)
        yield room, "\n".join(parts)


def _passed_on(module: str) -> str:
    """What leaves out the names that a module has from another one, whose page has them."""
    names = ", ".join(sorted(passed_on(module_file(module))))
    return f"   :exclude-members: {names}\n" if names else ""


def _values(module: str) -> Iterator[str]:
    """The entries of the values that have no docstring."""
    path = module_file(module)
    left_out = passed_on(path)
    for name, value in unexplained(path).items():
        if name not in left_out:
            yield f".. py:data:: {name}\n" + (f"   :value: {value}\n" if value else "")


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
