"""Products of ONNX: of matrices, convolutions, and pooling."""

from collections.abc import Sequence
from math import prod
from string import ascii_letters
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect

__all__ = ["PRODUCTS", "conv", "matmul", "swapped"]

PRODUCTS: Final = Handlers()


@PRODUCTS.of("MatMul")
def _matmul(call: Call) -> str:
    return matmul(call, call[0], call[1])


def matmul(call: Call, a: str, b: str) -> str:
    """The product as NumPy has it: a vector is a row on the left and a column on the right."""
    first, second = call.build.type(a).shape, call.build.type(b).shape
    expect(min(len(first), len(second)) > 0, "an operand is a scalar")
    if len(first) == 1:
        a = call.reshape(a, (1, *first))
    if len(second) == 1:
        b = call.reshape(b, (*second, 1))
    found = call.op("matmul", a, b)
    shape = list(call.build.type(found).shape)
    if len(second) == 1:
        del shape[-1]
    if len(first) == 1:
        del shape[-1 if len(second) == 1 else -2]
    return call.reshape(found, shape)


def swapped(call: Call, x: str) -> str:
    """`x` with its last two axes exchanged."""
    rank = call.build.type(x).rank
    expect(rank >= 2, f"{call.build.type(x)} is no matrix")
    return call.op("transpose", x, permutation=(*range(rank - 2), rank - 1, rank - 2))


@PRODUCTS.of("Gemm")
def _gemm(call: Call) -> str:
    a, b = call[0], call[1]
    expect(call.type(0).rank == call.type(1).rank == 2, "its operands are no matrices")
    a = swapped(call, a) if call.attribute("transA", 0) else a
    b = swapped(call, b) if call.attribute("transB", 0) else b
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    found = call.op("matmul", a, b)
    if alpha != 1:
        found = call.op("mul", found, _factor(call, alpha, found))
    bias = call.optional(2)
    if bias is not None:
        if beta != 1:
            bias = call.op("mul", bias, _factor(call, beta, bias))
        found = call.op("add", found, bias)
    return found


def _factor(call: Call, value: float, like: str) -> str:
    whole = call.build.type(like).is_float or value == int(value)
    expect(whole, f"factor {value} of integers is no whole number")
    return call.scalar(value, like)


def _sliding(call: Call, kernel: tuple[int, ...], image: tuple[int, ...]) -> dict[str, Any]:
    """Strides, dilations and padding of windows."""
    rank = len(kernel)
    expect(len(image) == rank, f"a window of {kernel} does not slide over an image of {image}")
    strides = call.attribute("strides", (1,) * rank)
    dilations = call.attribute("dilations", (1,) * rank)
    pads = call.attribute("pads", (0,) * (2 * rank))
    auto = call.attribute("auto_pad", "NOTSET")
    expect(
        len(strides) == len(dilations) == rank and len(pads) == 2 * rank,
        f"its strides {strides}, dilations {dilations} and pads {pads} are not of {rank} axes",
    )
    expect(min((*strides, *dilations, *kernel)) > 0, "a stride, dilation or size is not positive")
    before, after = list(pads[:rank]), list(pads[rank:])
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    if auto in {"SAME_UPPER", "SAME_LOWER"}:
        for axis in range(rank):
            places = -(-image[axis] // strides[axis])
            whole = max(0, (places - 1) * strides[axis] + reach[axis] - image[axis])
            less, more = whole // 2, whole - whole // 2
            before[axis], after[axis] = (less, more) if auto == "SAME_UPPER" else (more, less)
    elif auto == "VALID":
        before, after = [0] * rank, [0] * rank
    elif auto != "NOTSET":
        raise Refusal(f"its auto_pad {auto!r} is unknown")
    return {
        "before": tuple(before),
        "after": tuple(after),
        "strides": tuple(strides),
        "dilations": tuple(dilations),
    }


@PRODUCTS.of("Conv")
def _conv(call: Call) -> str:
    return conv(call, call[0], call[1], call.optional(2))


def conv(call: Call, image: str, filters: str, bias: str | None = None) -> str:
    """The convolution that the attributes of a node describe."""
    shape = call.build.type(filters).shape[2:]
    kernel = call.attribute("kernel_shape", shape)
    expect(kernel == shape, f"its kernel_shape {kernel} is not that of its filters, {shape}")
    sliding = _sliding(call, kernel, call.build.type(image).shape[2:])
    groups, operands = call.attribute("group", 1), (image, filters, bias)
    given = [each for each in operands if each is not None]
    return call.op("conv", *given, groups=groups, **sliding)


def _ceiling(sliding: dict[str, Any], kernel: tuple[int, ...], image: tuple[int, ...]) -> None:
    """Add padding behind the image for the last windows that begin inside of it."""
    after = list(sliding["after"])
    for axis, size in enumerate(image):
        stride = sliding["strides"][axis]
        reach = (kernel[axis] - 1) * sliding["dilations"][axis] + 1
        padded = size + sliding["before"][axis] + after[axis]
        windows = -(-(padded - reach) // stride) + 1
        if (windows - 1) * stride >= size + sliding["before"][axis]:
            windows -= 1
        after[axis] += max(0, (windows - 1) * stride + reach - padded)
    sliding["after"] = tuple(after)


@PRODUCTS.of("MaxPool", "AveragePool", but="places of the maxima")
def _pool(call: Call) -> str:
    kind, kernel = call.type(0), call.attribute("kernel_shape")
    sliding = _sliding(call, kernel, kind.shape[2:])
    call.ignore("storage_order")  # It is for the second output, which is not computed.
    asked = dict(sliding)
    if call.attribute("ceil_mode", 0):
        _ceiling(sliding, kernel, kind.shape[2:])
    if call.node.op_type == "MaxPool":
        return call.op("max_pool", call[0], kernel=kernel, **sliding)
    if not call.attribute("count_include_pad", 0):
        return call.op("average_pool", call[0], kernel=kernel, **sliding)
    # Padding that was asked for counts, and that of the last windows does not.
    zeros = (0, 0)
    padded = call.op(
        "pad",
        call[0],
        call.scalar(0, call[0]),
        before=(*zeros, *asked["before"]),
        after=(*zeros, *asked["after"]),
    )
    added = np.subtract(sliding["after"], asked["after"])
    rest = {"before": (0,) * len(kernel), "after": tuple(map(int, added))}
    return call.op("average_pool", padded, kernel=kernel, **(sliding | rest))


@PRODUCTS.of("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(call: Call) -> str:
    op = "reduce_mean" if call.node.op_type == "GlobalAveragePool" else "reduce_max"
    axes = tuple(range(2, call.type(0).rank))
    return call.op(op, call[0], axes=axes, keepdims=True)


@PRODUCTS.of("Einsum", but="an axis twice")
def _einsum(call: Call) -> str:
    equation = call.attribute("equation").replace(" ", "")
    operands = call.all()
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise Refusal(f"its equation {equation!r} is not one of {len(operands)} operands")
    ranks = [call.build.type(operand).rank for operand in operands]
    terms, others = _named(terms, ranks)
    letters = "".join(terms)
    once = sorted(c for c in set(letters) - set(others) if letters.count(c) == 1)
    out = right.replace("...", others) if arrow else others + "".join(once)
    for term, operand, rank in zip(terms, operands, ranks, strict=True):
        if not len(set(term)) == len(term) == rank:
            raise Refusal(f"its equation {equation!r} does not name each axis of {operand} once")
    if set(out) - set(letters) or len(set(out)) != len(out):
        raise Refusal(f"its equation {equation!r} makes axes out of nothing")
    found, term = operands[0], terms[0]
    for index, (other, axes) in enumerate(zip(operands[1:], terms[1:], strict=True), 2):
        # What is made of the first ones has what the result and the others name.
        needed = set(out).union(*terms[index:])
        kept = "".join(c for c in dict.fromkeys(term + axes) if c in needed)
        kept = out if index == len(operands) else kept
        found, term = _contract(call, [found, other], [term, axes], kept), kept
    return found if len(operands) > 1 else _single(call, found, term, out)


def _named(terms: Sequence[str], ranks: Sequence[int]) -> tuple[list[str], str]:
    """Terms with letters in the place of "...", and these letters, those of the longest one."""
    free = [c for c in ascii_letters if c not in "".join(terms)]
    most, named = 0, []
    for term, rank in zip(terms, ranks, strict=True):
        count = max(rank - len(term.replace("...", "")), 0) if "..." in term else 0
        most = max(most, count)
        named.append((term, count))
    others = "".join(free[:most])
    return [term.replace("...", others[most - count :]) for term, count in named], others


def _single(call: Call, x: str, term: str, out: str) -> str:
    axes = tuple(axis for axis, letter in enumerate(term) if letter not in out)
    x = call.op("reduce_sum", x, axes=axes, keepdims=False) if axes else x
    rest = [letter for letter in term if letter in out]
    return call.op("transpose", x, permutation=tuple(rest.index(letter) for letter in out))


def _contract(call: Call, operands: list[str], terms: list[str], out: str) -> str:
    """Two operands as one product of stacks of matrices."""
    a, b = operands
    # What only one operand has, and the result does not, is summed up before.
    for index, other in ((0, terms[1]), (1, terms[0])):
        kept = "".join(c for c in terms[index] if c in out or c in other)
        summed = _single(call, (a, b)[index], terms[index], kept)
        a, b = (summed, b) if index == 0 else (a, summed)
        terms[index] = kept
    first, second = terms
    stack = [c for c in first if c in second and c in out]
    inner = [c for c in first if c in second and c not in out]
    rows = [c for c in first if c not in second]
    cols = [c for c in second if c not in first]
    sizes = dict(zip(first, call.build.type(a).shape, strict=True))
    sizes |= dict(zip(second, call.build.type(b).shape, strict=True))

    def matrix(x: str, term: str, groups: tuple[list[str], ...]) -> str:
        order = tuple(term.index(c) for group in groups for c in group)
        shape = [prod(sizes[c] for c in group) for group in groups[1:]]
        x = call.op("transpose", x, permutation=order)
        return call.reshape(x, [*(sizes[c] for c in groups[0]), *shape])

    pair = matrix(a, first, (stack, rows, inner)), matrix(b, second, (stack, inner, cols))
    # Sums of one number each: matrices of one column and of one row broadcast.
    found = call.op("matmul" if inner else "mul", *pair)
    names = [*stack, *rows, *cols]
    found = call.reshape(found, [sizes[c] for c in names])
    return call.op("transpose", found, permutation=tuple(names.index(c) for c in out))
