"""Sizes of decoders."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.reference.language.shape import SMALL, rotary_frequencies, tensor_shapes


def test_the_small_model_suits_an_array_of_16():
    assert SMALL.head_width in {32, 64}
    assert 1_000_000 <= SMALL.parameters <= 3_000_000
    for size in tensor_shapes(SMALL).values():
        assert all(extent % 16 == 0 for extent in size)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"layers": 0}, "layers: 0 is not positive"),
        ({"heads": 3}, "heads: 3 do not divide a width of 128"),
        ({"key_heads": 3}, "key_heads: 3 do not divide 4 heads"),
        ({"heads": 128, "key_heads": 1}, "a head of 1 elements has no two halves"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **sizes)


def test_the_first_pair_turns_by_a_radian_and_the_others_ever_slower():
    found = rotary_frequencies(SMALL.head_width)
    assert found[0] == 1
    assert len(found) == SMALL.head_width // 2
    ratios = found[1:] / found[:-1]
    np.testing.assert_allclose(ratios, 10_000 ** (-2 / SMALL.head_width))
