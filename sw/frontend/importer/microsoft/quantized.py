"""Operators of ONNX Runtime on quantized numbers, as the operators of what these stand for."""

from collections.abc import Sequence
from typing import Final

from celosia.sw.frontend.importer.handlers.activations import ACTIVATIONS
from celosia.sw.frontend.importer.handlers.elementwise import ELEMENTWISE
from celosia.sw.frontend.importer.handlers.layout import LAYOUT
from celosia.sw.frontend.importer.handlers.products import PRODUCTS, matmul, swapped
from celosia.sw.frontend.importer.handlers.quantized import (
    dequantize_linear,
    dequantized,
    quantize_linear,
    requantized,
)
from celosia.sw.frontend.importer.handlers.recurrent import RECURRENT
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.microsoft.attention import Places, attention
from celosia.sw.frontend.importer.source.call import Call, Result
from celosia.sw.frontend.importer.source.problems import Refusal

__all__ = ["FUSED_QUANTIZED"]

FUSED_QUANTIZED: Final = Handlers()
FUSED_QUANTIZED.of("DequantizeLinear")(dequantize_linear)
FUSED_QUANTIZED.of("QuantizeLinear")(quantize_linear)

_KNOWN: Final = {**ELEMENTWISE, **LAYOUT, **ACTIVATIONS, **PRODUCTS, **RECURRENT}
_LSTM: Final = 14
"""The opset of LSTM whose attributes DynamicQuantizeLSTM has."""
_FLAT_SOFTMAX: Final = 13
"""The opset from which on a softmax is along one axis."""


def _of_floats(call: Call, op: str, operands: Sequence[str], version: int = _FLAT_SOFTMAX) -> str:
    """The result of an operator of ONNX on floats, with the node's attributes."""
    found = _KNOWN[op](call.instead(op, version, operands))
    assert isinstance(found, str)
    return found


def _operand(call: Call, index: int, axis: int = 0) -> str:
    """The floats of integers at `index`, with scale and zero point behind them."""
    return dequantized(call, call[index], call[index + 1], call.optional(index + 2), axis)


@FUSED_QUANTIZED.of("QLinearAdd", "QLinearMul")
def _qlinear_binary(call: Call) -> str:
    op = call.node.op_type.removeprefix("QLinear")
    found = _of_floats(call, op, [_operand(call, 0), _operand(call, 3)])
    return requantized(call, found, call[6], call.optional(7), call[0])


@FUSED_QUANTIZED.of("QLinearSigmoid", "QLinearLeakyRelu")
def _qlinear_unary(call: Call) -> str:
    op = call.node.op_type.removeprefix("QLinear")
    found = _of_floats(call, op, [_operand(call, 0)])
    return requantized(call, found, call[3], call.optional(4), call[0])


@FUSED_QUANTIZED.of("QLinearSoftmax")
def _qlinear_softmax(call: Call) -> str:
    found = _of_floats(call, "Softmax", [_operand(call, 0)], call.attribute("opset"))
    return requantized(call, found, call[3], call.optional(4), call[0])


@FUSED_QUANTIZED.of(
    "QLinearAveragePool", "QLinearGlobalAveragePool", but="channels behind the places"
)
def _qlinear_pool(call: Call) -> str:
    if call.attribute("channels_last", 0):
        raise Refusal("channels behind the places are not supported")
    op = call.node.op_type.removeprefix("QLinear")
    found = _of_floats(call, op, [_operand(call, 0)])
    return requantized(call, found, call[3], call.optional(4), call[0])


@FUSED_QUANTIZED.of("QLinearConcat")
def _qlinear_concat(call: Call) -> str:
    parts = [_operand(call, index) for index in range(2, call.count, 3)]
    return requantized(call, _of_floats(call, "Concat", parts), call[0], call.optional(1), call[2])


@FUSED_QUANTIZED.of("QGemm")
def _qgemm(call: Call) -> str:
    turned = call.attribute("transB", 0)
    a, b = _operand(call, 0), _operand(call, 3, axis=0 if turned else 1)
    a = swapped(call, a) if call.attribute("transA", 0) else a
    found = matmul(call, a, swapped(call, b) if turned else b)
    bias, alpha = call.optional(6), float(call.attribute("alpha", 1.0))
    if bias is not None:
        scales = call.op("mul", call.reshape(call[1], ()), call[4])
        floats = call.op("cast", bias, to=call.type(4).dtype)
        found = call.op("add", found, call.op("mul", floats, scales))
    if alpha != 1:
        found = call.op("mul", found, call.scalar(alpha, found))
    scale = call.optional(7)
    zero = call.optional(8)
    return found if scale is None else requantized(call, found, scale, zero, call[0])


@FUSED_QUANTIZED.of("DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(call: Call) -> str:
    weights = dequantized(call, call[1], call[2], call.optional(3), -1)
    call.quantization.leave_out(call[0])
    return _with_bias(call, matmul(call, call[0], weights), call.optional(4))


@FUSED_QUANTIZED.of("MatMulIntegerToFloat")
def _matmul_integer_to_float(call: Call) -> str:
    a = dequantized(call, call[0], call[2], call.optional(4), -2)
    b = dequantized(call, call[1], call[3], call.optional(5), -1)
    return _with_bias(call, matmul(call, a, b), call.optional(6))


def _with_bias(call: Call, x: str, bias: str | None) -> str:
    return x if bias is None else call.op("add", x, bias)


@FUSED_QUANTIZED.of("QAttention", but="a past, rotary embeddings")
def _qattention(call: Call) -> list[str | None]:
    x = dequantized(call, call[0], call[3], call.optional(6), -2)
    weights = dequantized(call, call[1], call[4], call.optional(7), -1)
    return attention(call, matmul(call, x, weights), Places(bias=2, mask=5, past=8))


@FUSED_QUANTIZED.of("DynamicQuantizeLSTM", but=RECURRENT.limits["LSTM"])
def _dynamic_quantize_lstm(call: Call) -> Result:
    weights = [_turned(call, 1, scale=8), _turned(call, 2, scale=10)]
    call.quantization.leave_out(call[0])
    operands = [call[0], *weights, *(call.optional(index) for index in range(3, 8))]
    return RECURRENT["LSTM"](call.instead("LSTM", _LSTM, operands))


def _turned(call: Call, index: int, scale: int) -> str:
    """The floats of weights (directions x inputs x gates) as LSTM takes them, gates first."""
    floats = call.type(scale).dtype

    def each(values: str) -> str:
        """Numbers for each direction, or for each gate of it, beside the weights."""
        ways = call.type(index).shape[0]
        apart = call.reshape(values, (ways, 1, call.build.type(values).size // max(ways, 1)))
        return call.op("cast", apart, to=floats)

    found, zero = call.op("cast", call[index], to=floats), call.optional(scale + 1)
    found = found if zero is None else call.op("sub", found, each(zero))
    return call.op("transpose", call.op("mul", found, each(call[scale])), permutation=(0, 2, 1))
