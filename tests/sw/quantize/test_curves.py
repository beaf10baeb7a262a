"""Curves by the function and the factor that lose least."""

import numpy as np
import pytest

from celosia.sw.quantize.curves import ALPHAS, Computed, choose_curve, real_curve

NORMAL = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)


def lost(function, computed, x):
    real = real_curve(function, x.astype(np.float64))
    return 10 * np.log10(np.square(real).sum() / np.square(computed(x) - real).sum())


@pytest.mark.parametrize("spread", [0.2, 0.3, 0.5, 1, 2, 3])
def test_gelu_loses_little_of_normal_numbers(spread):
    x = NORMAL * np.float32(spread)
    chosen = choose_curve("gelu", 1.0, x)
    assert lost("gelu", chosen, x) > 33
    assert lost("gelu", chosen, x) >= lost("gelu", Computed("gelu"), x)


def test_what_the_factor_is_depends_on_how_large_operands_are():
    small, usual = (choose_curve("gelu", 1.0, NORMAL * np.float32(s)) for s in (0.1, 1))
    assert (small.function, small.alpha) == ("silu", ALPHAS[0])
    assert small.alpha < usual.alpha


@pytest.mark.parametrize("spread", np.arange(0.2, 2, 0.2).round(1).tolist())
def test_the_factors_are_so_close_that_another_one_gains_little(spread):
    """Between where GELU is curved most, 1.596, and its best factor anywhere, 1.702, and beyond."""
    x = np.random.default_rng(1).uniform(-spread, spread, (100, 40)).astype(np.float32)
    best = max(lost("gelu", Computed("silu", alpha), x) for alpha in np.arange(1.58, 1.8, 0.01))
    assert lost("gelu", choose_curve("gelu", 1.0, x), x) > best - 0.65


def test_operands_that_are_too_large_for_silu_are_left_to_the_polynomial():
    x = NORMAL.copy()
    x[0, 0] = 15
    assert choose_curve("gelu", 1.0, x) == Computed("gelu")


def test_silu_keeps_its_factor():
    chosen = choose_curve("silu", 1.25, NORMAL)
    assert chosen == Computed("silu", 1.25)
    assert chosen(np.array([1.0])) == pytest.approx(1 / (1 + np.exp(-1.25)), abs=1e-3)
