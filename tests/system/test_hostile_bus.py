"""A memory that does everything that it may, and worse: nothing is lost, and it works again."""

from itertools import product

import pytest

from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, FENCE, MVIN, MVOUT, pack_ring
from celosia.isa.memory import CHANNELS, MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import RtlDevice
from celosia.sim.verilator.harness.binding import Goal
from celosia.sw.driver.device import ISSUES, DeviceError, Issue

TINY = PRESETS["tiny"]
SIZE = 1 << 16
SOURCE, TARGET = MEMORY_BASE + 0x1000, MEMORY_BASE + 0x8000
ROWS, COLS, BLOCKS = 4, 16, 4


def copy(source: int, target: int, stride: int = 64, rounds: int = 3):
    """Rows of 16 bytes, in bursts that may cross pages."""
    commands = [CONFIG_LD.encode(stride=stride, block_stride=ROWS), CONFIG_ST.encode(stride=stride)]
    for turn in range(rounds):
        place = turn * ROWS * stride
        local = turn * ROWS * BLOCKS
        commands.append(
            MVIN.encode(dram=source + place, local=local, local_cols=COLS, local_rows=ROWS)
        )
        commands.append(
            MVOUT.encode(dram=target + place, local=local, local_cols=COLS, local_rows=ROWS)
        )
    return [*commands, FENCE.encode()]


def make(**timing) -> RtlDevice:
    device = open_device("verilator", TINY, MemoryTiming(**timing), SIZE)
    assert isinstance(device, RtlDevice)
    return device


def fill(device: RtlDevice, source: int, target: int, stride: int = 64, rounds: int = 3) -> bytes:
    """Give the rows of a copy contents; returns all of memory as it must be afterwards."""
    device.write(MEMORY_BASE, bytes(SIZE))
    for row in range(rounds * ROWS):
        device.write(source + row * stride, bytes((row * 16 + i) % 255 + 1 for i in range(COLS)))
    wanted = bytearray(device.read(MEMORY_BASE, SIZE))
    for row in range(rounds * ROWS):
        start = source + row * stride - MEMORY_BASE
        place = target + row * stride - MEMORY_BASE
        wanted[place : place + COLS] = wanted[start : start + COLS]
    return bytes(wanted)


def check(
    device: RtlDevice, source: int = SOURCE, target: int = TARGET, issue: Issue = "stream"
) -> None:
    wanted = fill(device, source, target)
    device.run(copy(source, target), issue)
    assert device.read(MEMORY_BASE, SIZE) == wanted


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel_that_stalls_for_long_holds_up_but_loses_nothing(channel):
    with make(channel_stalls=((channel, 95),), latency=3) as device:
        check(device)
        check(device, issue="ring")


@pytest.mark.parametrize("offset", range(-15, 2))
def test_bursts_across_a_page_at_every_alignment(offset):
    with make(reorder=True, stall_percent=30, seed=offset % 7) as device:
        check(device, SOURCE + 0x1000 + offset, TARGET + 0x1000 - offset - 15)


@pytest.mark.parametrize(
    ("way", "response", "issue"), [*product(("read", "write"), ("slverr", "decerr"), ISSUES)]
)
def test_after_each_kind_of_error_it_drains_interrupts_and_works_again(way, response, issue):
    with make(latency=20, reorder=True, stall_percent=20, ready_after_valid=True) as device:
        fill(device, SOURCE, TARGET)
        device.inject(MemoryFault(way=way, place=5, by_number=True, response=response))
        with pytest.raises(DeviceError, match=f"{way.upper()}_RESPONSE"):
            device.run(copy(SOURCE, TARGET), issue)
        assert device.read_register("STATUS") & 0b11 == 0b10  # An error, and no longer busy.
        if issue == "stream":  # The driver of the ring has waited for it, and acknowledged it.
            assert device.read_register("INTERRUPT_STATUS") & 0b10
        device.forget_faults()
        check(device, issue=issue)


@pytest.mark.parametrize("cycles", [*range(20, 140, 8), 200, 300])
def test_a_reset_in_the_middle_of_bursts_leaves_nothing_behind(cycles):
    with make(latency=12, stall_percent=20, seed=cycles) as device:
        fill(device, SOURCE, TARGET)
        commands = copy(SOURCE, TARGET)
        device._make_ready("stream")
        device._library.celosia_load(device._open(), pack_ring(commands), len(commands))
        device._advance(cycles, Goal.RUN_OVER)
        device._restart()
        check(device)
