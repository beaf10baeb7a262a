"""Every path and module that a document, a comment or a docstring names stands in the tree."""

import ast
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

PATH = re.compile(
    r"(?<![\w./*<-])((?:isa|hw|sw|sim|lab|api|tests|docs|examples|benchmarks|requirements)"
    r"/[\w./*{},-]*[\w*}])(?![\w*{<])"
)
"""What looks like a path below one of the folders on top."""

MODULE = re.compile(r"`(celosia\.(?:isa|hw|sw|sim|lab)(?:\.\w+)+)`")
"""What looks like a module, or a name in one."""

FIGURE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block of a document that is in no language."""

BOX = re.compile(r"\b[a-z_]+(?:/[a-z_]+)+")
"""A box of a figure: a path, below `hw` where nothing else is said."""

EXAMPLE = re.compile(r"(^|[/_])[abx](\.py|/|$)")
"""A path that stands for any."""

MADE = ("docs/images/", "examples/c/driver/celosia_registers.h")
"""Places of files that a command makes, or that only some machines have."""


@cache
def tracked() -> tuple[str, ...]:
    """The files of the repository, or of the folder where git is not at hand."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False
    )
    return tuple(listed.stdout.splitlines())


def texts(suffixes: tuple[str, ...]) -> list[str]:
    return [
        name
        for name in tracked()
        if name.endswith(suffixes)
        and name != "CHANGELOG.md"
        and not name.startswith("tests/")
        and (ROOT / name).exists()
    ]


def exists(path: str) -> bool:
    """Whether `path`, which may hold `*`, names something."""
    if "{" in path and "}" not in path:  # Part of an f-string.
        return True
    if "{" in path:
        before, _, rest = path.partition("{")
        inside, _, after = rest.partition("}")
        return all(exists(before + part + after) for part in inside.split(","))
    path = path.rstrip(".,-")
    named = any(ROOT.glob(path)) or any(ROOT.glob(f"{path}.py"))
    return named or path.startswith(MADE) or bool(EXAMPLE.search(path))


def wrong(pattern: re.Pattern[str], right: Callable[[str], bool], names: list[str]) -> list[str]:
    """Where `pattern` finds what is not `right`: file, line and what stands there."""
    found = []
    for name in names:
        text = (ROOT / name).read_text()
        found += [
            f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]}"
            for match in pattern.finditer(text)
            if not right(match[1])
        ]
    return found


def test_a_path_that_is_named_exists():
    missing = wrong(PATH, exists, texts((".md", ".py", ".toml", "Makefile", ".ci/run")))
    assert not missing, "\n".join(missing)


def test_a_box_of_a_figure_is_a_file():
    text = (ROOT / "docs/architecture.md").read_text()
    boxes = {box for figure in FIGURE.findall(text) for box in BOX.findall(figure)}
    assert {"decode/decoder", "execute/skew", "vector/lanes", "sw/planning"} <= boxes
    assert not {box for box in boxes if not exists(box) and not exists(f"hw/{box}")}


def test_a_module_that_is_named_exists():
    missing = wrong(MODULE, is_known, texts((".md", ".py")))
    assert not missing, "\n".join(missing)


@cache
def is_known(name: str) -> bool:
    """Whether `name` is a module, or is defined by one."""
    place = ROOT.joinpath(*name.split(".")[1:])
    if place.is_dir() or place.with_suffix(".py").exists():
        return True
    module, _, rest = name.rpartition(".")
    source = ROOT.joinpath(*module.split(".")[1:])
    if source.with_suffix(".py").exists():
        return rest in defined(source.with_suffix(".py"))
    if (source / "__init__.py").exists():
        return rest in defined(source / "__init__.py")
    return "." in module and is_known(module)


@cache
def defined(path: Path) -> frozenset[str]:
    """Every name that stands in the source of a module."""
    tree = ast.parse(path.read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    names |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return frozenset(names)
