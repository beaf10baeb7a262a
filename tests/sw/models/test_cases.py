"""Seeded cases: each computes something, and the same for the same seed."""

from functools import cache
from math import erf

import numpy as np
import pytest

from celosia.sw.ir.graph import Mask
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    encoder_case,
    encoder_layer_case,
    layernorm_case,
    matmul_case,
    multiply_case,
    random_quantized_encoder,
    residual_case,
    rmsnorm_case,
    rotate_case,
    softmax_case,
)
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=32, heads=4, hidden=64)


@cache
def model(seed):
    return random_quantized_encoder(SHAPE, seed)


CASES = {
    "matmul": lambda seed: matmul_case(9, 20, 33, seed),
    "softmax": lambda seed: softmax_case(9, 20, seed),
    "softmax of int16": lambda seed: softmax_case(9, 20, seed, kind="int16"),
    "gelu": lambda seed: activation_case("gelu", 9, 20, seed),
    "residual": lambda seed: residual_case(9, 20, seed),
    "layernorm": lambda seed: layernorm_case(9, 20, seed),
    "attention": lambda seed: attention_case(2, 9, 16, seed),
    "encoder layer": lambda seed: encoder_layer_case(
        random_quantized_encoder(SHAPE, seed), [9], seed
    ),
    "encoder": lambda seed: encoder_case(model(seed), [4, 5], seed),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_a_case_is_that_of_its_seed(make):
    case, same, other = make(3), make(3), make(4)
    assert str(case.graph) == str(same.graph)
    results = [interpret(one.graph, one.inputs) for one in (case, same, other)]
    for name in case.graph.outputs:
        first, again, different = (values[name] for values in results)
        assert (first == again).all()
        assert (first != different).any()


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_results_use_their_range(make):
    case = make(3)
    values = interpret(case.graph, case.inputs)
    for name in case.graph.outputs:
        largest = np.iinfo(values[name].dtype).max
        assert len(np.unique(values[name])) > 15
        assert (values[name] == largest).mean() < 0.2


def test_inputs_differ_between_texts_of_different_seeds():
    one, other = (encoder_case(model(0), [4], seed).inputs["embedding.wide"] for seed in (1, 2))
    assert (one != other).any()


ROWS, COLS = 24, 40


def outputs(case):
    """The results as floats: integers of few bits would wrap."""
    values = interpret(case.graph, case.inputs)
    return {name: values[name].astype(float) for name in case.graph.outputs}


def causal_softmax(scores, *, causal):
    seen = np.tril(np.ones(scores.shape)) if causal else np.ones(scores.shape)
    weights = np.where(seen > 0, np.exp(scores - scores.max(axis=1, keepdims=True)), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def test_a_product_is_that_of_real_numbers():
    """Bias is below 4,096 of either sign; results have half of the spread of operands, or all."""
    case = matmul_case(ROWS, COLS, 64, 5)
    values = outputs(case)
    constants = case.graph.constants
    assert np.abs(constants["bias"]).max() <= 4096
    assert constants["bias"].std() == pytest.approx(8192 / 12**0.5, rel=0.25)
    sums = case.inputs["a"].astype(int) @ constants["b"].astype(int) + constants["bias"]
    assert np.abs(values["out"] - np.clip(sums * constants["scale"], -128, 127)).max() <= 0.51
    for operand in (case.inputs["a"], constants["b"]):
        assert operand.std() == pytest.approx(40, rel=0.1)
    factors = constants["scale"] * 40 * 64**0.5
    assert (factors.min(), factors.max()) == pytest.approx((0.5, 1), rel=0.1)


@pytest.mark.parametrize(("kind", "one"), [("uint8", 255), ("int16", 32767)])
def test_a_softmax_is_that_of_scores_with_a_spread_of_two(kind, one):
    case = softmax_case(ROWS, COLS, 5, kind=kind)
    scores = case.inputs["source"] * 1e-4
    assert scores.std() == pytest.approx(2, rel=0.06)
    shares = causal_softmax(scores, causal=False)
    assert np.abs(outputs(case)["out"] / one - shares).max() < 0.006


def test_a_masked_softmax_hides_later_columns():
    case = softmax_case(ROWS, ROWS, 5, mask=Mask(causal=True))
    found = outputs(case)["out"]
    assert not np.triu(found, 1).any()
    shares = causal_softmax(case.inputs["source"] * 1e-4, causal=True)
    assert np.abs(found / 255 - shares).max() < 0.006


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(erf)(x / 2**0.5))


def silu(x):
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("function", "curve", "least"), [("gelu", gelu, -0.17), ("silu", silu, -0.278)]
)
def test_a_curve_is_that_of_numbers_up_to_six(function, curve, least):
    """Of numbers with a spread of 1; uint8 reaches from the curve's least number to 6."""
    case = activation_case(function, ROWS, COLS, 5)
    x = case.inputs["source"] * 1e-4
    assert x.std() == pytest.approx(1, rel=0.06)
    step = (6 - least) / 255
    real = (outputs(case)["out"] - round(-least / step)) * step
    assert np.abs(real - np.minimum(curve(x), 6)).max() < 0.03


def test_a_residual_is_the_sum_of_both_in_their_steps():
    case = residual_case(ROWS, COLS, 5)
    source, stream = case.inputs["source"] * 1e-4, case.inputs["stream"] * 2e-4
    assert (source.std(), stream.std()) == pytest.approx((1, 1), rel=0.06)
    assert np.abs(outputs(case)["out"] * 3e-4 - source - stream).max() < 4e-4


@pytest.mark.parametrize(("make", "rms"), [(layernorm_case, False), (rmsnorm_case, True)])
def test_a_norm_is_that_of_real_numbers(make, rms):
    """A column's factor is near 1, what is added near 0; both outputs are one norm."""
    case = make(64, COLS, 5)
    x = case.inputs["source"].astype(float)
    assert x.std() == pytest.approx(2000, rel=0.06)
    centered = x if rms else x - x.mean(axis=1, keepdims=True)
    # Epsilon is a hundredth of the mean square, in sums of squares of rows.
    squares = (centered**2).mean(axis=1, keepdims=True) + rms * 2000**2 / 100
    normal, values = centered / squares**0.5, outputs(case)
    small, wide = values["small"] * 4 / 127, values["wide"] * 8 / 32767
    assert np.abs(small - np.clip(wide, -4.04, 4)).max() < 0.035
    fits = [np.polyfit(normal[:, col], wide[:, col], 1) for col in range(COLS)]
    gamma, beta = np.array(fits).T
    assert np.abs(wide - normal * gamma - beta).max() < 0.005
    assert (gamma.mean(), gamma.std()) == pytest.approx((1, 0.1), abs=0.05)
    assert (beta.mean(), beta.std()) == pytest.approx((0, 0.1), abs=0.05)


def test_a_product_of_elements_fills_int8():
    """A product of four standard deviations of each is 127."""
    case = multiply_case(ROWS, COLS, 5)
    gate, up = (case.inputs[name].astype(float) for name in ("gate", "up"))
    assert (gate.std(), up.std()) == pytest.approx((2000, 2000), rel=0.06)
    assert np.abs(outputs(case)["out"] - np.clip(gate * up * 127 / 8000**2, -128, 127)).max() < 0.6


def test_a_rotation_is_by_the_angles_of_its_position():
    """Rows are positions from 0 on; four standard deviations are 127."""
    case = rotate_case(ROWS, 16, 5)
    x = case.inputs["source"].astype(float)
    angles = np.arange(ROWS)[:, np.newaxis] * 10_000 ** -(np.arange(8) / 8)
    turned = (x[:, :8] + 1j * x[:, 8:]) * np.exp(1j * angles)
    real = np.concatenate([turned.real, turned.imag], axis=1) * 127 / 8000
    assert np.abs(outputs(case)["out"] - real).max() < 0.7


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dithered", [False, True])
def test_attention_is_that_of_each_head(causal, dithered):
    """Scores have a spread of 2; twice the mean of values, by the head's own columns."""
    case = attention_case(2, ROWS, 16, 5, mask=Mask(causal=causal), dithered=dithered)
    found = outputs(case)["context"]
    for head in range(2):
        q, k, v = (
            case.inputs[name][:, 16 * head : 16 * head + 16].astype(float)
            for name in ("query", "key", "value")
        )
        scores = q @ k.T * 2 / (40**2 * 16**0.5)
        assert scores.std() == pytest.approx(2, rel=0.2)
        real = causal_softmax(scores, causal=causal) @ v
        assert np.abs(found[:, 16 * head : 16 * head + 16] - np.clip(2 * real, -128, 127)).max() < 2
