"""Units take operations in order, and hide what they can."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.bus import Bus
from celosia.sw.timeline.units import (
    ADDRESS_CYCLES,
    LOADED_CYCLES,
    LoadUnit,
    StoreUnit,
    TransformUnit,
    TransformWork,
)

BASE = PRESETS["base"]


def bus(**timing):
    return Bus(BASE, MemoryTiming(**timing))


def work(rows=32, **more):
    steps = 8 * rows
    given = {"steps": steps, "cycles": steps, "accesses": (), "rows": rows, "slots": range(rows)}
    return TransformWork(**given | more)


def test_loads_that_follow_each_other_pay_the_latency_once():
    for latency in (40, 100):
        line = bus(latency=latency)
        unit = LoadUnit(BASE, line)
        move = line.read(64, 64, 64)
        ends = [unit.take(0, move, 64, (0, 256), None) for _ in range(4)]
        assert [end - ends[0] for end in ends] == [0, 256, 512, 768]
        assert latency + 256 < ends[0] < latency + 256 + 20


def test_short_bursts_are_bound_by_how_many_are_in_flight():
    line = bus(latency=320)
    unit = LoadUnit(BASE, line)
    move = line.read(1000, 16, 64)
    assert unit.take(0, move, 1000, (0, 1000), None) > 1000 * 320 / 32


def test_a_burst_waits_for_the_end_of_a_certain_one():
    """As many as may be on their way go at once, the next one behind the first one's end."""
    line = bus(latency=150)
    unit = LoadUnit(BASE, line)
    move = line.read(BASE.read_requests, 16, 64)
    first = unit.take(0, move, 1, (0, 1), None)
    assert first - LOADED_CYCLES == ADDRESS_CYCLES + 150 + BASE.read_requests
    second = unit.take(0, line.read(1, 16, 64), 1, (0, 1), None)
    assert second - LOADED_CYCLES == ADDRESS_CYCLES + 150 + 1 + 150 + 1


def test_a_store_ends_a_latency_after_its_rows_are_read():
    for latency in (40, 100):
        line = bus(latency=latency)
        unit = StoreUnit(BASE, line)
        read, end = unit.take(0, line.write(64, 64, 64), 256, 0, Banks(4096, 4))
        assert 256 - 64 <= read <= 260
        assert latency + 256 < end < latency + 256 + 30


def test_facts_are_derived_row_by_row():
    unit = TransformUnit()
    begin, end = unit.begin(0, work(finishes=True, squares=True))
    unit.finish(work(finishes=True, squares=True), begin, end)
    waits, _ = unit.begin(0, work(facts=True))
    assert 32 * 32 < waits < 32 * 32 + 150
    other = work(rows=1, slots=range(100, 101), facts=True)
    assert unit.begin(0, other)[0] == end


@pytest.mark.parametrize("scalings", [0, 1, 2])
def test_results_leave_the_lanes_part_by_part(scalings):
    read, end = TransformUnit().finish(work(last_part=3, scalings=scalings), 0, 100)
    assert (read, end) == (98, 100 + 22 + 10 * scalings)


def test_steps_are_as_far_apart_as_their_results_have_words():
    begin, end = TransformUnit().begin(0, work(cycles=500))
    assert end - begin == 501
