"""The table of single changes that a campaign draws from: what each does, and how often."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = ["OPERATORS", "VALUES", "Operator"]

Replacement: TypeAlias = ast.AST | None
"""What takes a node's place; None: nothing does."""
_Changes: TypeAlias = Callable[[ast.AST], Iterator[Replacement]]

_BOUNDARIES: Final = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITES: Final = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: Final = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_TWINS: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
}


@dataclass(frozen=True)
class Operator:
    """One kind of change."""

    name: str
    weight: int
    """How often it is drawn, against the others' weights."""
    meaning: str
    changes: _Changes
    """What may take the place of a node; nothing for most nodes."""


def _comparison(table: dict[type, type]) -> _Changes:
    def changes(node: ast.AST) -> Iterator[Replacement]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in table:
            new = deepcopy(node)
            new.ops = [table[type(node.ops[0])]()]
            yield new

    return changes


def _arithmetic(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.BinOp | ast.AugAssign) or type(node.op) not in _ARITHMETIC:
        return
    if _is_number(node):
        new = deepcopy(node)
        new.op = _ARITHMETIC[type(node.op)]()
        yield new


def _is_number(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether `node` is not, by its looks, about text."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return not any(isinstance(each, ast.JoinedStr) or _is_text(each) for each in sides)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _side(node: ast.AST) -> Iterator[Replacement]:
    operations = ast.Add | ast.Sub | ast.Mult
    if isinstance(node, ast.BinOp) and isinstance(node.op, operations) and _is_number(node):
        yield deepcopy(node.left)


def _constant(node: ast.AST) -> Iterator[Replacement]:
    number = node.value if isinstance(node, ast.Constant) else None
    if isinstance(number, int | float) and not isinstance(number, bool):
        for step in (1, -1):
            yield ast.parse(repr(number + step), mode="eval").body


def _setting(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        for factor in (1.25, 0.75) if node.value else ():
            yield ast.Constant(node.value * factor)
    else:
        yield from _constant(node)
        yield from _truth(node)


def _entry(node: ast.AST) -> Iterator[Replacement]:
    fields = ("keys", "values") if isinstance(node, ast.Dict) else ("elts",)
    table = isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple)
    for left_out in range(count) if table and (count := len(getattr(node, fields[0]))) > 1 else ():
        new = deepcopy(node)
        for field in fields:
            del getattr(new, field)[left_out]
        yield new


def _truth(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


def _junction(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BoolOp):
        new = deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield new


def _condition(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BoolOp):
        for left_out in range(len(node.values)):
            rest = [deepcopy(each) for n, each in enumerate(node.values) if n != left_out]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _negation(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield deepcopy(node.operand)


def _branch(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.IfExp):
        new = deepcopy(node)
        new.body, new.orelse = new.orelse, new.body
        yield new


def _keyword(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.keyword) and node.arg:
        yield None


def _arguments(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
        for first in range(len(node.args) - 1):
            new = deepcopy(node)
            new.args[first : first + 2] = reversed(new.args[first : first + 2])
            yield new


def _twin(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Call):
        new = deepcopy(node)
        name = new.func
        if isinstance(name, ast.Name) and name.id in _TWINS:
            name.id = _TWINS[name.id]
            yield new
        elif isinstance(name, ast.Attribute) and name.attr in _TWINS:
            name.attr = _TWINS[name.attr]
            yield new


def _slice(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        for end in ("lower", "upper"):
            old = getattr(node.slice, end)
            if old is not None:
                for changed in (None, ast.BinOp(deepcopy(old), ast.Add(), ast.Constant(1))):
                    new = deepcopy(node)
                    setattr(new.slice, end, changed)
                    yield new


def _statement(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            yield None
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield None
        case ast.Expr(value=ast.Call()) | ast.If(orelse=[]):
            yield None


def _early_return(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.Return(value=None | ast.Constant(value=None)):
            return
        case ast.Return():
            yield ast.Return(ast.Constant(None))


def _loop(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.For) and not isinstance(node.body[-1], ast.Break):
        new = deepcopy(node)
        new.body = [*new.body, ast.Break()]
        yield new


OPERATORS: Final = (
    Operator("boundary", 10, "< becomes <=, and so on", _comparison(_BOUNDARIES)),
    Operator("comparison", 6, "== becomes !=, < becomes >=, and so on", _comparison(_OPPOSITES)),
    Operator(
        "arithmetic", 12, "+ becomes -, // becomes *, << becomes >>, & becomes |", _arithmetic
    ),
    Operator("side", 6, "of a sum, a difference or a product only the left side", _side),
    Operator("constant", 12, "a number one larger or smaller", _constant),
    Operator("truth", 4, "True becomes False", _truth),
    Operator("junction", 5, "`and` becomes `or`", _junction),
    Operator("condition", 7, "one part of an `and` or `or` is left out", _condition),
    Operator("negation", 4, "`not`, - or ~ is left out", _negation),
    Operator("branch", 4, "the two values of a conditional expression change places", _branch),
    Operator("keyword", 6, "a keyword argument is left out", _keyword),
    Operator("arguments", 6, "two neighboring arguments change places", _arguments),
    Operator("twin", 4, "min becomes max, any becomes all", _twin),
    Operator("slice", 6, "an end of a slice is left out or one later", _slice),
    Operator("statement", 12, "a statement is left out", _statement),
    Operator("return", 3, "None is returned in place of a result", _early_return),
    Operator("loop", 3, "a loop ends after its first turn", _loop),
)
"""What becomes of the statements of functions."""

VALUES: Final = (
    Operator("setting", 14, "a number one larger or smaller, by a quarter if no integer", _setting),
    Operator("entry", 6, "an entry of a table is left out", _entry),
)
"""What becomes of constants of modules and classes, of tables, and of default values."""
