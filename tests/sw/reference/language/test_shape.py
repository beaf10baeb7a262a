"""Sizes of decoders."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.reference.language.shape import SMALL, LayerShape, rotary_frequencies, tensor_shapes
from tests.support.language import UNLIKE

LAYER = LayerShape(heads=4, key_heads=2, head_width=32, hidden=384)


def test_the_small_model_suits_an_array_of_16():
    assert {layer.head_width for layer in SMALL.layers} == {32}
    assert 1_000_000 <= SMALL.parameters <= 3_000_000
    for size in tensor_shapes(SMALL).values():
        assert all(extent % 16 == 0 for extent in size)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"layers": ()}, "layers: there are none"),
        ({"width": 0}, "width: 0 is not positive"),
        ({"layers": (LAYER, replace(LAYER, head_width=3))}, "layer 1: a head of 3 elements has no"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **sizes)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"heads": 0}, "heads: 0 is not positive"),
        ({"hidden": -1}, "hidden: -1 is not positive"),
        ({"key_heads": 3}, "key_heads: 3 do not divide 4 heads"),
    ],
)
def test_a_layer_whose_sizes_do_not_fit_is_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        replace(LAYER, **sizes)


def test_each_layer_has_tensors_of_its_own_sizes():
    found = tensor_shapes(UNLIKE)
    names = ("query", "key", "value", "output", "gate", "up", "down")
    assert [found[f"1.{name}"] for name in names] == [
        (16, 24),
        (16, 8),
        (16, 8),
        (24, 16),
        (16, 40),
        (16, 40),
        (40, 16),
    ]
    assert found["2.query"] == found["2.key"] == (16, 4)
    assert UNLIKE.parameters == sum(int(np.prod(size)) for size in found.values())


def test_the_first_pair_turns_by_a_radian_and_the_others_ever_slower():
    found = rotary_frequencies(LAYER.head_width)
    assert found[0] == 1
    assert len(found) == LAYER.head_width // 2
    ratios = found[1:] / found[:-1]
    np.testing.assert_allclose(ratios, 10_000 ** (-2 / LAYER.head_width))
