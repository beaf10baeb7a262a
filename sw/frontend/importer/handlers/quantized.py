"""Operators of ONNX on quantized numbers: what they stand for, or their scales as arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.products import conv, matmul
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.importer.source.quantization import Product
from celosia.sw.frontend.importer.source.tensors import graph_dtype
from celosia.sw.frontend.nn.operators.operator import TensorType, expect, normalized_axis

__all__ = ["QUANTIZED", "dequantize_linear", "dequantized", "quantize_linear", "requantized"]

QUANTIZED: Final = Handlers()

_FEW: Final = "numbers of 8 or fewer bits but int8 and uint8"


@QUANTIZED.of("DequantizeLinear", but=_FEW)
def dequantize_linear(call: Call) -> str:
    """Floats that integers stand for, by a scale for all of them, an axis or blocks of it."""
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    call.ignore("output_dtype")  # The floats that a file may name are all float32 here.
    x, scale, zero = call[0], call[1], call.optional(2)
    if block:
        return _arithmetic(call, x, scale, zero, axis, block)
    return dequantized(call, x, scale, zero, axis)


@QUANTIZED.of("QuantizeLinear", but=_FEW)
def quantize_linear(call: Call) -> str:
    """Integers of a scale for all of them, an axis or blocks of it."""
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    call.ignore("saturate", "precision")
    zero, to = call.optional(2), call.attribute("output_dtype", 0)
    dtype = call.build.type(zero).dtype if zero else graph_dtype(to) if to else "uint8"
    return _quantized(call, call[0], call[1], zero, dtype, axis, block)


def dequantized(call: Call, x: str, scale: str, zero: str | None, axis: int) -> str:
    """The floats that integers were made of, or (x - zero) * scale if nobody knows them."""
    real = call.quantization.real(x, scale, zero)
    table = call.quantization.table(x, scale)
    if real is not None or table is None:
        return real or _arithmetic(call, x, scale, zero, axis)
    # Rows of a table of words, for one: the table is made floats once.
    integers, remake = table
    found = remake(_arithmetic(call, integers, scale, zero, axis))
    assert found is not None
    return found


def requantized(call: Call, real: str, scale: str, zero: str | None, like: str) -> str:
    """Integers that stand for `real`, with one scale and zero point for all elements.

    Without a zero point they are of the type of `like`.
    """
    if call.build.type(scale).size > 1:
        raise Refusal("scales of rows or columns of its result are not supported")
    dtype = call.build.type(like if zero is None else zero).dtype
    found = _quantized(call, real, scale, zero, dtype, 0)
    call.quantization.quantized(found, real, scale, zero)
    return found


def _arithmetic(call: Call, x: str, scale: str, zero: str | None, axis: int, block: int = 0) -> str:
    """(x - zero) * scale, with a scale and a zero point for all elements, a column or a block."""
    kind, to = call.build.type(x), call.build.type(scale).dtype
    found = call.op("cast", x, to=to)
    if zero is not None:
        zero = call.op("cast", _spread(call, zero, kind, axis, block), to=to)
        found = call.op("sub", found, zero)
    return call.op("mul", found, _spread(call, scale, kind, axis, block))


def _quantized(
    call: Call, x: str, scale: str, zero: str | None, dtype: str, axis: int, block: int = 0
) -> str:
    """round(x / scale) + zero, saturated to `dtype`."""
    kind = call.build.type(x)
    limits = _limits(dtype)
    scale = call.op("cast", scale, to=kind.dtype)
    found = call.op("round", call.op("div", x, _spread(call, scale, kind, axis, block)))
    if zero is not None:
        zero = call.op("cast", _spread(call, zero, kind, axis, block), to=kind.dtype)
        found = call.op("add", found, zero)
    found = call.op("max", found, call.scalar(limits.min, found))
    found = call.op("min", found, call.scalar(limits.max, found))
    return call.op("cast", found, to=dtype)


def _limits(dtype: str) -> np.iinfo:
    if dtype not in {"int8", "uint8", "int16", "uint16"}:
        raise Refusal(f"it quantizes to {dtype}")
    return np.iinfo(dtype)


def _spread(call: Call, values: str, kind: TensorType, axis: int, block: int) -> str:
    """A scale or zero point so that it broadcasts to a tensor of type `kind`."""
    given = call.build.type(values)
    if given.size == 1 and not block:
        return call.reshape(values, ())
    axis = normalized_axis(axis, kind.rank)
    if not block:
        expect(given.shape == kind.shape[axis : axis + 1], f"its scales are {given} of {kind}")
        return call.reshape(values, (given.size, *(1,) * (kind.rank - axis - 1)))
    places = call.indices(np.arange(kind.shape[axis]) // block)
    return call.op("gather", values, places, axis=axis)


@dataclass(frozen=True)
class _Operand:
    """An operand of a product of integers."""

    name: str
    whole: str
    """Its distance from the zero point."""
    real: str | None
    """The floats that the integers were made of, or are; None: it is not known before they are."""
    rounded: bool
    """Whether it was made of floats."""


def _operand(call: Call, index: int, zero: int, axis: int) -> _Operand:
    """The operand at `index`, whose zero point is at `zero`, for all elements or along `axis`."""
    name, point = call[index], call.optional(zero)
    whole = call.op("cast", name, to="int32")
    if point is not None:
        wide = call.op("cast", point, to="int32")
        whole = call.op("sub", whole, _spread(call, wide, call.type(index), axis, 0))
    real = call.quantization.stands(name, point)
    if real is not None:
        return _Operand(name, whole, real, True)
    known = call.build.value(name) is not None
    return _Operand(name, whole, call.op("cast", whole, to="float32") if known else None, False)


def _note_sums(call: Call, sums: str, operands: Sequence[_Operand], product: Product) -> str:
    """`sums`, of which is known what they stand for, if that is known of the operands."""
    rounded = [each.name for each in operands if each.rounded]
    if rounded and all(each.real is not None for each in operands):
        call.quantization.sums(sums, rounded, product)
    return sums


@QUANTIZED.of("MatMulInteger")
def _matmul_integer(call: Call) -> str:
    a, b = _operand(call, 0, 2, -2), _operand(call, 1, 3, -1)

    def product(factor: str | None) -> str:
        assert a.real is not None
        assert b.real is not None
        kind = call.build.type(b.real)
        if b.rounded or factor is None or not _is_per_output(call, factor, kind.shape[-1], 0):
            return _scaled(call, matmul(call, a.real, b.real), factor)
        columns = call.reshape(factor, (call.build.type(factor).size,))
        return matmul(call, a.real, call.op("mul", b.real, columns))

    return _note_sums(call, matmul(call, a.whole, b.whole), (a, b), product)


@QUANTIZED.of("ConvInteger")
def _conv_integer(call: Call) -> str:
    image, filters = _operand(call, 0, 2, 1), _operand(call, 1, 3, 0)
    # There is no convolution of integers: sums of float64 are exact.
    wide = [call.op("cast", each.whole, to="float64") for each in (image, filters)]

    def product(factor: str | None) -> str:
        assert image.real is not None
        assert filters.real is not None
        kind = call.build.type(filters.real)
        count, places = kind.shape[0], kind.rank - 2
        if filters.rounded or factor is None or not _is_per_output(call, factor, count, places):
            return _scaled(call, conv(call, image.real, filters.real), factor)
        size = call.build.type(factor).size
        each = call.reshape(factor, (size, *(1,) * (kind.rank - 1)))
        return conv(call, image.real, call.op("mul", filters.real, each))

    sums = call.op("cast", conv(call, *wide), to="int32")
    return _note_sums(call, sums, (image, filters), product)


def _is_per_output(call: Call, factor: str, count: int, behind: int) -> bool:
    """Whether a factor is one number, or one for each output, `behind` whose axis are others."""
    kind = call.build.type(factor)
    size, axis = kind.size, kind.rank - 1 - behind
    return size == 1 or (axis >= 0 and size == kind.shape[axis] == count)


def _scaled(call: Call, x: str, factor: str | None) -> str:
    return x if factor is None else call.op("mul", x, factor)


@QUANTIZED.of("QLinearMatMul", but="scales of rows or columns of its result")
def _qlinear_matmul(call: Call) -> str:
    a = dequantized(call, call[0], call[1], call[2], -2)
    b = dequantized(call, call[3], call[4], call[5], -1)
    return requantized(call, matmul(call, a, b), call[6], call[7], call[0])


@QUANTIZED.of("QLinearConv", but="scales of channels of its result")
def _qlinear_conv(call: Call) -> str:
    image = dequantized(call, call[0], call[1], call[2], 1)
    filters = dequantized(call, call[3], call[4], call[5], 0)
    bias = call.optional(8)
    if bias is not None:
        scales = call.op("mul", call.reshape(call[1], ()), call[4])
        bias = _arithmetic(call, bias, scales, None, 0)
    return requantized(call, conv(call, image, filters, bias), call[6], call[7], call[0])
