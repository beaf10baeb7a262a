"""Random programs, and programs that once failed, on the functional model and on the RTL.

All of memory is compared, byte for byte, and the owners of the array's cycles must add up.
"""

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.memory import CHANNELS, MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.isa.registers.events import TABLES
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import RtlDevice
from celosia.sw.driver.device import ISSUES, Device, Issue, RunResult
from celosia.sw.driver.program_file import ProgramFile, load_program
from celosia.sw.driver.runtime import matmul
from tests.support.cramped import CRAMPED_OVERRIDES, CRAMPED_PRESET

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.cel"))


def timing(config, seed: int) -> MemoryTiming:
    """A memory that differs from seed to seed."""
    rng = random.Random(seed)
    return MemoryTiming(
        latency=rng.choice([1, 5, 40, 100]),
        bytes_per_cycle=rng.choice([config.bus_bytes, config.bus_bytes // 2, 64]),
        stall_percent=rng.choice([0, 0, 20, 60]),
        channel_stalls=rng.choice([(), (), ((rng.choice(CHANNELS), 90),)]),
        reorder=rng.random() < 0.3,
        ready_after_valid=rng.random() < 0.2,
        seed=seed,
    )


def small_ring(device: Device, seed: int) -> None:
    """A ring that is too small for most programs, so that it is fed while it runs."""
    if isinstance(device, RtlDevice):
        device.ring_entries = random.Random(seed).choice([2, 5, 16, 64])


def run(device: Device, program: ProgramFile, issue: Issue) -> tuple[bytes, RunResult]:
    """All of memory after `program`."""
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    result = device.run(program.commands, issue)
    memory = device.read(MEMORY_BASE, program.memory_bytes)
    device.close()
    return memory, result


drawn = cache(random_program)
"""The same program for both issues."""


@cache
def wanted_memory(program: ProgramFile, seed: int) -> bytes:
    """All of memory after `program` on the functional model, however it is issued."""
    config = resolve_config(program.preset, program.overrides)
    memory = MemoryTiming(seed=seed + 1)
    model = open_device("functional", config, memory, program.memory_bytes)
    return run(model, program, "stream")[0]


def compare(program: ProgramFile, simulator: str, seed: int, issue: Issue) -> RunResult:
    config = resolve_config(program.preset, program.overrides)
    wanted = wanted_memory(program, seed)
    device = open_device(simulator, config, timing(config, seed), program.memory_bytes)
    small_ring(device, seed)
    got, result = run(device, program, issue)
    assert got == wanted
    counters = result.counters
    for unit in TABLES:
        assert sum(counters[owner.name] for owner in unit.owners) == counters["cycles"]
    return result


@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("first", range(0, 100, 25))
def test_random_programs_on_verilator_tiny(first, issue):
    for seed in range(first, first + 25):
        program = drawn(seed, preset="tiny", length=60, loop_percent=30 * (seed % 2))
        compare(program, "verilator", seed, issue)


@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_programs_on_verilator_base(first, issue):
    for seed in range(first, first + 20):
        program = drawn(seed, preset="base", length=60, loop_percent=30 * (seed % 2))
        compare(program, "verilator", seed, issue)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_transforms_on_verilator_cramped(first):
    for seed in range(first, first + 20):
        program = drawn(seed, preset=CRAMPED_PRESET, overrides=CRAMPED_OVERRIDES, length=100)
        compare(program, "verilator", seed, "stream")


def test_a_random_program_of_gemmini_on_amaranth():
    compare(random_program(1, preset="gemmini4", length=50), "amaranth", 1, "stream")


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["gemmini4", "gemmini"])
@pytest.mark.parametrize("issue", ISSUES)
def test_random_programs_of_gemmini_on_verilator(preset, issue):
    for seed in range(25):
        compare(random_program(seed, preset=preset, length=80), "verilator", seed, issue)


@pytest.mark.slow
def test_random_transforms_on_verilator_base():
    for seed in range(25):
        program = drawn(seed, preset="base", overrides=("statistics_rows=16",), length=100)
        compare(program, "verilator", seed, "stream")


@pytest.mark.parametrize(
    ("seed", "issue", "length"),
    [
        (1, "ring", 12),
        pytest.param(1, "ring", 25, marks=pytest.mark.nightly),
        pytest.param(0, "stream", 25, marks=pytest.mark.nightly),
    ],
)
def test_both_rtl_simulators_take_the_same_cycles(seed, issue, length):
    # By day of the accelerator with the fewest lanes, which is made soonest.
    little = {"preset": CRAMPED_PRESET, "overrides": CRAMPED_OVERRIDES}
    which = little if length < 25 else {"preset": "tiny"}
    program = drawn(seed, length=length, loop_percent=30 * seed, **which)
    results = [compare(program, simulator, seed, issue) for simulator in ("amaranth", "verilator")]
    assert results[0].cycles == results[1].cycles
    assert results[0].counters == results[1].counters


@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_past_failures(path, issue):
    for seed in range(3):
        compare(load_program(str(path)), "verilator", seed, issue)


@pytest.mark.parametrize(
    ("shape", "least"),
    [((64, 64, 64), 0.65), ((128, 128, 128), 0.94), ((1, 768, 768), None)],
    ids=lambda value: "x".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_products_keep_the_array_busy(shape, least):
    """Cycle counts are exact; the bounds are those of docs/performance.md."""
    m, n, k = shape
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (m, k), dtype=np.int8)
    b = rng.integers(-128, 128, (k, n), dtype=np.int8)
    device = open_device("verilator", resolve_config("base"))
    c, result = matmul(device, a, b)
    device.close()
    assert np.array_equal(c, (a.astype(np.float64) @ b).astype(np.int32))
    assert result.cycles is not None
    if least is None:  # Bound by memory: all of B at 16 bytes per cycle.
        assert n * k / 16 / result.cycles >= 0.9
    else:
        assert m * n * k / 256 / result.cycles >= least
