"""A sample of single changes, drawn with a seed from all that the table of operators can make."""

import ast
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia.isa.documents.record import Hidden
from celosia.lab.mutate.edit import Edit, Place, edited_text, places
from celosia.lab.mutate.mirrors import LAYERS, nearest_tests, own_tests, whole_tests
from celosia.lab.mutate.operators import OPERATORS, VALUES, Operator, Replacement
from celosia.lab.mutate.planted import Planted
from celosia.lab.mutate.scopes import functions, values
from celosia.sim.support.problems import InputError

__all__ = ["Change", "candidates", "draw", "sources_of"]


@dataclass(frozen=True)
class Change:
    """A change that nobody planned."""

    operator: str
    """The kind of the change."""
    line: int
    """The number of the changed line in today's file, from 1."""
    fault: Hidden[Planted]


@dataclass(frozen=True)
class _Candidate:
    file: str
    inside: str
    operator: Operator
    node: ast.AST
    new: Replacement


def sources_of(package: str, root: Path) -> list[str]:
    """The Python files of `package`: a layer, a folder or a file in it.  Raises `InputError`."""
    place, parts = root / package, Path(package).parts
    names = []
    if ".." not in parts and parts and parts[0] in LAYERS:
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        names = [path.relative_to(root).as_posix() for path in files if path.is_file()]
    if not names:
        raise InputError(
            f"--package {package}: write one of {', '.join(LAYERS)}, or a folder or a Python file "
            "in one of them, as sw/passes"
        )
    return names


def draw(package: str, count: int, seed: int, root: Path) -> list[Change]:
    """`count` different changes of `package`, the same for the same sources and seed.

    An operator is drawn by its weight, then one of the places where it can be applied.  Raises
    `InputError` if there are not so many.
    """
    rng = random.Random(f"{package} {seed}")
    left: dict[str, list[_Candidate]] = {}
    for name in sources_of(package, root):
        for each in candidates(name, (root / name).read_text()):
            left.setdefault(each.operator.name, []).append(each)
    drawn: dict[Edit, Change] = {}
    while len(drawn) < count:
        open_ones = [each for each in (*OPERATORS, *VALUES) if left.get(each.name)]
        if not open_ones:
            raise InputError(f"--generate {count}: {package} has only {len(drawn)} single changes")
        (operator,) = rng.choices(open_ones, [each.weight for each in open_ones])
        pool = left[operator.name]
        change = _change(pool.pop(rng.randrange(len(pool))), root)
        if change is not None:
            drawn.setdefault(change.fault.edit, change)
    return [*drawn.values()]


def candidates(file: str, text: str) -> Iterator[_Candidate]:
    """All single changes of the functions and values of `file`, whose contents are `text`.

    What a message says, what types are named and what is asserted is left alone: none of it has a
    part in a result.
    """
    module = ast.parse(text)
    parts = [(inside, scope.body, OPERATORS) for inside, scope in functions(module)]
    parts += [(inside, [value], VALUES) for inside, value in values(module)]
    for inside, nodes, operators in parts:
        for node in _working(nodes):
            for operator in operators:
                for new in operator.changes(node):
                    yield _Candidate(file, inside, operator, node, new)


def _working(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """`nodes` and what is in them, without messages, annotations and assertions."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr | ast.Assert) or _is_strict(node) or _asserts(node):
            continue
        yield node
        if isinstance(node, ast.Raise):
            continue
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns"}:
                continue
            children = value if isinstance(value, list) else [value]
            yield from _working([child for child in children if isinstance(child, ast.AST)])


def _is_strict(node: ast.AST) -> bool:
    """Whether `node` is how `zip` asserts that what it joins is as long as the other."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _asserts(node: ast.AST) -> bool:
    """Whether `node` is an assertion of a design, or adds one to it."""
    node = node.value if isinstance(node, ast.AugAssign) else node
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Assert"


def _change(candidate: _Candidate, root: Path) -> Change | None:
    """`candidate` as an edit, or None if it makes nothing that can be compiled, or no change."""
    node, new = candidate.node, candidate.new
    text = (root / candidate.file).read_text()
    old, to = _unparse(node), "" if new is None else _unparse(new)
    edit = Edit(candidate.file, candidate.inside, old, to)
    line, column = _position(node)
    try:
        found = [*places(edit, ast.parse(text))]
        number = next(n for n, place in enumerate(found) if _is_at(place, line, column))
        if len(found) > 1:
            edit = Edit(candidate.file, candidate.inside, old, to, number + 1)
        compile(edited_text(edit, text), candidate.file, "exec")
    except (InputError, StopIteration, SyntaxError):
        return None
    stem = candidate.file.removesuffix(".py").replace("/", "_")
    # An operator may have several changes of one place.
    variant = zlib.crc32(to.encode()) & 0xFFFF
    name = f"{stem}:{line}:{column}:{candidate.operator.name}:{variant:04x}"
    title = f"`{old}` becomes `{to}`" if to else f"`{old}` is left out"
    rules = (own_tests, whole_tests, nearest_tests)
    runs = (tests_of(candidate.file, root) for tests_of in rules)
    fault = Planted(name, title, tuple(" ".join(tests) for tests in runs if tests), edit)
    return Change(candidate.operator.name, line, fault)


def _unparse(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_at(place: Place, line: int, column: int) -> bool:
    return _position(place.node) == (line, column)
