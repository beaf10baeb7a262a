"""Transposed convolutions of ONNX, which make images larger, as products and convolutions."""

from collections.abc import Sequence
from math import prod
from typing import Final

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.nn.operators.operator import expect

__all__ = ["TRANSPOSED"]

TRANSPOSED: Final = Handlers()


@TRANSPOSED.of("ConvTranspose")
def _conv_transpose(call: Call) -> str:
    """As a convolution of the image with zeros between its elements, by turned filters.

    Where windows of results touch, and do not overlap, it is one product.
    """
    image, filters, bias = call[0], call[1], call.optional(2)
    count, each, *kernel = call.type(1).shape
    expect(call.attribute("kernel_shape", tuple(kernel)) == tuple(kernel), "its kernel_shape")
    groups, rank = call.attribute("group", 1), len(kernel)
    expect(call.type(0).rank == rank + 2 and count % groups == 0, f"{image} is no image for it")
    strides = call.attribute("strides", (1,) * rank)
    dilations = call.attribute("dilations", (1,) * rank)
    before, after = _result_padding(call, kernel, strides, dilations)
    if groups == 1 and strides == tuple(kernel) and not any((*before, *after)):
        return _patches(call, image, filters, bias)
    inside = (groups, count // groups, each, *kernel)
    filters = call.op(
        "transpose",
        call.reshape(filters, inside),
        permutation=(0, 2, 1, *range(3, 3 + rank)),
    )
    filters = call.reshape(filters, (groups * each, count // groups, *kernel))
    ends = tuple(size - 1 for size in kernel)
    filters = call.op(
        "slice",
        filters,
        starts=(0, 0, *ends),
        sizes=call.build.type(filters).shape,
        steps=(1, 1, *[-1] * rank),
    )
    reach = [(size - 1) * step for size, step in zip(kernel, dilations, strict=True)]
    ends = [[wide - cut for wide, cut in zip(reach, cuts, strict=True)] for cuts in (before, after)]
    image = _cropped(call, _stuffed(call, image, strides), ends)
    return call.op(
        "conv",
        image,
        filters,
        *([] if bias is None else [bias]),
        groups=groups,
        before=tuple(max(0, each) for each in ends[0]),
        after=tuple(max(0, each) for each in ends[1]),
        strides=(1,) * rank,
        dilations=tuple(dilations),
    )


def _result_padding(
    call: Call, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """What is cut off before and behind the results of all windows; negative: zeros are added."""
    rank, image = len(kernel), call.type(0).shape[2:]
    more = call.attribute("output_padding", (0,) * rank)
    pads = call.attribute("pads", (0,) * (2 * rank))
    auto = call.attribute("auto_pad", "NOTSET")
    shape = call.attribute("output_shape", ())[-rank:]
    if auto in {"SAME_UPPER", "SAME_LOWER"} and not shape:
        shape = [size * step for size, step in zip(image, strides, strict=True)]
    if auto == "VALID":
        pads = (0,) * (2 * rank)
    before, after = list(pads[:rank]), list(pads[rank:])
    for axis in range(rank):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        whole = strides[axis] * (image[axis] - 1) + more[axis] + reach
        if shape:
            cut = whole - shape[axis]
            less, rest = cut // 2, cut - cut // 2
            before[axis], after[axis] = (less, rest) if auto == "SAME_UPPER" else (rest, less)
        after[axis] -= more[axis]
    return before, after


def _patches(call: Call, image: str, filters: str, bias: str | None) -> str:
    """Each element of an image times its filters, as a patch of the result."""
    (batch, channels, *places), (_, count, *kernel) = (
        call.build.type(each).shape for each in (image, filters)
    )
    rank, size = len(places), prod(kernel)
    rows = call.op("transpose", image, permutation=(0, *range(2, 2 + rank), 1))
    rows = call.reshape(rows, (batch, prod(places), channels))
    found = call.op("matmul", rows, call.reshape(filters, (channels, count * size)))
    if bias is not None:
        spread = call.op("broadcast", call.reshape(bias, (count, 1)), shape=(count, size))
        found = call.op("add", found, call.reshape(spread, (count * size,)))
    found = call.reshape(found, (batch, *places, count, *kernel))
    pairs = (axis for place in range(rank) for axis in (1 + place, 2 + rank + place))
    found = call.op("transpose", found, permutation=(0, 1 + rank, *pairs))
    whole = (a * b for a, b in zip(places, kernel, strict=True))
    return call.reshape(found, (batch, count, *whole))


def _stuffed(call: Call, image: str, strides: Sequence[int]) -> str:
    """An image with zeros between its elements, so that they are `strides` apart."""
    batch, channels, *places = call.build.type(image).shape
    if set(strides) == {1}:
        return image
    rank = len(places)
    apart = call.reshape(image, (batch, channels, *(n for size in places for n in (size, 1))))
    zeros = (0,) * (2 + 2 * rank)
    behind = (0, 0, *(n for step in strides for n in (0, step - 1)))
    apart = call.op("pad", apart, call.scalar(0, image), before=zeros, after=behind)
    whole = [size * step for size, step in zip(places, strides, strict=True)]
    found = call.reshape(apart, (batch, channels, *whole))
    sizes = [size - step + 1 for size, step in zip(whole, strides, strict=True)]
    return _part(call, found, [0] * rank, sizes)


def _cropped(call: Call, image: str, ends: Sequence[Sequence[int]]) -> str:
    """An image without the elements that negative padding, before and behind it, takes away."""
    sizes = call.build.type(image).shape[2:]
    starts, rests = ([max(0, -each) for each in side] for side in ends)
    left = [n - a - b for n, a, b in zip(sizes, starts, rests, strict=True)]
    expect(min(left, default=1) > 0, f"nothing is left of {image} with its pads")
    return _part(call, image, starts, left)


def _part(call: Call, image: str, starts: Sequence[int], sizes: Sequence[int]) -> str:
    first = call.build.type(image).shape[:2]
    steps = (1,) * (2 + len(sizes))
    return call.op("slice", image, starts=(0, 0, *starts), sizes=(*first, *sizes), steps=steps)
