"""What a TRANSFORM finds in the slots of rows before anything was put there."""

from dataclasses import fields

import numpy as np
import pytest

from celosia.isa.functions.operands import Statistics

RANGES = {
    "maximum": (-(2**31), 2**31 - 1),
    "total": (-(2**31), 2**31 - 1),
    "squares": (0, 2**48 - 1),
    "mean": (-(2**16), 2**16 - 1),
    "reciprocal": (0, 2**32 - 1),
}
"""What each register can hold: 32 bits signed twice, 48 unsigned, 17 signed, 32 unsigned."""


@pytest.mark.parametrize("name", RANGES)
def test_garbage_is_all_that_a_register_can_hold(name):
    """Of 4,096 values, some are within a hundredth of either end."""
    found = getattr(Statistics.garbage(4096, np.random.default_rng(5)), name).astype(np.int64)
    low, high = RANGES[name]
    part = (high - low) // 100
    assert low <= found.min() < low + part
    assert high - part < found.max() <= high


def test_registers_begin_with_zeros_and_each_has_a_range():
    zeros = Statistics.zeros(3)
    assert {field.name for field in fields(Statistics)} == RANGES.keys()
    for name in RANGES:
        values = getattr(zeros, name)
        assert values.shape == (3,)
        assert not values.any()


def test_slots_are_a_view():
    whole = Statistics.garbage(8, np.random.default_rng(1))
    part = whole.slots(2, 3)
    for name in RANGES:
        getattr(part, name)[:] = 7
        changed = getattr(whole, name) == 7
        assert list(np.flatnonzero(changed)) == [2, 3, 4]
