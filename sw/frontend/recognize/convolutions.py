"""Turns convolutions into products: of patches, where windows do not overlap, or of windows.

Places that are left out behind one are padding that it does without.  What is added to each channel
behind one is its bias.  A convolution of groups becomes a product for each group, if groups are
wide enough for an array; narrow ones, as of a depthwise convolution, are put together, with weights
of 0 between them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.prove import ordinary_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match, Refusal

__all__ = ["find_biases", "find_convolutions", "find_trims"]

_LEAST_WIDTH: Final = 8
"""The filters of a group are at least so many: half of the columns of the usual arrays."""
_WIDTH: Final = 16
"""Narrow groups are put together up to so many filters: the columns of the usual arrays."""


def find_trims(reader: Reader) -> Iterator[Match]:
    """Convolutions whose first or last places nobody reads, as where causal ones are padded twice.

    So TCN, Mamba and the positions of wav2vec 2.0 are written.
    """
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        conv = reader.producer(node.inputs[0], "conv") if node.op == "slice" else None
        if conv is None or len(readers[conv.name]) > 1 or conv.name in outputs:
            continue
        before, after = _padding(reader, conv, node)
        steps: Any = node.attributes["steps"]
        whole = node.type.shape[:2] == conv.type.shape[:2] and {*steps} == {1}
        if whole and min((*before, *after), default=0) >= 0:
            yield _match_trim(node, conv, before, after)


def _padding(reader: Reader, conv: Node, part: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How much padding places that are a part of a convolution's need on each side."""
    has: Mapping[str, Any] = conv.attributes
    takes: Mapping[str, Any] = part.attributes
    before, after = [], []
    for axis, size in enumerate(reader.type(conv.inputs[0]).shape[2:]):
        window = (reader.type(conv.inputs[1]).shape[axis + 2] - 1) * has["dilations"][axis]
        first, stride = takes["starts"][axis + 2], has["strides"][axis]
        last = first + (takes["sizes"][axis + 2] - 1) * takes["steps"][axis + 2]
        before.append(has["before"][axis] - first * stride)
        after.append(last * stride - has["before"][axis] + window - (size - 1))
    return tuple(before), tuple(after)


def _match_trim(node: Node, conv: Node, before: tuple[int, ...], after: tuple[int, ...]) -> Match:
    attributes: dict[str, Any] = {**conv.attributes, "before": before, "after": after}

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        return builder.op("conv", *operands, **attributes)

    what, probes = "a convolution with less padding", {0: ordinary_rows}
    return Match(what=what, root=node.name, operands=conv.inputs, build=build, probes=probes)


def find_biases(reader: Reader) -> Iterator[Match | Refusal]:
    """Sums of a convolution and a constant with a number for each channel."""
    readers = reader.graph.readers()
    for node in reader.nodes:
        if node.op != "add":
            continue
        for image, bias in (node.inputs, node.inputs[::-1]):
            conv, value = reader.producer(image, "conv"), reader.value(bias)
            if conv is None or value is None or len(conv.inputs) > 2:
                continue
            if len(readers[image]) > 1 or image in reader.graph.outputs.values():
                continue
            filters, *places = conv.type.shape[1:]
            each = (filters, *(1,) * len(places))
            if node.type == conv.type and value.shape in {each, (1, *each)}:
                yield _match_bias(node, conv, bias)


def _match_bias(node: Node, conv: Node, bias: str) -> Match:
    attributes: dict[str, Any] = dict(conv.attributes)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        image, weights, added = operands
        each = builder.op("reshape", added, shape=(conv.type.shape[1],))
        return builder.op("conv", image, weights, each, **attributes)

    return Match(
        what="a bias of a convolution",
        root=node.name,
        operands=(*conv.inputs, bias),
        build=build,
        probes={0: ordinary_rows},
    )


def find_convolutions(reader: Reader) -> Iterator[Match | Refusal]:
    """Convolutions with known filters, of one group or of wide ones."""
    for node in reader.nodes:
        if node.op != "conv":
            continue
        filters = reader.value(node.inputs[1])
        if filters is None:
            yield Refusal("a product", node.name, "its filters are not constant")
            continue
        groups = node.attributes["groups"]
        assert isinstance(groups, int)
        if groups == 1:
            yield _match(node, filters.shape)
            continue
        parts = _parts(groups, width := len(filters) // groups)
        if max(parts) * width >= _LEAST_WIDTH:
            yield _match_groups(node, filters.shape, parts)
        else:
            yield Refusal("a product", node.name, f"it is a convolution of {groups} groups")


def _parts(groups: int, width: int) -> tuple[int, ...]:
    """How many groups of this width each product has: about as many as an array is wide.

    All have the same number, if that makes them wide enough.
    """
    if not 0 < width < _LEAST_WIDTH:
        return (1,) * groups
    most = _WIDTH // width
    alike = max(each for each in range(1, most + 1) if groups % each == 0)
    if alike * width >= _LEAST_WIDTH:
        return (alike,) * (groups // alike)
    least, more = divmod(groups, products := -(-groups // most))
    return (least + 1,) * more + (least,) * (products - more)


def _together(builder: GraphBuilder, weights: str, groups: int) -> str:
    """Filters of groups that are put together: 0 for the channels of others."""
    count, channels, *kernel = builder.type(weights).shape
    each, ones = count // groups, (1,) * len(kernel)
    shape = (groups, each, 1, channels, *kernel)
    own = np.eye(groups, dtype=builder.type(weights).dtype)
    mask = builder.constant(own.reshape(groups, 1, groups, 1, *ones))
    wide = builder.op("mul", builder.op("reshape", weights, shape=shape), mask)
    return builder.op("reshape", wide, shape=(count, groups * channels, *kernel))


def _match_groups(node: Node, filters: Sequence[int], parts: Sequence[int]) -> Match:
    count, channels, *kernel = filters
    batch, _, *places = node.type.shape
    each = count // sum(parts)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        image, weights, *bias = operands
        rows = _windows(builder, image, places, kernel, node.attributes)
        apart = (batch, prod(places), prod(kernel), sum(parts) * channels)
        rows = builder.op("reshape", rows, shape=apart)
        done, products = 0, []
        for groups in parts:
            x = _part(builder, rows, 3, done * channels, groups * channels)
            window = prod(kernel) * groups * channels
            x = builder.op("reshape", x, shape=(batch, prod(places), window))
            own = _part(builder, weights, 0, done * each, groups * each)
            own = _together(builder, own, groups) if groups > 1 else own
            found = builder.op("matmul", x, _matrix(builder, own))
            for one in bias:
                found = builder.op("add", found, _part(builder, one, 0, done * each, groups * each))
            products.append(found)
            done += groups
        return _image(builder, builder.op("concat", *products, axis=2), places)

    probes = {0: ordinary_rows}
    return Match(what="a product", root=node.name, operands=node.inputs, build=build, probes=probes)


def _part(builder: GraphBuilder, x: str, axis: int, start: int, size: int) -> str:
    """Some of a tensor along one axis."""
    sizes, rank = list(builder.type(x).shape), builder.type(x).rank
    sizes[axis] = size
    starts = tuple(start if each == axis else 0 for each in range(rank))
    return builder.op("slice", x, starts=starts, sizes=tuple(sizes), steps=(1,) * rank)


def _matrix(builder: GraphBuilder, weights: str) -> str:
    """Filters as the matrix behind rows of windows."""
    count, channels, *kernel = builder.type(weights).shape
    # Elements of a window are outermost: all channels of one are beside each other.
    order = (0, *range(2, 2 + len(kernel)), 1)
    matrix = builder.op("transpose", weights, permutation=order)
    matrix = builder.op("reshape", matrix, shape=(count, prod(kernel) * channels))
    return builder.op("transpose", matrix, permutation=(1, 0))


def _image(builder: GraphBuilder, rows: str, places: Sequence[int]) -> str:
    """Rows of results, (batch, places, filters), as an image."""
    batch, _, count = builder.type(rows).shape
    found, rank = builder.op("reshape", rows, shape=(batch, *places, count)), len(places)
    return builder.op("transpose", found, permutation=(0, rank + 1, *range(1, rank + 1)))


def _match(node: Node, filters: Sequence[int]) -> Match:
    attributes: Mapping[str, Any] = node.attributes
    count, channels, *kernel = filters
    places = node.type.shape[2:]
    patches = (
        list(attributes["strides"]) == list(kernel)
        and not any((*attributes["before"], *attributes["after"]))
        and set(attributes["dilations"]) == {1}
    )

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        image, weights, *bias = operands
        sizes = builder.type(image).shape[2:]
        whole = [each * size for each, size in zip(places, kernel, strict=True)]
        if patches and whole == list(sizes):
            rows = _patches(builder, image, places, kernel)
            matrix = builder.op("reshape", weights, shape=(count, channels * prod(kernel)))
            matrix = builder.op("transpose", matrix, permutation=(1, 0))
        else:
            rows = _windows(builder, image, places, kernel, attributes)
            matrix = _matrix(builder, weights)
        found = builder.op("matmul", rows, matrix)
        for each in bias:
            found = builder.op("add", found, each)
        return _image(builder, found, places)

    probes = {0: ordinary_rows}
    return Match(what="a product", root=node.name, operands=node.inputs, build=build, probes=probes)


def _patches(
    builder: GraphBuilder, image: str, places: Sequence[int], kernel: Sequence[int]
) -> str:
    """Rows of the elements of each patch, channels outermost, as filters have them."""
    batch, channels = builder.type(image).shape[:2]
    rank = len(kernel)
    apart = [size for pair in zip(places, kernel, strict=True) for size in pair]
    x = builder.op("reshape", image, shape=(batch, channels, *apart))
    order = (0, *range(2, 2 + 2 * rank, 2), 1, *range(3, 3 + 2 * rank, 2))
    x = builder.op("transpose", x, permutation=order)
    return builder.op("reshape", x, shape=(batch, prod(places), channels * prod(kernel)))


def _windows(
    builder: GraphBuilder,
    image: str,
    places: Sequence[int],
    kernel: Sequence[int],
    attributes: Mapping[str, Any],
) -> str:
    """Rows of the elements of each window: the image, shifted by each place in it, side by side."""
    batch, channels = builder.type(image).shape[:2]
    rank = len(kernel)
    x = builder.op("transpose", image, permutation=(0, *range(2, 2 + rank), 1))
    zero = builder.like(0, x)
    before, after = (0, *attributes["before"], 0), (0, *attributes["after"], 0)
    if any((*before, *after)):
        x = builder.op("pad", x, zero, before=before, after=after)
    shifted = []
    for offsets in product(*map(range, kernel)):
        starts = [a * b for a, b in zip(offsets, attributes["dilations"], strict=True)]
        shifted.append(
            builder.op(
                "slice",
                x,
                starts=(0, *starts, 0),
                sizes=(batch, *places, channels),
                steps=(1, *attributes["strides"], 1),
            )
        )
    rows = builder.op("concat", *shifted, axis=rank + 1)
    return builder.op("reshape", rows, shape=(batch, prod(places), prod(kernel) * channels))
