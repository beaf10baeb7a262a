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
    given = {
        "steps": steps,
        "cycles": steps,
        "accesses": (),
        "rows": rows,
        "slots": range(rows),
    }
    return TransformWork(**given | more)


def loaded(unit, move, rows=1):
    """When the rows of a load that nobody holds up may be read."""
    _, over = unit.take(0, move, round(move.bursts), rows)
    return unit.place(over, move)


def test_loads_that_follow_each_other_pay_the_latency_once():
    for latency in (40, 100):
        line = bus(latency=latency)
        unit = LoadUnit(BASE, line)
        move = line.read(64, 64, 64)
        ends = [loaded(unit, move, rows=256) for _ in range(4)]
        assert [end - ends[0] for end in ends] == [0, 256, 512, 768]
        assert latency + 256 < ends[0] < latency + 256 + 20


def test_short_bursts_are_bound_by_how_many_are_in_flight():
    line = bus(latency=320)
    unit = LoadUnit(BASE, line)
    move = line.read(1000, 16, 64)
    assert loaded(unit, move, rows=1000) > 1000 * 320 / 32


def test_a_burst_waits_for_the_end_of_a_certain_one():
    """As many as may be on their way go at once, the next one behind the first one's end."""
    line = bus(latency=150)
    unit = LoadUnit(BASE, line)
    move = line.read(BASE.read_requests, 16, 64)
    first = loaded(unit, move)
    assert first - LOADED_CYCLES == ADDRESS_CYCLES + 150 + BASE.read_requests
    second = loaded(unit, line.read(1, 16, 64))
    assert second - LOADED_CYCLES == ADDRESS_CYCLES + 150 + 1 + 150 + 1


def test_a_store_ends_a_latency_after_its_rows_are_read():
    for latency in (40, 100):
        line = bus(latency=latency)
        unit = StoreUnit(BASE, line)
        read, end = unit.take(0, line.write(64, 64, 64), 256, 0, Banks(4096, 4))
        assert 256 - 64 <= read <= 260
        assert latency + 256 < end < latency + 256 + 30


def test_a_narrow_store_waits_for_answers_to_those_on_their_way():
    """32 bursts of a beat at once; the next 32 when the first of these are answered: 44 cycles."""
    line = bus(latency=40)
    unit = StoreUnit(BASE, line)
    _, end = unit.take(0, line.write(64, 16, 64), 64, 0, Banks(4096, 4))
    assert end == 17 + 44 + 32 + 40


@pytest.mark.parametrize(
    ("parts", "cycles"), [(24, 24), (26, 26), (27, 53), (32, 58), (52, 78), (53, 105), (104, 182)]
)
def test_parts_of_two_turns_enter_in_groups(parts, cycles):
    """26 have their first turn, then these their second one, while no other has its first."""
    assert TransformUnit().begin(0, work(cycles=0, turning=parts)) == (1, 1 + cycles)


@pytest.mark.parametrize(("pause", "cycles"), [(0, 14), (5, 11 + 10 + 3), (16, 10 + 14), (26, 14)])
def test_a_transform_meets_the_turns_of_the_one_before(pause, cycles):
    """Ten parts, and 14 behind them; the second turns of the ten are from cycle 26 to 36."""
    unit = TransformUnit()
    begin, end = unit.begin(0, work(cycles=0, turning=10))
    unit.finish(work(), begin, end)
    begin, end = unit.begin(end - 1 + pause, work(cycles=0, turning=14))
    assert (begin, end - begin) == (11 + pause, cycles)


def test_facts_are_derived_row_by_row():
    unit = TransformUnit()
    begin, end = unit.begin(0, work(finishes=True, squares=True))
    unit.finish(work(finishes=True, squares=True), begin, end)
    waits, _ = unit.begin(0, work(facts=True))
    assert 32 * 32 < waits < 32 * 32 + 150
    other = work(rows=1, slots=range(100, 101), facts=True)
    assert unit.begin(0, other)[0] == end


def test_a_load_that_waited_holds_up_the_next_one():
    """But for four rows, which are on their way: data wait with rows, and come right behind."""
    ends = []
    for waits in (0, 4, 100):
        unit = LoadUnit(BASE, bus())
        move = bus().read(16, 16, 64)
        _, over = unit.take(0, move, 16, 16)
        unit.place(over + waits, move)
        ends.append(unit.take(0, move, 16, 16)[1])
    assert [end - ends[0] for end in ends] == [0, 4, 100]


def test_rows_that_wait_for_their_bank_are_made_up_for_between_loads():
    """A memory that pauses between two loads gives rows that were late time to be written."""
    unit, line = LoadUnit(BASE, bus()), bus()
    move = line.read(16, 16, 64)
    _, over = unit.take(0, move, 16, 16)
    unit.place(over + 4, move)
    alone = LoadUnit(BASE, line)
    assert unit.take(500, move, 16, 16) == alone.take(500, move, 16, 16)


def test_a_store_reads_as_many_rows_ahead_as_its_buffer_holds():
    """64 rows and what the channel takes meanwhile, a row in each cycle; then at its pace."""
    line = bus(bytes_per_cycle=8)
    unit, banks = StoreUnit(BASE, line), Banks(4096, 4)
    assert unit.take(0, line.write(4, 256, 256), 64, 0, banks)[0] <= 64 + 2
    unit = StoreUnit(BASE, line)
    read, _ = unit.take(0, line.write(64, 256, 256), 1024, 0, Banks(4096, 4))
    assert read == pytest.approx(2 * 1024 - 128, abs=4)


def test_a_store_that_its_bank_holds_up_reads_no_row_before():
    line, banks = bus(), Banks(4096, 4)
    banks.stream(0, 0, 500)
    read, end = StoreUnit(BASE, line).take(0, line.write(2, 256, 256), 32, 0, banks)
    assert read == pytest.approx(532, abs=2)
    assert end > 532 + 40


@pytest.mark.parametrize("scalings", [0, 1, 2])
def test_results_leave_the_lanes_part_by_part(scalings):
    done = work(last_part=3, scalings=scalings)
    assert TransformUnit().finish(done, 0, 100) == 98
    assert done.latency == 23 + 10 * scalings


def test_steps_are_as_far_apart_as_their_results_have_words():
    begin, end = TransformUnit().begin(0, work(cycles=500))
    assert begin == 1  # A register is on the way.
    assert end - begin == 500
