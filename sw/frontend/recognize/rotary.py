"""Recognizes rotary embeddings: the columns of heads turned by the angles of a table.

The columns of a pair are half a head apart, or beside each other.  These are halves in another
order, which `find_orders` gives to weights.  Where only some columns of a head rotate, all of them
do, those that are left by no angle: they stand in another order, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array, Reach, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.prove import ordinary_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match
from celosia.sw.frontend.recognize.views import element_numbers

__all__ = ["find_part_rotations", "find_rotary"]

_HEADS_FIRST: Final = (0, 2, 1, 3)
"""The axes of (texts, tokens, heads, columns) as (texts, heads, tokens, columns), and back."""


@dataclass(frozen=True)
class _Pairs:
    """Which columns of a row of so many are turned together."""

    columns: int
    beside: bool
    """Whether they are neighbours; else they are half a row apart."""

    @property
    def half(self) -> int:
        """The number of pairs."""
        return self.columns // 2

    def split(self, rows: Array) -> tuple[Array, Array]:
        """The first columns of all pairs, and the second ones."""
        if self.beside:
            return rows[..., ::2], rows[..., 1::2]
        return rows[..., : self.half], rows[..., self.half :]

    @property
    def order(self) -> NDArray[np.int64]:
        """The columns in the order in which the first ones of all pairs are the first half."""
        return np.concatenate(self.split(np.arange(self.columns)))

    def parts(self, reader: Reader, name: str) -> tuple[str, str] | None:
        """The tensors whose elements are the first, and the second, of a tensor's pairs."""
        whole, both = reader.type(name), reader.producer(name, "concat")
        if self.beside:
            flat = reader.producer(name, "reshape")
            both = reader.producer(flat.inputs[0], "concat") if flat else None
            if both is None or both.type.shape != (*whole.shape[:-1], self.half, 2):
                return None
        if both is None or len(both.inputs) != 2 or both.attributes["axis"] != both.type.rank - 1:
            return None
        first, second = both.inputs
        return (first, second) if reader.type(first) == reader.type(second) else None


@dataclass(frozen=True)
class _Rotary:
    """A rotation of the pairs of columns of each head."""

    x: str
    cosines: str
    """Both tables have the columns of `x`, alike in its pairs, or one column for each pair."""
    sines: str
    pairs: _Pairs


def find_rotary(reader: Reader) -> Iterator[Match]:
    """Rotations as ``x * cos + turned(x) * sin``, or both halves apart, as ONNX defines them."""
    for node in reader.nodes:
        if not node.type.is_float or not node.type.rank or node.type.shape[-1] % 2:
            continue
        for beside in (False, True):
            pairs = _Pairs(node.type.shape[-1], beside)
            found = _whole_form(reader, node, pairs) or _halves_form(reader, node, pairs)
            if found is not None:
                tables = (found.cosines, found.sines)
                if all(_is_table(reader, each, pairs) for each in tables):
                    yield _match(reader, node, found)
                break


def _whole_form(reader: Reader, total: Node, pairs: _Pairs) -> _Rotary | None:
    """The parts of a rotation that is written as ``x * cos + turned(x) * sin``, in any order."""
    if total.op != "add":
        return None
    for plain, turned in (total.inputs, total.inputs[::-1]):
        left, right = reader.producer(plain, "mul"), reader.producer(turned, "mul")
        if left is None or right is None:
            continue
        for other, sines in (right.inputs, right.inputs[::-1]):
            for x, cosines in (left.inputs, left.inputs[::-1]):
                if _is_turned(reader, other, x, pairs):
                    return _Rotary(x, cosines, sines, pairs)
    return None


def _is_turned(reader: Reader, name: str, x: str, pairs: _Pairs) -> bool:
    """Whether a tensor is `x` with the second column of each pair, negated, before the first."""
    if reader.type(name) != reader.type(x):
        return False
    parts = pairs.parts(reader, name)
    negated = None if parts is None else _computed(reader, parts[0], "neg")
    if parts is None or negated is None:
        return False
    return _is_half(reader, negated.inputs[0], x, pairs, 1) and _is_half(
        reader, parts[1], x, pairs, 0
    )


def _computed(reader: Reader, name: str, op: str) -> Node | None:
    """The node of this operator whose elements a tensor has in the same order."""
    source, views = reader.chain(name)
    return reader.producer(source, op) if all(view.op == "reshape" for view in views) else None


def _is_half(reader: Reader, name: str, x: str, pairs: _Pairs, index: int) -> bool:
    """Whether a tensor has the elements that are the first, or the second, of the pairs of `x`."""
    *before, cols = reader.type(x).shape
    part = reader.producer(name, "slice")
    if part is not None and part.inputs[0] == x:
        start, step = (index, 2) if pairs.beside else (index * pairs.half, 1)
        return part.type.shape == (*before, cols // 2) and (
            part.attributes["starts"] == (*(0 for _ in before), start)
            and part.attributes["steps"] == (*(1 for _ in before), step)
        )
    found, whole = element_numbers(reader, name), element_numbers(reader, x)
    if found is None or whole is None or found[0] != whole[0]:
        return False
    return np.array_equal(found[1].reshape(-1), pairs.split(whole[1])[index].reshape(-1))


def _halves_form(reader: Reader, node: Node, pairs: _Pairs) -> _Rotary | None:
    """The parts of ``cos * first - sin * second`` and ``sin * first + cos * second`` together."""
    parts = pairs.parts(reader, node.name)
    if parts is None:
        return None
    real = _computed(reader, parts[0], "sub")
    if real is None or _computed(reader, parts[1], "add") is None:
        return None
    left, right = (reader.producer(name, "mul") for name in real.inputs)
    if left is None or right is None:
        return None
    for first, cosines in (left.inputs, left.inputs[::-1]):
        for second, sines in (right.inputs, right.inputs[::-1]):
            for view in reader.chain(first)[1]:
                x = view.inputs[0]
                halves = (first, second) if reader.type(x) == node.type else ()
                if halves and all(
                    _is_half(reader, each, x, pairs, index) for index, each in enumerate(halves)
                ):
                    return _Rotary(x, cosines, sines, pairs)
    return None


def _is_table(reader: Reader, name: str, pairs: _Pairs) -> bool:
    """Whether rows have a column for each pair, or the same number for both of its columns."""
    last = reader.type(name).shape[-1:]
    return last == (pairs.half,) or (last == (pairs.columns,) and _is_alike(reader, name, pairs))


def _is_alike(reader: Reader, name: str, pairs: _Pairs) -> bool:
    """Whether rows have the same number in both columns of each pair."""
    if reader.type(name).shape[-1:] != (pairs.columns,):
        return False
    value, node = reader.value(name), reader.producer(name)
    if value is not None or node is None:
        return value is not None and np.array_equal(*pairs.split(value))
    parts, numbers = pairs.parts(reader, name), element_numbers(reader, name)
    if parts is not None:
        return _is_same(reader, *parts)
    if numbers is not None and np.array_equal(*pairs.split(numbers[1])):
        return True
    scaled, operator = reader.scaled(name), OPERATORS[node.op]
    each = operator.reach is Reach.ELEMENT and operator.most == 1
    rows = node.op in {"reshape", "broadcast"} or (
        node.op == "gather" and node.attributes["axis"] == 0
    )
    if scaled is None and not each and not rows:
        return False
    return _is_alike(reader, node.inputs[0] if scaled is None else scaled[0], pairs)


def _is_same(reader: Reader, first: str, second: str) -> bool:
    """Whether two tensors have the same elements in the same order."""
    if first == second:
        return True
    found = [element_numbers(reader, name) for name in (first, second)]
    if found[0] is None or found[1] is None or found[0][0] != found[1][0]:
        return False
    return np.array_equal(found[0][1].reshape(-1), found[1][1].reshape(-1))


def _match(reader: Reader, node: Node, found: _Rotary) -> Match:
    pairs = found.pairs
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
                halves.append(_column_a_pair(builder, known[name], pairs))
            else:
                part = value if value.shape[-1] == pairs.half else pairs.split(value)[0]
                halves.append(builder.constant(part.astype(builder.type(x).dtype)))
        table = builder.op("concat", *halves, axis=max(builder.type(h).rank for h in halves) - 1)
        kind, last = builder.type(table).shape, builder.type(x).rank == 4
        tokens_first = last and len(kind) == 4 and kind[2] == 1 < kind[1]
        if tokens_first:
            table = builder.op("transpose", table, permutation=_HEADS_FIRST)
        order = pairs.order if pairs.beside else np.arange(pairs.columns)
        return _rotated(builder, x, table, order, tokens_first=tokens_first)

    def alike(random: np.random.Generator, kind: TensorType) -> Array:
        drawn = ordinary_rows(random, kind)
        if kind.shape[-1] == pairs.columns:
            first, second = pairs.split(drawn)
            second[...] = first
        return drawn

    return Match(
        what="a rotation",
        root=node.name,
        operands=(found.x, *computed),
        build=build,
        probes=dict.fromkeys(range(1, 1 + len(computed)), alike),
    )


def _rotated(
    builder: GraphBuilder, x: str, table: str, order: NDArray[np.int64], *, tokens_first: bool
) -> str:
    """Rows whose columns in an `order` are turned by a table, and put back.

    Where tokens come before heads, they come behind them for that: the table is of tokens.
    """
    moved = (np.diff(order) != 1).any()
    if tokens_first:
        x = builder.op("transpose", x, permutation=_HEADS_FIRST)
    if moved:
        x = builder.op("gather", x, builder.constant(order), axis=-1)
    x = builder.op("rotate", x, table)
    if moved:
        x = builder.op("gather", x, builder.constant(np.argsort(order)), axis=-1)
    return builder.op("transpose", x, permutation=_HEADS_FIRST) if tokens_first else x


def _column_a_pair(builder: GraphBuilder, x: str, pairs: _Pairs) -> str:
    """The table with a column for each pair."""
    *before, cols = shape = builder.type(x).shape
    if cols == pairs.half:
        return x
    starts, steps = (0,) * len(shape), (*(1 for _ in before), 1 + pairs.beside)
    return builder.op("slice", x, starts=starts, sizes=(*before, pairs.half), steps=steps)


@dataclass(frozen=True, eq=False)
class _Rotation:
    """A rotation, as `_rotated` writes it."""

    x: str
    table: str
    order: NDArray[np.int64]
    tokens_first: bool


def _rotation(reader: Reader, name: str) -> _Rotation | None:
    """The parts of a rotation that a tensor is."""
    back = reader.producer(name, "transpose")
    turned, put = _gathered(reader, name if back is None else back.inputs[0])
    node = reader.producer(turned, "rotate")
    if node is None:
        return None
    x, order = _gathered(reader, node.inputs[0])
    if not np.array_equal(order[put], np.arange(order.size)):
        return None
    if back is not None:
        forth = reader.producer(x, "transpose")
        both = [each and each.attributes["permutation"] for each in (forth, back)]
        if forth is None or both != [_HEADS_FIRST] * 2:
            return None
        x = forth.inputs[0]
    return _Rotation(x, node.inputs[1], order, tokens_first=back is not None)


def _gathered(reader: Reader, name: str) -> tuple[str, NDArray[np.int64]]:
    """What a tensor has the columns of, and in which order."""
    order, node = reader.order(name), reader.producer(name)
    if order is None or node is None:
        return name, np.arange(reader.type(name).shape[-1])
    return node.inputs[0], order


def find_part_rotations(reader: Reader) -> Iterator[Match]:
    """Rotations of columns beside each other, with the columns before or behind them."""
    for node in reader.nodes:
        if node.op != "concat" or node.attributes["axis"] != node.type.rank - 1:
            continue
        sources, rotations, at, first = list[str](), list[_Rotation](), 0, 0
        for name in node.inputs:
            rotation = _rotation(reader, name)
            sources.append(name if rotation is None else rotation.x)
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


def _whole_match(node: Node, x: str, rotation: _Rotation, first: int) -> Match:
    cols, turning = node.type.shape[-1], rotation.order.size
    half, less = cols // 2, turning // 2
    left = [col for col in range(cols) if not first <= col < first + turning]
    pairs, more = first + rotation.order.reshape(2, less), half - less
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
        return _rotated(builder, rows, table, order, tokens_first=rotation.tokens_first)

    what = "a rotation of some columns"
    return Match(what=what, root=node.name, operands=(x, rotation.table), build=build)
