"""Cycles as time."""

import pytest

from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.measure import Measured, ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.times import Workload, time_us, us_for_the_clock

CELL = ModulePath("mesh", "", RegisterPath("a", "b", 9, 3.8, 0.2))
DECODER = ModulePath("decoder", "", RegisterPath("a", "b", 9, 4.9, 0.1))
WORKLOAD = Workload("a layer", 2_000_000)


def test_a_cycle_is_as_long_as_the_longest_path():
    measured = Measured("default", [CELL, DECODER])
    assert time_us(WORKLOAD, measured) == pytest.approx(10_000)
    # A multiply-add alone would allow cycles of 4 ns.
    assert us_for_the_clock(WORKLOAD, measured) == pytest.approx(2_000)


def test_paths_between_modules_count():
    measured = Measured(
        "default", [CELL, DECODER], [Between("c", "d", RegisterPath("a", "b", 9, 5.5, 0.5))]
    )
    assert time_us(WORKLOAD, measured) == pytest.approx(12_000)


def test_nothing_is_for_the_clock_where_no_multiply_add_is_known():
    assert us_for_the_clock(WORKLOAD, Measured("default", [DECODER])) is None
