"""Norms in integers: gamma and beta over one power of two, as large as both types allow."""

from typing import Any

import numpy as np
import pytest

from celosia.sw.quantize.norm import least_growth, quantize_norm
from celosia.sw.reference.encoder import Norm


def quantized(gamma, beta, steps: Any = 1.0):
    found = quantize_norm("n", Norm(np.array(gamma, float), np.array(beta, float)), steps)
    assert found["n.gamma"].dtype == np.int16
    assert found["n.beta"].dtype == np.int32
    return (found["n.gamma"].tolist(), found["n.beta"].tolist(), int(found["n.shift"]))


def test_the_number_of_columns_and_the_fraction_are_in_gamma():
    # Of 4 columns the root is 2; 16 fraction bits: 1 is 2 / 2^16, which 2^29 makes 2^14.
    assert quantized([1, -1, 0.5, 0], [0, 1, -2, 0]) == (
        [[16384, -16384, 8192, 0]],
        [[0, 1 << 29, -(1 << 30), 0]],
        29,
    )


def test_steps_of_outputs_divide_both():
    gamma, beta, shift = quantized([1, 1, 1, 1], [1, 1, 1, 1], np.array([0.5, 1, 2, 4]))
    assert shift == 28
    assert gamma == [[16384, 8192, 4096, 2048]]
    assert beta == [[1 << 29, 1 << 28, 1 << 27, 1 << 26]]


@pytest.mark.parametrize(
    ("gamma", "beta", "shift"),
    [
        # Of one column, gamma 2^16 is 1: 2^14 of it fit, 2^15 do not.
        (1 << 16, 0, 14),
        ((1 << 16) * 32767.0 / 32768, 0, 15),
        # Beta 2^20: 2^10 of it fit in 32 bits.
        (0, 1 << 20, 10),
        (0, 3, 29),
        (0, 0, 31),
        (1e-9, 1e-9, 31),
    ],
)
def test_the_shift_is_the_largest_with_which_both_fit(gamma, beta, shift):
    assert quantized([gamma], [beta])[2] == shift


def test_what_does_not_fit_is_refused():
    for gamma, beta in ((2.0**32, 0), (0, 2.0**32)):
        with pytest.raises(ValueError, match="n: gamma or beta does not fit its integer type"):
            quantized([gamma], [beta])


def norm_of(gamma: list[float], beta: list[float]) -> Norm:
    return Norm(np.array(gamma, np.float32), np.array(beta, np.float32))


@pytest.mark.parametrize(("gamma", "beta"), [(2.0**40, 0), (0, 2.0**33), (2.0**35, -(2.0**36))])
def test_what_does_not_fit_fits_in_steps_that_have_grown_and_not_in_much_smaller_ones(gamma, beta):
    norm = norm_of([gamma], [beta])
    growth = least_growth(norm, 1.0)
    assert quantize_norm("n", norm, growth)["n.shift"] == 0
    with pytest.raises(ValueError, match="n: gamma or beta does not fit its integer type"):
        quantize_norm("n", norm, 0.999 * growth)


def test_steps_with_which_both_fit_need_not_grow():
    assert least_growth(norm_of([1, -2], [3, 0]), 0.01) == 1
    assert least_growth(norm_of([0, 0], [0, 0]), 0.01) == 1
