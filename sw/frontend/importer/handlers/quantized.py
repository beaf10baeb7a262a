"""Operators of ONNX on quantized numbers: their scales and zero points, as arithmetic."""

from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.products import matmul
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.importer.source.tensors import graph_dtype
from celosia.sw.frontend.nn.operators.operator import TensorType, expect, normalized_axis

__all__ = ["QUANTIZED"]

QUANTIZED: Final = Handlers()

_FEW: Final = "numbers of 8 or fewer bits but int8 and uint8"


@QUANTIZED.of("DequantizeLinear", but=_FEW)
def _dequantize_linear(call: Call) -> str:
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    call.ignore("output_dtype")  # The floats that a file may name are all float32 here.
    zero = call.optional(2)
    return _dequantized(call, call[0], call[1], zero, axis, block)


@QUANTIZED.of("QuantizeLinear", but=_FEW)
def _quantize_linear(call: Call) -> str:
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    call.ignore("saturate", "precision")
    zero, to = call.optional(2), call.attribute("output_dtype", 0)
    dtype = call.build.type(zero).dtype if zero else graph_dtype(to) if to else "uint8"
    return _quantized(call, call[0], call[1], zero, dtype, axis, block)


def _dequantized(
    call: Call, x: str, scale: str, zero: str | None, axis: int, block: int = 0
) -> str:
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


@QUANTIZED.of("MatMulInteger")
def _matmul_integer(call: Call) -> str:
    a, b = (call.op("cast", call[index], to="int32") for index in (0, 1))
    for index, axis in ((2, 0), (3, 1)):
        zero = call.optional(index)
        if zero is None:
            continue
        zero = call.op("cast", zero, to="int32")
        if call.type(index).rank == 1 and axis == 0:  # One for each row.
            zero = call.reshape(zero, (call.type(index).size, 1))
        a, b = (call.op("sub", a, zero), b) if axis == 0 else (a, call.op("sub", b, zero))
    return matmul(call, a, b)


@QUANTIZED.of("QLinearMatMul", but="scales of rows or columns")
def _qlinear_matmul(call: Call) -> str:
    if max(call.type(index).size for index in (1, 2, 4, 5, 6, 7)) > 1:
        raise Refusal("scales of rows or columns are not supported")
    a = _dequantized(call, call[0], call[1], call[2], 0)
    b = _dequantized(call, call[3], call[4], call[5], 0)
    return _quantized(call, matmul(call, a, b), call[6], call[7], call.type(7).dtype, 0)
