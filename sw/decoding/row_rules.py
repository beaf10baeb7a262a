"""Which axis of a result has a row for each token, by the operator and the operands' axes."""

from collections.abc import Mapping
from math import prod
from typing import Any, Final

from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import (
    Reach,
    TensorType,
    normalized_axes,
    normalized_axis,
)
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["moved_axis", "resized"]

_Moved = tuple[int, bool]
"""The axis of tokens of a result, and whether its other operands have one, too."""


def moved_axis(reader: Reader, node: Node, axes: Mapping[str, int]) -> tuple[int, dict[int, int]]:
    """The axis of tokens of a result, and that of each other operand that has one, by its place.

    `axes` has the axis of each operand that depends on tokens.  Raises `DecoderProblem` for a node
    of which a row depends on other tokens.
    """
    found = _axis(reader, node, axes)
    if found is None:
        raise DecoderProblem(f"{node.origin or node.name}: its rows depend on other tokens")
    axis, aligned = found
    if not aligned:
        return axis, {}
    tokens = node.type.shape[axis]
    others = {}
    for place, name in enumerate(node.inputs):
        kind = reader.type(name)
        at = axis - (node.type.rank - kind.rank)
        if name not in axes and at >= 0 and kind.shape[at] == tokens > 1:
            others[place] = at
    return axis, others


def _aligned(reader: Reader, node: Node, axes: Mapping[str, int]) -> _Moved | None:
    """Operands broadcast, and all that depend on tokens have them at the same axis."""
    moved = {axis + node.type.rank - reader.type(name).rank for name, axis in axes.items()}
    return (moved.pop(), True) if len(moved) == 1 else None


def _rotated(reader: Reader, node: Node, axes: Mapping[str, int]) -> _Moved | None:
    found = _aligned(reader, node, axes)
    return None if found is None or found[0] == node.type.rank - 1 else found


def _concatenated(reader: Reader, node: Node, axes: Mapping[str, int]) -> _Moved | None:
    found = _aligned(reader, node, axes)
    return None if found is None or found[0] == node.attributes["axis"] else found


def _gathered(reader: Reader, node: Node, axes: Mapping[str, int]) -> _Moved | None:
    data, places = node.inputs
    along: Any = node.attributes["axis"]
    along = normalized_axis(along, reader.type(data).rank)
    if axes.keys() == {places}:
        return along + axes[places], False
    if axes.keys() == {data} and axes[data] != along:
        behind = axes[data] > along
        return axes[data] + (reader.type(places).rank - 1 if behind else 0), False
    return None


def _reshaped(kind: TensorType, node: Node, axis: int) -> int | None:
    """The axis that has the elements of `axis`, as many ones before each of them."""
    outer, after = prod(kind.shape[:axis]), node.type.shape
    for place, size in enumerate(after):
        if size == kind.shape[axis] and prod(after[:place]) == outer:
            return place
    return None


def _transposed(_: TensorType, node: Node, axis: int) -> int:
    order: Any = node.attributes["permutation"]
    return order.index(axis)


def _repeated(kind: TensorType, node: Node, axis: int) -> int:
    return axis + node.type.rank - kind.rank


def _multiplied(kind: TensorType, node: Node, axis: int) -> int | None:
    return _repeated(kind, node, axis) if axis < kind.rank - 1 else None


def _padded(_: TensorType, node: Node, axis: int) -> int | None:
    before, after = node.attributes["before"], node.attributes["after"]
    assert isinstance(before, tuple)
    assert isinstance(after, tuple)
    return None if before[axis] or after[axis] else axis


def _by_row(kind: TensorType, node: Node, axis: int) -> int | None:
    along: Any = node.attributes.get("axis", -1)
    return axis if normalized_axis(along, kind.rank) > axis else None


def _reduced(kind: TensorType, node: Node, axis: int) -> int | None:
    axes: Any = node.attributes["axes"]
    over = normalized_axes(axes, kind.rank)
    if axis in over:
        return None
    return axis - (0 if node.attributes["keepdims"] else sum(each < axis for each in over))


_OF_ALL: Final = {"rotate": _rotated, "gather": _gathered, "concat": _concatenated}
"""Rules of operators that may depend on tokens by any operand."""
_OF_FIRST: Final = {
    "reshape": _reshaped,
    "transpose": _transposed,
    "broadcast": _repeated,
    "slice": lambda _, node, axis: axis,
    "matmul": _multiplied,
    "pad": _padded,
}
"""Rules of operators that depend on tokens by their first operand alone."""


def _axis(reader: Reader, node: Node, axes: Mapping[str, int]) -> _Moved | None:
    """The axis of the result, and whether other operands broadcast; None: tokens are mixed."""
    operator, first = OPERATORS[node.op], node.inputs[0]
    if operator.reach is Reach.ELEMENT or node.op in _OF_ALL:
        return _OF_ALL.get(node.op, _aligned)(reader, node, axes)
    rule = _OF_FIRST.get(node.op)
    if rule is None and operator.reach is Reach.ROW:
        rule = _by_row
    elif rule is None and "axes" in operator.attributes:
        rule = _reduced
    if rule is None or axes.keys() != {first}:
        return None
    moved = rule(reader.type(first), node, axes[first])
    return None if moved is None else (moved, False)


def resized(node: Node, axis: int, size: int) -> dict[str, Any]:
    """The attributes of a node whose result has `size` elements along `axis`."""
    attributes: dict[str, Any] = dict(node.attributes)
    name = {"reshape": "shape", "broadcast": "shape", "slice": "sizes"}.get(node.op)
    if name is not None:
        sizes = list(attributes[name])
        sizes[axis] = size
        attributes[name] = tuple(sizes)
    return attributes
