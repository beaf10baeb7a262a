"""Weights have the statistics that they state."""

import numpy as np
import onnx
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.exports.writing.weights import LARGE, LARGE_SHARE, SCORE_SPREAD, Weights
from tests.support.onnx_runtime import run_session, runtime_session

WIDTH = 1000


def test_half_a_percent_of_the_channels_are_large():
    weights = Weights(0, WIDTH)
    assert len(weights.large) == LARGE_SHARE * WIDTH == 5
    for matrix in (weights.embedding("words", 400), weights.joining("down", 400)):
        spreads = matrix.std(axis=0)
        ratio = spreads[weights.large].mean() / np.median(spreads)
        assert ratio == pytest.approx(LARGE, rel=0.1)


def test_gammas_are_log_normal():
    logarithms = np.log(Weights(0, WIDTH).gamma("norm"))
    assert logarithms.mean() == pytest.approx(0, abs=0.03)
    assert logarithms.std() == pytest.approx(0.25, rel=0.1)


def test_a_weight_depends_on_its_name_and_seed_alone():
    weights = Weights(0, 8)
    weights.bias("another")
    np.testing.assert_array_equal(weights.bias("bias"), Weights(0, 8).bias("bias"))
    assert (weights.bias("bias") != Weights(1, 8).bias("bias")).any()
    assert (weights.bias("bias") != weights.bias("another")).any()


@pytest.mark.parametrize("scale", [1, 8])
def test_scores_have_the_spread_that_is_stated(scale):
    weights, tokens = Weights(0, WIDTH), 200
    normed = np.random.default_rng(0).standard_normal((tokens, WIDTH)) * weights.gamma("norm")
    queries, keys = (normed @ weights.scoring(name, 64, scale) for name in ("query", "key"))
    scores = queries @ keys.T * scale / np.sqrt(64)
    assert scores.std() == pytest.approx(SCORE_SPREAD, rel=0.1)


@pytest.mark.parametrize("name", ["bert-13", "gpt2", "t5-encoder", "llama", "whisper-encoder"])
def test_attention_is_neither_flat_nor_sharp(name):
    model = EXPORTS[name].build(SMALL)
    softmax = [node.output[0] for node in model.graph.node if node.op_type == "Softmax"]
    values = [onnx.helper.make_tensor_value_info(value, 1, None) for value in softmax]
    model.graph.output.extend(values)
    session = runtime_session(model)
    for rows in run_session(session, EXPORTS[name].inputs(SMALL, 0, tokens=40), softmax):
        keys = (rows > 0).sum(axis=-1)
        entropy = -(rows * np.log(np.maximum(rows, 1e-30))).sum(axis=-1)
        share = entropy[keys > 8] / np.log(keys[keys > 8])
        assert 0.5 < share.mean() < 0.95
