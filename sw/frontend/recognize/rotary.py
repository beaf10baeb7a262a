"""Recognizes rotary embeddings: the halves of rows turned by the angles of a table.

Where only some columns of a head rotate, all of them do, those that are left by no angle: they
stand in another order then, which `find_orders` gives to weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array, Reach, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.prove import ordinary_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_part_rotations", "find_rotary"]


@dataclass(frozen=True)
class _Rotary:
    """A rotation of the halves of each head."""

    x: str
    cosines: str
    """Both tables have the columns of `x`, alike in its halves, or those of one half."""
    sines: str


def _whole_form(reader: Reader, name: str) -> _Rotary | None:
    """The parts of a rotation that is written as ``x * cos + turned(x) * sin``, in any order."""
    total = reader.producer(name, "add")
    if total is None:
        return None
    for plain, turned in (total.inputs, total.inputs[::-1]):
        left, right = reader.producer(plain, "mul"), reader.producer(turned, "mul")
        if left is None or right is None:
            continue
        for half, sines in (right.inputs, right.inputs[::-1]):
            x = _turned(reader, half)
            if x is not None and x in left.inputs:
                (cosines,) = [each for each in left.inputs if each != x] or [x]
                return _Rotary(x, cosines, sines)
    return None


def _turned(reader: Reader, name: str) -> str | None:
    """What a tensor has the halves of, the second one, negated, first."""
    both = reader.producer(name, "concat")
    if both is None or len(both.inputs) != 2 or both.attributes["axis"] != both.type.rank - 1:
        return None
    negated = reader.producer(both.inputs[0], "neg")
    if negated is None:
        return None
    second = _half(reader, negated.inputs[0], both, 1)
    first = _half(reader, both.inputs[1], both, 0)
    return first if first == second else None


def _half(reader: Reader, name: str, whole: Node, index: int) -> str | None:
    """What a tensor is the first or the second half of the columns of."""
    part = reader.producer(name, "slice")
    if part is None or reader.type(part.inputs[0]) != whole.type:
        return None
    *before, width = whole.type.shape
    starts = (*(0 for _ in before), index * width // 2)
    if part.attributes["starts"] != starts or part.type.shape != (*before, width // 2):
        return None
    return part.inputs[0]


def find_rotary(reader: Reader) -> Iterator[Match]:
    """Rotations as ``x * cos + turned(x) * sin``, or both halves apart, as ONNX defines them."""
    for node in reader.nodes:
        if not node.type.is_float or not node.type.rank or node.type.shape[-1] % 2:
            continue
        found = _whole_form(reader, node.name) or _halves_form(reader, node)
        if found is not None:
            half = node.type.shape[-1] // 2
            tables = (found.cosines, found.sines)
            if all(_alike_halves(reader, each, half) for each in tables):
                yield _match(reader, node, found)


def _halves_form(reader: Reader, node: Node) -> _Rotary | None:
    """The parts of ``cos * first - sin * second`` and ``sin * first + cos * second`` together."""
    if node.op != "concat" or len(node.inputs) != 2:
        return None
    real = reader.producer(node.inputs[0], "sub")
    if real is None or reader.producer(node.inputs[1], "add") is None:
        return None
    left, right = (reader.producer(name, "mul") for name in real.inputs)
    if left is None or right is None:
        return None
    for first, cosines in (left.inputs, left.inputs[::-1]):
        for second, sines in (right.inputs, right.inputs[::-1]):
            x = _half(reader, first, node, 0)
            if x is not None and x == _half(reader, second, node, 1):
                return _Rotary(x, cosines, sines)
    return None


def _alike_halves(reader: Reader, name: str, half: int) -> bool:
    """Whether rows are `half` as long as the rotated ones, or the same number twice in a row."""
    if not reader.type(name).rank or reader.type(name).shape[-1] != 2 * half:
        return reader.type(name).shape[-1:] == (half,)
    value, node = reader.value(name), reader.producer(name)
    if value is not None:
        return np.array_equal(value[..., :half], value[..., half:])
    if node is None:
        return False
    if node.op == "concat" and node.attributes["axis"] == node.type.rank - 1:
        return len(node.inputs) == 2 and len(set(node.inputs)) == 1
    scaled = reader.scaled(name)
    if scaled is not None:
        return _alike_halves(reader, scaled[0], half)
    operator = OPERATORS[node.op]
    each = operator.reach is Reach.ELEMENT and operator.most == 1
    rows = node.op in {"reshape", "broadcast"} or (
        node.op == "gather" and node.attributes["axis"] == 0
    )
    return (each or rows) and _alike_halves(reader, node.inputs[0], half)


def _match(reader: Reader, node: Node, found: _Rotary) -> Match:
    half = node.type.shape[-1] // 2
    computed = [
        name for name in dict.fromkeys((found.cosines, found.sines)) if reader.value(name) is None
    ]

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, *rest = operands
        known = dict(zip(computed, rest, strict=True))
        halves = []
        for name in (found.cosines, found.sines):
            value = reader.value(name)
            if value is None:
                halves.append(_first_half(builder, known[name], half))
            else:
                part = value[..., :half].astype(builder.type(x).dtype)
                halves.append(builder.constant(part))
        axis = max(builder.type(each).rank for each in halves) - 1
        return builder.op("rotate", x, builder.op("concat", *halves, axis=axis))

    return Match(
        what="a rotation",
        root=node.name,
        operands=(found.x, *computed),
        build=build,
        probes=dict.fromkeys(range(1, 1 + len(computed)), _twice),
    )


def _first_half(builder: GraphBuilder, x: str, half: int) -> str:
    *before, _ = shape = builder.type(x).shape
    starts, steps = (0,) * len(shape), (1,) * len(shape)
    return builder.op("slice", x, starts=starts, sizes=(*before, half), steps=steps)


def _twice(random: np.random.Generator, kind: TensorType) -> Array:
    """Normal numbers; where there are halves, they are the same."""
    drawn = ordinary_rows(random, kind)
    half = kind.shape[-1] // 2
    if 2 * half == kind.shape[-1]:
        drawn[..., half:] = drawn[..., :half]
    return drawn


def find_part_rotations(reader: Reader) -> Iterator[Match]:
    """Rotations of columns beside each other, with the columns before or behind them."""
    for node in reader.nodes:
        if node.op != "concat" or node.attributes["axis"] != node.type.rank - 1:
            continue
        sources, rotations, at, first = list[str](), list[Node](), 0, 0
        for name in node.inputs:
            rotation = reader.producer(name, "rotate")
            sources.append(name if rotation is None else rotation.inputs[0])
            if rotation is not None:
                rotations.append(rotation)
                first = at
            at += reader.type(name).shape[-1]
        x = _joined(reader, sources, node)
        if x is not None and len(rotations) == 1 and at % 2 == 0:
            yield _whole_match(node, x, rotations[0], first)


def _joined(reader: Reader, parts: Sequence[str], whole: Node) -> str | None:
    """What all `parts` are the columns of, beside each other, and nothing is left."""
    found, first = set[str](), 0
    for name in parts:
        part = reader.producer(name, "slice")
        starts = (*(0 for _ in whole.type.shape[:-1]), first)
        if part is None or part.attributes["starts"] != starts:
            return None
        first += part.type.shape[-1]
        found.add(part.inputs[0])
    (x, *others) = found
    return None if others or reader.type(x) != whole.type else x


def _whole_match(node: Node, x: str, rotation: Node, first: int) -> Match:
    cols = node.type.shape[-1]
    turning = rotation.type.shape[-1]
    half, less = cols // 2, turning // 2
    left = [col for col in range(cols) if not first <= col < first + turning]
    pairs = [range(first + start, first + start + less) for start in (0, less)]
    more = half - less
    order = np.array([*pairs[0], *left[:more], *pairs[1], *left[more:]])

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        rows, angles = operands
        sizes, parts = (*builder.type(angles).shape[:-1], less), []
        for start, still in ((0, 1), (less, 0)):
            starts = (*(0 for _ in sizes[:-1]), start)
            kept = builder.op("slice", angles, starts=starts, sizes=sizes, steps=(1,) * len(sizes))
            rest = builder.constant(np.full((*sizes[:-1], more), still, builder.type(rows).dtype))
            parts += [kept, rest]
        table = builder.op("concat", *parts, axis=len(sizes) - 1)
        moved = builder.op("gather", rows, builder.constant(order), axis=-1)
        moved = builder.op("rotate", moved, table)
        return builder.op("gather", moved, builder.constant(np.argsort(order)), axis=-1)

    what = "a rotation of some columns"
    return Match(what=what, root=node.name, operands=(x, rotation.inputs[1]), build=build)
