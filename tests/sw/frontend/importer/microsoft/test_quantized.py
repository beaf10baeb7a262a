"""Operators of ONNX Runtime on quantized numbers, compared with ONNX Runtime."""

import numpy as np
import pytest

from tests.sw.frontend.importer.microsoft.nodes import compare, model_of
from tests.sw.frontend.importer.models import floats, imported

RANDOM = np.random.default_rng(0)
STEP = 1
"""ONNX Runtime rounds some of these results by tables: they may be a step apart."""


def uint8(*shape):
    return RANDOM.integers(0, 256, shape, np.uint8)


def int8(*shape):
    return RANDOM.integers(-128, 128, shape, np.int8)


def numbers(scale, zero, dtype=np.uint8):
    """A scale and a zero point."""
    return [np.float32(scale), dtype(zero)]


def steps(op, *inputs, **attributes):
    return compare(op, inputs, within=(0, STEP), **attributes)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_two_operands(op):
    steps(
        op,
        *(uint8(3, 8), *numbers(0.02, 120)),
        *(uint8(1, 8), *numbers(0.03, 100)),
        *numbers(0.05, 128),
    )


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.2}),
        ("QLinearSoftmax", {"axis": -1, "opset": 13}),
        ("QLinearGlobalAveragePool", {"channels_last": 0}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ],
)
def test_one_operand(op, attributes):
    y = numbers(1 / 256, 0) if op in {"QLinearSigmoid", "QLinearSoftmax"} else numbers(0.02, 120)
    steps(op, uint8(1, 3, 4, 8), *numbers(0.02, 120), *y, **attributes)


def test_channels_behind_places_are_refused():
    inputs = [uint8(1, 4, 8, 3), *numbers(0.02, 120), *numbers(0.02, 120)]
    for name in ("QLinearAveragePool", "QLinearGlobalAveragePool"):
        proto, _ = model_of(name, inputs, channels_last=1, kernel_shape=[2, 2])
        (said,) = imported(proto).refused.values()
        assert said == "channels behind the places are not supported"


def test_concatenation():
    parts = [(uint8(2, 3), *numbers(0.02, 120)), (uint8(2, 4), *numbers(0.04, 90))]
    steps("QLinearConcat", *numbers(0.03, 128), *parts[0], *parts[1], axis=1)


@pytest.mark.parametrize("turned", [0, 1])
def test_products_with_a_bias(turned):
    scales, zeros = np.full(6, 0.01, np.float32) + np.arange(6, dtype=np.float32) / 500, int8(6) * 0
    weights = int8(6, 8) if turned else int8(8, 6)
    bias = RANDOM.integers(-2000, 2000, 6, np.int32)
    operands = (uint8(5, 8), *numbers(0.02, 120), weights, scales, zeros, bias)
    steps("QGemm", *operands, *numbers(0.3, 128), transB=turned)
    compare("QGemm", operands, transB=turned, within=(1e-4, 1e-4))


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("bias", [None, RANDOM.integers(-2000, 2000, 6, np.int32)])
def test_products_with_a_factor(alpha, bias):
    """It multiplies the bias, too."""
    operands = (uint8(5, 8), *numbers(0.02, 120), int8(8, 6), np.float32(0.01), np.int8(0), bias)
    steps("QGemm", *operands, *numbers(0.3, 128), alpha=alpha)
    compare("QGemm", operands, alpha=alpha, within=(1e-4, 1e-4))


@pytest.mark.parametrize("numbers_of", [uint8, int8])
def test_results_without_a_zero_point_are_of_the_type_of_what_they_are_made_of(numbers_of):
    steps("QLinearSigmoid", numbers_of(3, 8), np.float32(0.02), None, np.float32(1 / 256), None)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("bias", [None, floats(6)])
def test_products_of_integers_with_float_results(columns, bias):
    scale = np.linspace(0.01, 0.02, 6, dtype=np.float32) if columns else np.float32(0.01)
    zero = int8(6) if columns else np.int8(3)
    operands = [uint8(5, 8), int8(8, 6), np.float32(0.02), scale, np.uint8(120), zero, bias]
    compare("MatMulIntegerToFloat", operands, within=(1e-4, 1e-4))


@pytest.mark.parametrize("columns", [False, True])
def test_products_that_measure_their_operand_are_of_floats(columns):
    scale = np.linspace(0.01, 0.02, 6, dtype=np.float32) if columns else np.float32(0.01)
    zero = int8(6) * 0 if columns else np.int8(3)
    # The runtime rounds the operand to 8 bits.
    operands = [floats(5, 8), int8(8, 6), scale, zero, floats(6)]
    graph = compare("DynamicQuantizeMatMul", operands, within=(0, 0.15))
    assert not {"round", "reduce_max"} & {node.op for node in graph.nodes}


@pytest.mark.parametrize("causal", [0, 1])
def test_attention(causal):
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    operands = [
        *(uint8(2, 5, 8), int8(8, 24), floats(24), np.float32(0.01), np.float32(0.01)),
        *(mask, np.uint8(120), np.int8(0)),
    ]
    compare("QAttention", operands, num_heads=2, unidirectional=causal, within=(1e-4, 1e-4))


@pytest.mark.parametrize("gates", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_lstm_with_weights_of_integers(gates, direction):
    ways, hidden = 2 if direction == "bidirectional" else 1, 8
    shape = (ways, 4 * hidden) if gates else (ways,)
    scales = RANDOM.uniform(0.002, 0.004, shape).astype(np.float32)
    zero = np.zeros(shape, np.int8) + np.int8(3 if not gates else 0)
    operands = [
        floats(5, 2, 6),
        int8(ways, 6, 4 * hidden),
        int8(ways, hidden, 4 * hidden),
        floats(ways, 8 * hidden),
        *(None, None, None, None),
        *(scales, zero, scales, zero),
    ]
    more = {"direction": direction, "hidden_size": hidden}
    compare("DynamicQuantizeLSTM", operands, ("y", "h", "c"), within=(0, 0.02), **more)
