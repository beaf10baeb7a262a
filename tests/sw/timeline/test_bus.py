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
    assert (bus.read_flight, bus.write_flight, bus.read_again) == (48, 48, 0)
    half = Bus(BASE, MemoryTiming(latency=40, channel_stalls=(("r", 50), ("aw", 50), ("b", 50))))
    assert (half.read_flight, half.write_flight, half.read_again) == (49, 50, 1)
    assert Bus(BASE, MemoryTiming(latency=40, reorder=True)).read_flight == 68


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
