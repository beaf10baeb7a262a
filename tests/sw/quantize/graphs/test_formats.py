"""Formats turn numbers into integers and back, and count what they clip."""

import numpy as np
import pytest

from celosia.lab.exports.writing.size import SMALL
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.units.values import Form
from tests.support.quantized_exports import quantized


def test_integers_are_clipped_counted_and_scaled_back():
    found = Format("int8", np.array([0.5, 2.0]))
    whole, clipped = found.integers(np.array([[1.2, -1000.0], [np.nan, 7.0]], np.float32))
    assert whole.tolist() == [[2, -127], [0, 4]]  # 3.5 steps, to even.
    assert clipped == 2
    assert found.numbers(whole).tolist() == [[1.0, -254.0], [0.0, 8.0]]
    assert not np.isnan(found.steps).any()


def test_a_zero_point_stands_for_zero():
    found = Format("uint8", np.full(3, 0.1), 10)
    whole, clipped = found.integers(np.array([[0.0, -2.0, 3.0]]))
    assert (whole.tolist(), clipped) == ([[10, 0, 40]], 1)
    assert found.numbers(whole) == pytest.approx(np.array([[0.0, -1.0, 3.0]]))


def test_what_is_added_to_scores_never_wraps_them():
    found = Format("int32", np.array([0.5, 0.5]))
    whole, _ = found.integers(np.array([[-np.inf, np.finfo(np.float32).min], [3.0, np.inf]]))
    assert whole.dtype == np.int32
    assert whole.tolist() == [[-(1 << 30), -(1 << 30)], [6, 1 << 30]]


def test_each_head_has_steps_of_its_own_and_values_smoothed_columns():
    model = quantized("gpt2")
    form = next(form for form in model.formats if form.role == "heads")
    queries, keys, values = np.split(model.formats[form].steps, 3)
    for part in (queries, keys, values):
        heads = np.split(part, SMALL.heads)
        assert len({head[0] for head in heads}) == len(heads)
    assert len(set(values)) == values.size


def test_what_is_behind_gelu_is_uint8_with_a_zero_point():
    model = quantized("bert-17")
    formats = [found for found in model.formats.values() if found.type == "uint8"]
    assert len(formats) == 2
    assert all(0 < found.zero_point < 128 for found in formats)
    wide = [found for form, found in model.formats.items() if form.role == "wide"]
    assert all(found.type == "int16" and found.step > 0 for found in wide)
    assert Form("none", "wide") not in model.formats
