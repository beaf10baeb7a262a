"""Code lines of the compiler between graph and commands, at a revision and in the working tree.

A line counts if it has a token that is no comment and belongs to no docstring.  ``python
benchmarks/compiler_lines.py [REVISION]`` prints the lines by folder and their sum; the default is
the last revision with two compilers.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

__all__ = ["PARTS", "code_lines", "count_parts"]

REFERENCE: Final = "a61ea25"
"""The last revision with a compiler of products beside one of graphs."""
BOUND: Final = 0.75
ROOT: Final = Path(__file__).parents[1]

PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "decide": ("plan.py", "refine.py", "c*.py", "traffic.py", "planning/*"),
    "forms": ("ir/[mprst]*.py",),
    "lowering": ("lowering/*",),
    "scheduling": ("scheduling/*", "pipeline.py"),
    "encode": ("passes/*", "loops/*"),
}
"""The parts between graph and commands, by patterns of files below sw: forms but for graphs."""
ASIDE: Final = ("*cost.py", "timeline/*")
"""What predicts cycles, and does not compile."""
TEXTS: Final = ("planning/forms/text.py", "ir/print_*.py", "ir/read_*.py")
"""Texts of forms, which the reference has none of: told apart."""

_EMPTY: Final = frozenset({
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
})


def code_lines(source: str) -> int:
    """The lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _EMPTY:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def count_parts(sources: Iterable[tuple[str, str]]) -> Counter[str]:
    """The code lines of each part, of files given by path below sw and text."""
    counted: Counter[str] = Counter()
    for path, text in sources:
        if _matches(path, ASIDE):
            continue
        for part, patterns in PARTS.items():
            if _matches(path, patterns):
                counted["texts" if _matches(path, TEXTS) else part] += code_lines(text)
    return counted


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def _at(revision: str) -> Iterable[tuple[str, str]]:
    for path in _git("ls-tree", "-r", "--name-only", revision, "sw").splitlines():
        if path.endswith(".py"):
            yield path.removeprefix("sw/"), _git("show", f"{revision}:{path}")


def _here() -> Iterable[tuple[str, str]]:
    for path in sorted((ROOT / "sw").rglob("*.py")):
        yield path.relative_to(ROOT / "sw").as_posix(), path.read_text()


def _main(revision: str) -> None:
    before, now = count_parts(_at(revision)), count_parts(_here())
    print(f"{'':10}{revision:>10}{'now':>8}")
    for part in (*PARTS, "texts"):
        print(f"{part:10}{before[part]:10,}{now[part]:8,}")
    print(f"{'sum':10}{before.total():10,}{now.total():8,}")
    left = now.total() - now["texts"]
    print(f"{left / before.total():.1%} without texts; the bound is {BOUND:.0%}")


if __name__ == "__main__":
    _main(*(sys.argv[1:] or [REFERENCE]))
