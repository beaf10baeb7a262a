"""Moving range between factors of a product changes nothing but ranges."""

import numpy as np

from celosia.sw.quantize.smooth_decoder import observed, smoothed
from celosia.sw.reference.language.decoder import Cache, forward
from tests.support.integer_models import SHAPE, tokens, weights


def test_a_smoothed_decoder_is_the_same_function():
    text = tokens(30, seed=4)
    even = smoothed(weights(), observed(weights(), [text]), 0.5)
    logits = [forward(each, text, Cache(SHAPE, len(text))) for each in (weights(), even)]
    np.testing.assert_allclose(*logits, rtol=1e-3, atol=1e-3)
    assert any((even[name] != weights()[name]).any() for name in even.tensors)


def test_all_texts_are_observed():
    seen = observed(weights(), [tokens(5), tokens(7)])
    assert seen["0.query"].shape == (12, SHAPE.width)
    assert seen["output"].shape == (12, SHAPE.width)
