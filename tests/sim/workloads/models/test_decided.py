"""What plans of a saved model were decided for, and how other hardware differs."""

import json
from dataclasses import replace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.workloads.models.decided import Decided

TINY, TIMING = PRESETS["tiny"], MemoryTiming(latency=50, bytes_per_cycle=8, stall_percent=10)
DECIDED = Decided.on(TINY, TIMING, ())


@pytest.mark.parametrize(
    ("name", "before", "now"),
    [
        ("latency", 50, 51),
        ("bytes_per_cycle", 8, 4),
        ("stall_percent", 10, 0),
        ("reorder", False, True),
        ("ready_after_valid", False, True),
    ],
)
def test_what_plans_depend_on_of_a_memory_is_told(name, before, now):
    """All but seed and faults."""
    told = DECIDED.difference(TINY, replace(TIMING, **{name: now}))
    assert told == f"memory {name} = {before}, not {now}"
    again = Decided.read(*DECIDED.document("programs/"), "programs/")
    assert again.difference(TINY, replace(TIMING, **{name: now})) == told


def test_stalls_of_one_channel_are_a_difference():
    timing = replace(TIMING, channel_stalls=(("r", 90),))
    told = "memory channel_stalls = {}, not {'r': 90}"
    assert DECIDED.difference(TINY, timing) == told
    found, members = Decided.on(TINY, timing, ()).document("programs/")
    again = Decided.read(json.loads(json.dumps(found)), members, "programs/")
    assert again.difference(TINY, timing) == ""


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
