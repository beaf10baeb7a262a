"""Random operands: of their spread, and cut off where a type ends."""

import numpy as np
import pytest

from celosia.sw.models.random_operands import int8_matrix, int16_matrix


def test_int8_is_symmetric_and_has_a_spread_of_forty():
    values = int8_matrix(np.random.default_rng(1), 200, 100).astype(float)
    assert (values.min(), values.max()) == (-127, 127)
    assert (values.mean(), values.std()) == pytest.approx((0, 40), abs=0.7)


def test_int16_uses_both_ends():
    values = int16_matrix(np.random.default_rng(1), 100, 100, 20_000).astype(float)
    assert (values.min(), values.max()) == (-32768, 32767)
    assert int16_matrix(np.random.default_rng(1), 100, 100, 50).std() == pytest.approx(50, rel=0.03)
