"""Decoders in integers foretell nearly what float32 does."""

import numpy as np
import pytest

from celosia.lab.training.compare import held_out_tokens
from celosia.sw.decoding.scorers import integer_scorer
from celosia.sw.models.integer_decoder import BURST_COLUMNS
from celosia.sw.models.quantized_decoder import quantize_decoder
from celosia.sw.reference.language.calibration import load_calibration
from celosia.sw.reference.language.decoder import Cache, forward
from celosia.sw.reference.language.model_file import load_language_model
from celosia.sw.reference.language.perplexity import float_scorer, score
from tests.support.integer_models import SHAPE, quantized, tokens, weights


def test_logits_are_near_those_of_float32():
    text = tokens(40, seed=9)
    exact = forward(weights(), text, Cache(SHAPE, len(text)))
    found = integer_scorer(quantized())(text)
    assert found.shape == exact.shape
    assert np.square(found - exact).mean() < 0.02 * np.square(exact).mean()


def test_columns_of_the_vocabulary_are_whole_bursts():
    columns = quantized().decoder.tensors["vocabulary.weights"]
    assert columns.shape == (SHAPE.width, BURST_COLUMNS)
    assert not columns[:, SHAPE.vocabulary :].any()


def test_tensors_have_the_types_that_graphs_want():
    for name, value in quantized().decoder.tensors.items():
        kind = {"weights": "int8", "bias": "int32", "scale": "float32", "gamma": "int16"}
        assert value.dtype == kind.get(name.rsplit(".", 1)[1], value.dtype), name


def test_the_projects_model_in_integers_foretells_as_well():
    model = load_language_model()
    shape, text = model.weights.shape, held_out_tokens(model)[:2_561]
    found = quantize_decoder(model.weights, load_calibration(None, shape.vocabulary, shape.context))
    exact = score(float_scorer(model.weights), text, shape.context).perplexity
    assert score(integer_scorer(found), text, shape.context).perplexity == pytest.approx(
        exact, rel=0.01
    )
