"""Scores whose tanh is left out where calibration shows that a factor does."""

import numpy as np
import pytest

from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.caps import CapFit
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, run_model

CAP = 5.0
HIDDEN = np.triu(np.full((6, 6), -np.inf), 1)


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def scores(size):
    return size * np.random.default_rng(0).standard_normal((6, 6))


def fit_of(size):
    fit = CapFit(CAP)
    fit.take(scores(size), HIDDEN)
    return fit


@pytest.mark.parametrize("size", [0.1, 0.5, 1.0])
def test_the_error_is_that_of_weights(size):
    """As shares of weights, each counted by it: what is left of a softmax by the factor."""
    fit, given = fit_of(size), scores(size)
    weights = softmax(CAP * np.tanh(given / CAP) + HIDDEN)

    def error(factor):
        shares = softmax(factor * given + HIDDEN) / np.where(weights, weights, 1) - 1
        return (weights * shares**2).sum(axis=1).mean()

    assert error(fit.factor) == pytest.approx(fit.error, rel=0.3)
    assert error(fit.factor) < min(error(fit.factor * 1.05), error(fit.factor / 1.05))
    assert fit.top == np.abs(given[np.isfinite(HIDDEN)]).max()


def test_scores_near_the_cap_do_not_fit():
    assert [fit_of(size).fits for size in (0.1, 0.5, 2.0, 10.0)] == [True, True, False, False]


def test_a_row_that_sees_no_key_counts_for_nothing():
    fit = CapFit(CAP)
    fit.take(scores(3), np.full((6, 6), -np.inf))
    assert (fit.factor, fit.error, fit.top) == (1, 0, 0)
    fit.take(scores(0.5), HIDDEN)
    assert (fit.factor, fit.error) == (fit_of(0.5).factor, fit_of(0.5).error)


def graph(cap):
    """One head of an attention to rows of an input."""
    builder, random = GraphBuilder("test"), np.random.default_rng(1)
    x = builder.input("x", TensorType("float32", (1, 8, 16)))
    heads = []
    for _ in range(3):
        weights = builder.constant(random.standard_normal((16, 16), np.float32) / 4)
        product = builder.op("matmul", x, weights)
        heads.append(builder.op("reshape", product, shape=(1, 1, 8, 16)))
    attributes = {"scale": 0.25, "causal": True, "first_query": 0, "cap": cap}
    return builder.finish({"y": builder.op("attention", *heads, name="a", **attributes)})


@pytest.mark.parametrize("cap", [500.0, 1.0])
def test_the_host_computes_what_no_factor_does(cap):
    made = graph(cap)
    draw = np.random.default_rng(2).standard_normal
    formats = calibrate(lambda _: made, [{"x": draw((1, 8, 16), np.float32)} for _ in range(4)])
    model, given = instantiate(made, formats), {"x": draw((1, 8, 16), np.float32)}
    (real,) = interpret(made, given).values()
    assert decibels(real, run_model(model, given).outputs["y"]) > 25
    (note,) = formats.notes
    if cap > 100:
        assert set(formats.caps) == {"a"}
        assert 0.99 < formats.caps["a"] < 1
        assert not model.host_operators["attention"]
        assert note.startswith("scores below a cap of 500 are multiplied by a number instead")
    else:
        assert (formats.caps, model.host_operators["attention"]) == ({}, 1)
        assert note.startswith("a: its scores reach ")
        assert note.endswith("dB of their weights, less than 30, so the host computes it")
