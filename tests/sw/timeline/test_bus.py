"""What rows cost on the memory's channels."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.timeline.bus import Bus, Credit

BASE = PRESETS["base"]


def cycles(rows, size, pitch, start=0, **timing):
    return Bus(BASE, MemoryTiming(**timing)).read(rows, size, pitch, start).cycles


def test_aligned_rows_cost_a_cycle_per_beat():
    assert cycles(10, 64, 64) == 40
    assert cycles(10, 64, 768) == 40
    assert cycles(10, 64, 64, bytes_per_cycle=4) == 160


def test_rows_that_begin_within_a_beat_cost_one_more():
    assert cycles(10, 64, 64, start=4) == 50
    # Of four rows, one begins with a beat.
    assert cycles(16, 64, 4) == pytest.approx(16 * 4.75)


def test_long_rows_are_several_bursts():
    transfer = Bus(BASE, MemoryTiming()).write(3, 150, 160)
    assert (transfer.bytes, transfer.bursts) == (450, 9)
    assert transfer.cycles == 3 * 10


def test_refused_cycles_make_beats_slower():
    assert cycles(10, 64, 64, stall_percent=50) == 80
    assert cycles(10, 64, 64, channel_stalls=(("w", 50),)) == 40


def test_only_so_many_bursts_are_in_flight():
    credit = Credit(requests=4, flight=40)
    assert credit.last(100, 4) == pytest.approx(100)
    assert credit.last(100, 4) == pytest.approx(140)
    # After a pause, they are all free again.
    assert credit.last(1000, 4) == pytest.approx(1000)


def test_a_bus_that_is_wider_than_a_local_row_waits_for_its_rows():
    """On `tiny`, rows of the scratchpad have 4 bytes, and those of the accumulator 16."""
    wide = Bus(PRESETS["tiny"].with_values({"bus_bits": 256}), MemoryTiming(bytes_per_cycle=32))
    assert wide.read(8, 32, 32, local_row=4).cycles == 8 * 8
    assert wide.read(8, 32, 32, local_row=16).cycles == 8 * 2
    assert wide.write(8, 32, 32).cycles == 8
    assert Bus(PRESETS["base"], MemoryTiming()).read(8, 32, 32, local_row=16).cycles == 8 * 2
