"""One change of a source file, named by what it changes and in which function, not by lines."""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from celosia.lab.mutate.scopes import find_scope
from celosia.sim.support.problems import InputError

__all__ = ["Edit", "Place", "apply_edit", "edited_text", "places"]

_REMOVABLE: Final = {"elts", "args", "keywords", "decorator_list", "ifs", "body", "orelse"}
"""Lists of the syntax tree that may lose an element."""


@dataclass(frozen=True)
class Edit:
    """What is changed to what; spaces, comments and lines do not count in Python."""

    file: str
    """The path below the root, with slashes."""
    inside: str
    """The function or class, as `Repeat._pop`; empty: anywhere in the file."""
    change: str
    """An expression, a keyword argument or statements; in other languages than Python, text."""
    to: str
    """What takes its place; empty: nothing."""
    which: int = 0
    """The number of the occurrence, from 1; 0: there must be one only."""


@dataclass(frozen=True)
class Place:
    """Where something stands in a syntax tree: `count` elements of a list, or one child."""

    parent: ast.AST
    field: str
    index: int | None
    """The first element's number in the list; None: it is no list."""
    count: int = 1

    @property
    def node(self) -> ast.AST:
        """The first of the nodes."""
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]


def apply_edit(edit: Edit, root: Path) -> str:
    """The text of the file below `root` with `edit`.

    Raises `InputError` that names the place, if there is not exactly one.
    """
    path = root / edit.file
    if not path.is_file():
        raise InputError(f"does not apply: there is no file {edit.file}")
    return edited_text(edit, path.read_text())


def edited_text(edit: Edit, text: str) -> str:
    """`text`, the contents of the file, with `edit`.  Raises `InputError`."""
    if not edit.file.endswith(".py"):
        return _edited_words(edit, text)
    module = ast.parse(text)
    found = [*places(edit, module)]
    place = found[_chosen(edit, len(found))]
    before = _written(place)
    if _written(_replace(edit, place)) == before:
        raise InputError(f"{edit.file}: the change of `{edit.change}` changes nothing")
    changed = ast.unparse(module)
    ast.parse(changed)  # What is left out may leave a hole.
    return f"{changed}\n"


def _written(place: Place) -> list[str]:
    """What stands at `place`, as any layout of it is written."""
    value = getattr(place.parent, place.field)
    nodes = value[place.index :][: place.count] if place.index is not None else [value]
    return [ast.unparse(each) for each in nodes]


def _chosen(edit: Edit, count: int) -> int:
    """Which of `count` occurrences is meant, from 0."""
    where = f"{edit.file}: {edit.inside or 'the file'}"
    if not count:
        raise InputError(f"does not apply: {where} has no `{edit.change}`")
    if edit.which > count or (count > 1 and not edit.which):
        raise InputError(
            f"does not apply: {where} has `{edit.change}` {count} times, and `which` is "
            f"{edit.which}, not in 1..{count}"
        )
    return max(edit.which, 1) - 1


def places(edit: Edit, module: ast.Module) -> Iterator[Place]:
    """Where `module` has what `edit` changes, in the order of the file.  Raises `InputError`."""
    scope = find_scope(module, edit.inside)
    if scope is None:
        raise InputError(f"does not apply: {edit.file} has no function or class {edit.inside}")
    statements = _parsed(edit, edit.change)
    wanted = [ast.dump(each) for each in statements]
    found = [*_sequences(scope, wanted)]
    if len(statements) == 1:
        one = statements[0]
        inner = {ast.dump(one.value)} if isinstance(one, ast.Expr) else {*_keywords(edit.change)}
        found += _children(scope, inner)
    yield from sorted(found, key=lambda place: _position(place.node))


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _parsed(edit: Edit, text: str) -> list[ast.stmt]:
    try:
        return ast.parse(textwrap.dedent(text)).body
    except SyntaxError as error:
        raise InputError(f"{edit.file}: `{text}` is not Python: {error.msg}") from None


def _keywords(text: str) -> Iterator[str]:
    """`text` as a keyword argument, if it can be one."""
    try:
        call = ast.parse(f"_({text.strip()}\n)", mode="eval").body
    except SyntaxError:
        return
    if isinstance(call, ast.Call) and len(call.keywords) == 1 and not call.args:
        yield ast.dump(call.keywords[0])


def _sequences(scope: ast.AST, wanted: list[str]) -> Iterator[Place]:
    """Statements one after the other."""
    for parent in ast.walk(scope):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list):
                for index in range(len(block) - len(wanted) + 1):
                    some = block[index : index + len(wanted)]
                    if all(map(_is, some, wanted)):
                        yield Place(parent, field, index, len(wanted))


def _children(scope: ast.AST, wanted: set[str]) -> Iterator[Place]:
    """Expressions that are not statements of their own, and keyword arguments."""
    for parent in ast.walk(scope):
        if isinstance(parent, ast.Expr):
            continue
        for field, value in ast.iter_fields(parent):
            several = isinstance(value, list)
            for index, child in enumerate(value if several else [value]):
                if isinstance(child, ast.expr | ast.keyword) and any(
                    _is(child, each) for each in wanted
                ):
                    yield Place(parent, field, index if several else None)


def _is(node: ast.AST, dump: str) -> bool:
    """Whether `dump` is of such a node; of another kind, none is made to compare."""
    return dump.startswith(f"{type(node).__name__}(") and ast.dump(node) == dump


def _replace(edit: Edit, place: Place) -> Place:
    """Put what `edit` says at `place`; where it is then.

    Raises `InputError` if it does not fit there.
    """
    new = _replacement(edit, place.node)
    if place.index is None:
        if len(new) != 1:
            raise InputError(f"{edit.file}: `{edit.change}` cannot be left out, only changed")
        setattr(place.parent, place.field, new[0])
        return place
    if not new and place.field not in _REMOVABLE:
        raise InputError(f"{edit.file}: `{edit.change}` cannot be left out, only changed")
    block = getattr(place.parent, place.field)
    block[place.index : place.index + place.count] = new
    if not block and place.field == "body":
        new = [ast.Pass()]
        block += new
    return replace(place, count=len(new))


def _replacement(edit: Edit, old: ast.AST) -> list[ast.AST]:
    """What takes the place of `old`: of its kind."""
    if not edit.to.strip():
        return []
    if isinstance(old, ast.stmt):
        return [*_parsed(edit, edit.to)]
    text = f"_({edit.to.strip()}\n)"
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise InputError(f"{edit.file}: `{edit.to}` is not Python: {error.msg}") from None
    assert isinstance(call, ast.Call)
    return [*call.keywords] if isinstance(old, ast.keyword) else [*call.args]


def _edited_words(edit: Edit, text: str) -> str:
    """`text` in another language: within the function's braces, found by its indentation."""
    first, last = 0, len(text)
    if edit.inside:
        heading = re.search(rf"^([ \t]*)\S.*\b{re.escape(edit.inside)}\(.*$", text, re.MULTILINE)
        if heading is None:
            raise InputError(f"does not apply: {edit.file} has no function {edit.inside}")
        first = heading.start()
        end = re.compile(rf"^{heading[1]}\}}", re.MULTILINE).search(text, heading.end())
        last = end.end() if end else last
    starts = [
        first + found.start() for found in re.finditer(re.escape(edit.change), text[first:last])
    ]
    start = starts[_chosen(edit, len(starts))]
    return text[:start] + edit.to + text[start + len(edit.change) :]
