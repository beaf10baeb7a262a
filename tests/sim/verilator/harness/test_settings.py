"""What benches and memories are set up with, on both sides of each limit."""

import pytest

from celosia.isa.memory import CHANNELS, MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.map import REGISTERS
from celosia.sim.verilator.harness.settings import (
    RING_BYTES,
    bench_config,
    fault,
    memory_config,
    patience,
    ring_base,
)

CONFIG = PRESETS["tiny"]


def memory(memory_bytes: int = 1 << 16, **timing):
    return memory_config(CONFIG, MemoryTiming(**timing), memory_bytes)


def test_a_memory_is_what_the_timing_says():
    own = (("w", 9),)
    timing = {"latency": 5, "bytes_per_cycle": 3, "seed": 8}
    made = memory(1 << 16, stall_percent=4, channel_stalls=own, reorder=True, **timing)
    assert (made.base, made.bytes, made.bus_bytes) == (MEMORY_BASE, 1 << 16, CONFIG.bus_bytes)
    assert {name: getattr(made, name) for name in timing} == timing
    assert dict(zip(CHANNELS, made.stall_percent, strict=True)) == {
        "ar": 4,
        "r": 4,
        "aw": 4,
        "w": 9,
        "b": 4,
    }
    assert (made.reorder, made.ready_after_valid) == (1, 0)
    other = memory(ready_after_valid=True)
    assert (other.reorder, other.ready_after_valid) == (0, 1)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("latency", 1, 1_000_000),
        ("bytes_per_cycle", 1, 1 << 20),
        ("stall_percent", 0, 95),
        ("seed", 0, (1 << 64) - 1),
        ("memory_bytes", 1, 1 << 40),
    ],
)
def test_each_number_has_limits(name, low, high):
    for value in (low, high):
        made = memory(**{name: value})
        assert value in (
            getattr(made, "bytes" if name == "memory_bytes" else name, value),
            *made.stall_percent,
        )
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"^{name}: {value} is not in {low}\\.\\.{high}$"):
            memory(**{name: value})


def test_stalls_of_channels_have_limits_and_channels_names():
    memory(channel_stalls=(("ar", 0), ("b", 95)))
    for value in (-1, 96):
        with pytest.raises(ValueError, match=f"^stalls of channel r: {value} is not in 0\\.\\.95$"):
            memory(channel_stalls=(("ar", 0), ("r", value)))
    with pytest.raises(ValueError, match=r"^channel cr: not one of ar, r, aw, w, b$"):
        memory(channel_stalls=(("w", 0), ("cr", 0)))


@pytest.mark.parametrize(
    ("size", "pages"), [(1, 1), (4095, 1), (4096, 1), (4097, 2), (1 << 16, 16)]
)
def test_the_ring_begins_at_the_page_behind_memory(size, pages):
    assert ring_base(size) == MEMORY_BASE + pages * 4096
    made = bench_config(CONFIG, MemoryTiming(), size)
    assert made.memory.base + made.memory.bytes == ring_base(size) + RING_BYTES


def test_a_bench_waits_longer_than_the_accelerator():
    timing = MemoryTiming(latency=50, stall_percent=6)
    made = bench_config(CONFIG, timing, 1 << 16)
    assert made.watchdog == patience(CONFIG, timing) + 1_000
    assert made.host_stall_percent == 6
    assert made.doorbell == REGISTERS["RING_DOORBELL"].offset


def test_patience_grows_with_latency_and_the_steps_of_a_row():
    for latency in (1, 50):
        timing = MemoryTiming(latency=latency)
        for lanes in (1, CONFIG.dim):
            config = CONFIG.with_values({"vector_lanes": lanes})
            assert patience(config, timing) == 20_000 * CONFIG.dim // lanes + 100 * latency


@pytest.mark.parametrize("place", [0, (1 << 64) - 1])
def test_a_fault_is_what_the_memory_model_takes(place):
    made = fault(MemoryFault(way="write", place=place, by_number=True, response="decerr"))
    assert (made.place, made.write, made.by_number, made.response) == (place, 1, 1, 3)
    made = fault(MemoryFault(way="read", place=place))
    assert (made.place, made.write, made.by_number, made.response) == (place, 0, 0, 2)


@pytest.mark.parametrize("place", [-1, 1 << 64])
def test_a_fault_has_a_place(place):
    with pytest.raises(ValueError, match=f"^memory fault: {place} is not in 0"):
        fault(MemoryFault(way="read", place=place))
