"""What plans of a saved model were decided for, and how other hardware differs."""

from dataclasses import replace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.workloads.models.decided import Decided

TINY, TIMING = PRESETS["tiny"], MemoryTiming(latency=50, bytes_per_cycle=8, stall_percent=10)
DECIDED = Decided.on(TINY, TIMING, ())


@pytest.mark.parametrize(
    ("name", "before", "now"),
    [("latency", 50, 51), ("bytes_per_cycle", 8, 4), ("stall_percent", 10, 0)],
)
def test_what_plans_depend_on_of_a_memory_is_told(name, before, now):
    """The timeline reads latency, rate and stalls."""
    told = DECIDED.difference(TINY, replace(TIMING, **{name: now}))
    assert told == f"memory {name} = {before}, not {now}"
    again = Decided.read(*DECIDED.document("programs/"), "programs/")
    assert again.difference(TINY, replace(TIMING, **{name: now})) == told


def test_every_difference_is_told():
    other = TINY.with_values({"dim": 2, "vector_lanes": 2})
    told = DECIDED.difference(other, replace(TIMING, latency=7)).split(", not ")
    assert len(told) == 4
    assert told[0] == "dim = 4"
    assert told[-1] == "7"


def test_another_seed_is_no_difference():
    assert DECIDED.difference(TINY, replace(TIMING, seed=9)) == ""
    again = Decided.read(*DECIDED.document("programs/"), "programs/")
    assert again.difference(TINY, TIMING) == ""
