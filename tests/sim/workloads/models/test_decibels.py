"""Decibels, by hand."""

import numpy as np
import pytest

from celosia.sim.workloads.models.decibels import decibels


@pytest.mark.parametrize(
    ("real", "found", "ratio"),
    [
        ([10, 0], [9, 0], 20),
        ([1, 1], [1, 2], 10 * np.log10(2)),
        ([100.0], [0.0], 0),
        ([1.0], [-1.0], -10 * np.log10(4)),
        ([1, 2], [1, 2], np.inf),
        ([0, 0], [1, 2], np.inf),
    ],
)
def test_signal_over_what_is_lost(real, found, ratio):
    assert decibels(np.array(real), np.array(found)) == pytest.approx(ratio)


def test_integers_do_not_wrap():
    assert decibels(np.array([100], np.int8), np.array([-100], np.int8)) == pytest.approx(
        -10 * np.log10(4)
    )
    assert decibels(np.array([200], np.uint8), np.array([220], np.uint8)) == pytest.approx(20)
