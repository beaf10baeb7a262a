"""How a simulated memory is set up, in words and for each channel."""

import pytest

from celosia.isa.memory import CHANNELS, MemoryFault, MemoryTiming
from celosia.sim.command.options.memory import parse_fault


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (MemoryFault(way="read", place=0x8000_0040), "read:0x80000040:slverr"),
        (MemoryFault(way="write", place=12, by_number=True), "write:#12:slverr"),
        (MemoryFault(way="write", place=0, response="decerr"), "write:0x0:decerr"),
        (MemoryFault(way="read", place=0, by_number=True, response="decerr"), "read:#0:decerr"),
    ],
)
def test_a_fault_is_written_as_the_command_line_reads_it(fault, text):
    assert str(fault) == text
    assert parse_fault(text) == fault


def test_all_channels_stall_alike_but_those_with_a_chance_of_their_own():
    assert MemoryTiming(stall_percent=7).stalls() == (7,) * len(CHANNELS)
    own = tuple((channel, number) for number, channel in enumerate(CHANNELS))
    assert MemoryTiming(stall_percent=7, channel_stalls=own).stalls() == (0, 1, 2, 3, 4)
    assert MemoryTiming(stall_percent=7, channel_stalls=(("w", 0),)).stalls() == (7, 7, 7, 0, 7)


def test_memory_neither_stalls_nor_fails_unless_it_is_told():
    assert not any(MemoryTiming().stalls())
    assert not MemoryTiming().faults
