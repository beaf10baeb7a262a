"""What rows cost on the memory's channels."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.timeline.bus import Bursts, Bus, Transfer

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
    assert cycles(16, 64, 4) == 16 * 4.75
    assert cycles(3, 16, 75, start=0) == 1 + 2 + 2
    assert cycles(17, 16, 75, start=5) == 2 * 16 + 1


def test_long_rows_are_several_bursts():
    transfer = Bus(BASE, MemoryTiming()).write(3, 150, 160)
    assert (transfer.bytes, transfer.bursts) == (450, 9)
    assert transfer.cycles == 3 * 10


def test_refused_cycles_make_beats_slower():
    assert cycles(10, 64, 64, stall_percent=50) == 80
    assert cycles(10, 64, 64, channel_stalls=(("w", 50),)) == 40


def test_an_address_takes_two_cycles_where_ready_waits_for_valid():
    """Rows of one beat: then addresses, not beats, are what a row costs."""
    assert cycles(10, 16, 16) == 10
    assert cycles(10, 16, 16, ready_after_valid=True) == 20
    assert cycles(10, 64, 64, ready_after_valid=True) == 40
    late = Bus(BASE, MemoryTiming(ready_after_valid=True))
    assert late.write(10, 16, 16).cycles == 20
    assert late.write(10, 48, 48).cycles == 30


@pytest.mark.parametrize("late", [False, True])
def test_addresses_that_are_refused_take_longer_than_late_ones(late):
    """Refused three times of four: four cycles for each address of reads, and none of writes'."""
    timing = MemoryTiming(channel_stalls=(("ar", 75),), ready_after_valid=late)
    bus = Bus(BASE, timing)
    assert bus.read(10, 16, 16).cycles == 40
    assert bus.write(10, 16, 16).cycles == (20 if late else 10)


def test_a_burst_is_in_flight_for_the_latency_and_both_handshakes():
    """6 cycles, the latency, and for each channel one, or two where every second is refused."""
    bus = Bus(BASE, MemoryTiming(latency=40))
    assert (bus.read_flight, bus.write_flight) == (48, 48)
    assert (bus.read_again, bus.write_again) == (0, 43)
    half = Bus(BASE, MemoryTiming(latency=40, channel_stalls=(("r", 50), ("aw", 50), ("b", 50))))
    assert (half.read_flight, half.write_flight) == (49, 50)
    assert (half.read_again, half.write_again) == (1, 45)
    assert Bus(BASE, MemoryTiming(latency=40, reorder=True)).read_flight == 68


def test_only_so_many_bursts_are_on_their_way():
    """Four at once; the next one 40 cycles behind the end of the one that was four before it."""
    bursts, move = Bursts(requests=4, again=40, flight=41, pace=1), Transfer(64, 4, 4)
    assert bursts.take(100, 100, move, 1) == (103, 104)
    assert bursts.take(104, 104, move, 1) == (144, 145)
    # After a pause, they are all free again.
    assert bursts.take(1000, 1000, move, 1) == (1003, 1004)


def test_long_bursts_hide_how_long_they_are_on_their_way():
    bursts = Bursts(requests=4, again=60, flight=61, pace=1)
    assert bursts.take(100, 100, Transfer(4096, 64, 1024), 16)[1] == 100 + 1024
    # What comes behind them waits for the last but three.
    address, _ = bursts.take(100 + 1024, 100 + 1024, Transfer(16, 1, 1), 1)
    assert address == 100 + 1024 - 3 * 16 + 60


def test_bursts_that_take_longer_are_over_later():
    bursts, move = Bursts(requests=4, again=40, flight=41, pace=1), Transfer(32, 2, 2)
    bursts.take(100, 100, move, 1)
    bursts.wait(move, 10)
    bursts.take(102, 102, move, 1)
    assert bursts.take(104, 104, Transfer(16, 1, 1), 1)[0] == 101 + 10 + 40


def test_a_bus_that_is_wider_than_a_local_row_waits_for_its_rows():
    """On `tiny`, rows of the scratchpad have 4 bytes, and those of the accumulator 16."""
    wide = Bus(PRESETS["tiny"].with_values({"bus_bits": 256}), MemoryTiming(bytes_per_cycle=32))
    assert wide.read(8, 32, 32, local_row=4).cycles == 8 * 8
    assert wide.read(8, 32, 32, local_row=16).cycles == 8 * 2
    assert wide.write(8, 32, 32).cycles == 8
    assert Bus(PRESETS["base"], MemoryTiming()).read(8, 32, 32, local_row=16).cycles == 8 * 2
