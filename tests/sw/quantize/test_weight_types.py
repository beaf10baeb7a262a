"""Weights of four bits: quantized, emitted, saved, and refused where they cannot be."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.quantize.graphs.files.formats_document import formats_document, read_formats
from celosia.sw.quantize.graphs.files.saved_file import SavedFile
from celosia.sw.quantize.linear import quantize_linear, searched_steps, weight_steps
from celosia.sw.quantize.rounding import correlation
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES, largest_weight
from celosia.sw.reference.encoder import Linear
from tests.support.integer_models import quantized

INT4 = WeightType.INT4


def test_the_largest_weight_has_a_sign():
    assert [largest_weight(kind) for kind in (WeightType.INT8, INT4)] == [127, 7]


def test_gptq_loses_less_than_rounding_each_weight():
    random = np.random.default_rng(2)
    x = (random.normal(size=(400, 24)) @ random.normal(size=(24, 24))).astype(np.float32)
    linear = Linear(random.normal(size=(24, 10)).astype(np.float32), np.zeros(10, np.float32))
    exact, errors = x @ linear.weights, []
    for inputs in (None, correlation(x)):
        found = quantize_linear(linear, 1.0, 0, inputs, kind=INT4)
        assert found.kind is INT4
        assert np.abs(found.weights).max() == 7
        errors.append(np.square(x @ (found.weights * found.steps) - exact).mean())
    assert errors[1] < 0.8 * errors[0]


def test_of_few_steps_the_searched_ones_lose_least():
    random, most = np.random.default_rng(3), 7
    weights = random.normal(size=(200, 6))
    weights[:, 5] = 0

    def lost(steps: np.ndarray) -> np.ndarray:
        kept = np.clip(np.rint(weights / steps), -most, most) * steps
        return np.square(kept - weights).sum(axis=0)

    whole, found = weight_steps(weights, most), searched_steps(weights, most)
    assert (lost(found)[:5] < 0.9 * lost(whole)[:5]).all()
    assert np.isfinite(found).all()
    assert (found > 0).all()
    assert all((lost(found) <= lost(whole * share) + 1e-9).all() for share in (0.65, 0.8, 0.9))


def kinds(choice: str) -> dict[str, WeightType]:
    formats = quantized(weights=WEIGHT_CHOICES[choice]).formats
    return {name: linear.kind for name, linear in formats.integers.items()}


def test_the_vocabularys_product_is_packed_only_when_that_is_asked_for():
    inner, whole = kinds("int4"), kinds("int4-vocabulary")
    assert [name for name, kind in inner.items() if kind is WeightType.INT8] == ["logits"]
    assert set(whole.values()) == {INT4}
    assert set(kinds("int8").values()) == {WeightType.INT8}


def test_a_saved_model_keeps_what_is_packed():
    formats, saved = quantized(weights=WEIGHT_CHOICES["int4"]).formats, SavedFile()
    document = formats_document(formats, saved)
    found = read_formats(document, saved)
    assert {name: each.kind for name, each in found.integers.items()} == {
        name: each.kind for name, each in formats.integers.items()
    }
    name = next(iter(document["packed"]))
    with pytest.raises(GraphError, match=f"{name}: 'int5' is no type of weights"):
        read_formats(document | {"packed": {name: "int5"}}, saved)
    with pytest.raises(GraphError, match=r"logits: weights of int4 are not in -7\.\.7"):
        read_formats(document | {"packed": {"logits": "int4"}}, saved)


def test_of_inputs_with_means_the_bias_makes_good_what_weights_lose():
    random = np.random.default_rng(5)
    x = (random.normal(size=(400, 24)) + 3 * random.normal(size=24)).astype(np.float32)
    linear = Linear(random.normal(size=(24, 10)).astype(np.float32), np.ones(10, np.float32))
    exact, errors = x @ linear.weights + 1, []
    for centered in (False, True):
        whole = np.rint(x / 0.01)
        inputs = correlation(whole.astype(np.float32), centered=centered)
        found = quantize_linear(linear, 0.01, 0, inputs, kind=INT4)
        y = (whole @ found.weights + found.bias) * found.steps
        errors.append(np.square(y - exact).mean())
        lost = (y - exact).mean(axis=0)
    assert np.abs(lost).max() < found.steps.max(), "no column is off by more than its step"
    assert errors[1] < errors[0]
