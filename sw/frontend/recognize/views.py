"""Shortens chains of views, and finds heads that are repeated for groups of queries.

What a chain does is found by numbers: it is applied to the numbers of its source's elements.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.interpret import compute
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.recognize.prove import Probe
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["element_numbers", "find_groups", "find_long_views", "numbered", "viewed"]

Numbers = NDArray[np.int64]

_LARGEST: Final = 1 << 24
"""Elements of the largest source whose views are looked at."""


def numbered(shape: Sequence[int]) -> Numbers:
    """An array of `shape` that holds the number of each of its elements; it is read-only."""
    size = prod(shape)
    return _numbers(max(size - 1, 0).bit_length())[:size].reshape(shape)


@lru_cache(maxsize=2)
def _numbers(bits: int) -> Numbers:
    """The numbers of so many bits: to write them out again for each tensor takes long."""
    numbers = np.arange(1 << bits)
    numbers.flags.writeable = False
    return numbers


def element_numbers(reader: Reader, name: str) -> tuple[str, Numbers] | None:
    """What a tensor is a view of, and the number of the source's element at each place.

    None for a source that is too large.
    """
    source, views = reader.chain(name)
    kind = reader.type(source)
    if kind.size > _LARGEST or reader.type(name).size > _LARGEST:
        return None
    numbers = numbered(kind.shape)
    for view in views:
        numbers = viewed(reader, view, numbers)
    return source, numbers


def viewed(reader: Reader, view: Node, numbers: Numbers) -> Numbers:
    """The numbers of a view's elements, by those of its operand's."""
    known = [reader.value(place) for place in view.inputs[1:]]
    return compute(_typed(view), [numbers, *(place for place in known if place is not None)])


def _typed(view: Node) -> Node:
    kind = TensorType("int64", view.type.shape)
    return Node(
        name=view.name, op=view.op, inputs=view.inputs, attributes=view.attributes, type=kind
    )


def find_long_views(reader: Reader) -> Iterator[Match]:
    """Chains of views that reorder all elements in more operators than it takes."""
    readers = reader.graph.readers()
    outputs = set(reader.graph.outputs.values())
    for node in reader.nodes:
        last = node.name in outputs or any(
            reader.view(other.name) is None for other in readers[node.name]
        )
        if reader.view(node.name) is None or not last:
            continue
        _, views = reader.chain(node.name)
        found = element_numbers(reader, node.name) if len(views) > 1 else None
        if found is None:
            continue
        source, numbers = found
        if not numbers.size or numbers.size != reader.type(source).size:
            continue
        order = _order(numbers)
        if order is None or _length(reader.type(source).shape, order, numbers.shape) >= len(views):
            continue
        yield _reordered(node, source, order)


def _reordered(node: Node, source: str, order: tuple[list[int], list[int]]) -> Match:
    sizes, permutation = order

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (x,) = operands
        if permutation != sorted(permutation):
            x = builder.op("reshape", x, shape=tuple(sizes))
            x = builder.op("transpose", x, permutation=tuple(permutation))
        return builder.op("reshape", x, shape=node.type.shape)

    return Match(what="a reordering", root=node.name, operands=(source,), build=build)


def _length(
    source: Sequence[int], order: tuple[list[int], list[int]], result: Sequence[int]
) -> int:
    """Operators of a reordering that do something."""
    sizes, permutation = order
    turned = [sizes[axis] for axis in permutation]
    moved = permutation != sorted(permutation)
    if not moved:
        return int(list(source) != list(result))
    return int(list(source) != sizes) + 1 + int(turned != list(result))


def _order(numbers: Numbers) -> tuple[list[int], list[int]] | None:
    """The sizes that a source is reshaped to, and how its axes are then permuted.

    None where the numbers are not those of a permutation of axes, or not all.
    """
    sizes: list[int] = []
    strides: list[int] = []
    for axis in range(numbers.ndim):
        line = np.moveaxis(numbers, axis, 0).reshape(numbers.shape[axis], -1)[:, 0]
        digits = _digits(line - line[0])
        if digits is None:
            return None
        sizes += [size for size, _ in digits]
        strides += [stride for _, stride in digits]
    if not sizes:
        return [numbers.size], [0]
    # The axis of the largest stride is the source's first one.
    outer = sorted(range(len(sizes)), key=lambda axis: -strides[axis])
    ordered = [sizes[axis] for axis in outer]
    steps = [prod(ordered[index + 1 :]) for index in range(len(ordered))]
    if [strides[axis] for axis in outer] != steps:
        return None
    places = [slice(size) for size in sizes]
    whole = sum(
        grid * stride for grid, stride in zip(np.ogrid[tuple(places)], strides, strict=True)
    )
    if not np.array_equal(np.asarray(whole).reshape(-1), numbers.reshape(-1)):
        return None
    return ordered, [outer.index(axis) for axis in range(len(sizes))]


def _digits(line: Numbers) -> list[tuple[int, int]] | None:
    """A line of numbers as digits, the first one outermost: size and stride of each."""
    digits: list[tuple[int, int]] = []
    while len(line) > 1:
        stride = int(line[1])
        regular = line == stride * np.arange(len(line))
        size = len(line) if regular.all() else int(np.argmin(regular))
        if stride <= 0 or len(line) % size:
            return None
        digits.insert(0, (size, stride))
        line = line[::size]
    return digits


def find_groups(reader: Reader) -> Iterator[Match]:
    """Attention whose keys and values are repeated, once for each head of queries of a group."""
    for node in reader.nodes:
        if node.op != "attention":
            continue
        keys, values = node.inputs[1:3]
        heads = reader.type(keys).shape[1]
        if reader.type(node.inputs[0]).shape[1] != heads:
            continue
        times = min(_repeats(reader, keys, heads), _repeats(reader, values, heads))
        if times > 1:
            yield _grouped(node, heads // times, times)


def _repeats(reader: Reader, name: str, heads: int) -> int:
    """How many heads behind each other are the same one; 1 if none is known to be."""
    found = element_numbers(reader, name)
    if found is None:
        return 1
    for times in range(heads, 1, -1):
        if heads % times == 0:
            batch, _, *rest = found[1].shape
            apart = found[1].reshape(batch, heads // times, times, *rest)
            if (apart == apart[:, :, :1]).all():
                return times
    return 1


def _grouped(node: Node, shared: int, times: int) -> Match:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        queries, keys, values, *bias = operands
        attributes: dict[str, Any] = dict(node.attributes)
        each = [_every(builder, x, shared, times) for x in (keys, values)]
        return builder.op("attention", queries, *each, *bias, **attributes)

    # The proof needs keys that are repeated: those that the graph repeats.
    return Match(
        what=f"attention of groups of {times} heads",
        root=node.name,
        operands=node.inputs,
        build=build,
        probes={index: _repeated(shared, times) for index in (1, 2)},
    )


def _every(builder: GraphBuilder, x: str, shared: int, times: int) -> str:
    batch, _, rows, cols = builder.type(x).shape
    return builder.op(
        "slice",
        x,
        starts=(0, 0, 0, 0),
        sizes=(batch, shared, rows, cols),
        steps=(1, times, 1, 1),
    )


def _repeated(shared: int, times: int) -> Probe:
    def probe(random: np.random.Generator, kind: TensorType) -> Array:
        batch, _, rows, cols = kind.shape
        drawn = random.standard_normal((batch, shared, rows, cols))
        return np.repeat(drawn, times, axis=1)

    return probe
