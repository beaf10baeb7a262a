"""Decoders in integers foretell nearly what float32 does."""

from dataclasses import replace

import numpy as np

from celosia.lab.training.compare import held_out_tokens
from celosia.lab.training.perplexity import score
from celosia.lab.training.scorers import float_scorer, integer_scorer
from celosia.sim.command.options.language import quantized_model
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES
from celosia.sw.reference.language.model_file import load_language_model
from tests.support.integer_models import SHAPE, quantized, tokens


def test_logits_are_near_those_of_float32():
    text = tokens(40, seed=9)
    exact = float_scorer(quantized().graph)(text)
    found = integer_scorer(quantized())(text)
    assert found.shape == exact.shape
    assert np.square(found - exact).mean() < 0.02 * np.square(exact).mean()


def test_a_step_has_to_read_its_weights_and_what_its_caches_hold():
    step = quantized().step([Text(9, 1)], CacheLayout(1, 30))
    width, hidden, keys = SHAPE.width, 48, 2 * 16
    layer = 2 * width * width + 2 * width * keys + 3 * width * hidden
    weights = 2 * layer + width * SHAPE.vocabulary
    assert step.least_bytes([Text(9)]) == weights + 10 * 2 * 2 * keys


def test_of_packed_weights_a_step_has_to_read_half():
    def least(choice: str) -> int:
        found = quantized(weights=WEIGHT_CHOICES[choice])
        return found.step([Text(9, 1)], CacheLayout(1, 30)).least_bytes([])

    last = SHAPE.width * SHAPE.vocabulary
    whole = least("int8")
    assert least("int4") == (whole - last) // 2 + last
    assert least("int4-vocabulary") == whole // 2


def test_weights_that_several_products_read_are_read_once():
    step = quantized().step([Text(9, 1)], CacheLayout(1, 30))
    segments = tuple(
        replace(each, graph=replace(each.graph, ops=2 * each.graph.ops))
        for each in step.model.segments
    )
    twice = replace(step, model=replace(step.model, segments=segments))
    assert twice.least_bytes([Text(9)]) == step.least_bytes([Text(9)])


def test_the_projects_model_in_integers_foretells_as_well():
    model = load_language_model()
    context, text = model.weights.shape.context, held_out_tokens(model)[:2_561]
    found = quantized_model(model, None)
    exact = score(float_scorer(found.graph), text, context).perplexity
    ratio = score(integer_scorer(found), text, context).perplexity / exact
    assert 0.998 < ratio < 1.0025
