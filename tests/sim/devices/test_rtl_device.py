"""The RTL simulators with a stand-in for the accelerator; the real one is tested elsewhere."""

from functools import cache

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl import AmaranthDevice
from celosia.sim.devices.rtl_device import check_owners
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.support.progress import silent
from celosia.sim.verilator import observed
from celosia.sim.verilator.build import MODEL_TOP, build_model
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.verilator.harness import settings
from celosia.sim.verilator.verilog import to_verilog
from celosia.sw.driver.device import DeviceError
from celosia.sw.driver.runtime import matmul
from tests.support import stub_top
from tests.support.stub_top import Command, StubTop, copy

MEMORY_BYTES = 1 << 16
TIMING = MemoryTiming(latency=10, bytes_per_cycle=16)
OPTIONS = BuildOptions()
NAMES = ("amaranth", "verilator")


@cache
def library(preset, options):
    config = PRESETS[preset]
    return build_model(to_verilog(StubTop(config), MODEL_TOP), config, options)


def make(name, preset="tiny", timing=TIMING, progress=silent, options=OPTIONS):
    config = PRESETS[preset]
    if name == "amaranth":
        top = StubTop(config, memory_seed=timing.seed)
        return AmaranthDevice(config, timing, MEMORY_BYTES, progress, top=top)
    return VerilatorDevice(config, timing, MEMORY_BYTES, progress, library(preset, options))


@pytest.fixture
def hasty(monkeypatch):
    """A watchdog that barks soon: Amaranth's simulator is slow."""
    monkeypatch.setattr(settings, "WATCHDOG_EDGES", 500)


@pytest.fixture(params=NAMES)
def device(request, hasty):
    with make(request.param) as device:
        yield device


def burst_bytes(device):
    return stub_top.BEATS * device.config.bus_bytes


def copies(device, count):
    """Bursts of recognizable bytes, and the commands that move them to the middle of memory."""
    size = burst_bytes(device)
    data = bytes(index * 7 % 251 for index in range(count * size))
    device.write(MEMORY_BASE, data)
    middle = MEMORY_BASE + MEMORY_BYTES // 2
    program = [copy(MEMORY_BASE + i * size, middle + i * size) for i in range(count)]
    return program, middle, data


# One command of the stand-in: taken at edge 0, decoded 1, AR 2, beats from 2 + latency on one per
# edge, AW, then W from the next edge on, response `latency` after the last.
def copy_cycles(latency, beats=stub_top.BEATS):
    return 2 + latency + beats + 1 + beats - 1 + latency + 1


def test_a_program_moves_memory_and_takes_exactly_its_cycles(device):
    program, middle, data = copies(device, 1)
    result = device.run(program)
    assert device.read(middle, len(data)) == data
    assert result.cycles == copy_cycles(TIMING.latency)
    assert set(result.counters) == {counter.name for counter in COUNTERS}
    assert result.counters["commands"] == 1
    assert result.seconds >= 0


@pytest.mark.parametrize("preset", ["tiny", "base"])
@pytest.mark.parametrize("stall_percent", [0, 30])
@pytest.mark.parametrize("bytes_per_cycle", [3, 64])
def test_both_simulators_take_the_same_cycles(preset, stall_percent, bytes_per_cycle):
    timing = MemoryTiming(
        latency=7, bytes_per_cycle=bytes_per_cycle, stall_percent=stall_percent, seed=5
    )
    results = []
    for name in NAMES:
        with make(name, preset, timing) as device:
            program, middle, data = copies(device, 5)
            compute = Command(stub_top.COMPUTE, 40)
            runs = [device.run([*program, compute]), device.run([compute]), device.run(program)]
            assert device.read(middle, len(data)) == data
            results.append([(run.cycles, run.counters) for run in runs])
            results[-1].append(device.traffic())
    assert results[0] == results[1]


def test_a_program_that_ends_without_a_write_runs_until_it_is_idle(device):
    # Taken, decoded, then 11 rows; the last edge that is busy counts.
    assert device.run([Command(stub_top.COMPUTE, 10)]).cycles == 1 + 1 + 11


def test_an_empty_program_takes_no_cycles(device):
    result = device.run([])
    assert result.cycles == 0
    assert not any(result.counters.values())


def test_counters_are_those_of_the_run(device):
    program, _, _ = copies(device, 3)
    device.run(program)
    assert device.run(program[:2]).counters["commands"] == 2


def test_each_unit_has_one_owner_in_each_cycle():
    right = {counter.name: 0 for counter in COUNTERS}
    right |= {unit.owners[0].name: 5 for unit in TABLES} | {"cycles": 5}
    check_owners(right)
    for unit in TABLES:
        for owner in unit.owners:
            wrong = right | {owner.name: right[owner.name] + 1}
            with pytest.raises(DeviceError, match=f"{unit.name} has owners of 6 of 5 cycles"):
                check_owners(wrong)


def test_traffic_counts_useful_bytes(device):
    program, _, data = copies(device, 3)
    device.run(program)
    traffic = device.traffic()
    assert traffic["read_bytes"] == traffic["write_bytes"] == len(data)
    assert traffic["bursts_read"] == traffic["bursts_written"] == 3


def test_memory_is_zero_at_first_and_bounded(device):
    assert device.read(MEMORY_BASE, 100) == bytes(100)
    device.write(MEMORY_BASE + MEMORY_BYTES - 1, b"x")
    for address, size in ((MEMORY_BASE - 1, 1), (MEMORY_BASE + MEMORY_BYTES, 1), (0, 1)):
        with pytest.raises(ValueError, match=r"not within 0x80000000\.\.0x8000ffff"):
            device.read(address, size)
        with pytest.raises(ValueError, match=f"{size} bytes at {address:#x}"):
            device.write(address, bytes(size))


@pytest.mark.parametrize("name", NAMES)
def test_local_memories_hold_seeded_garbage(name):
    dumps = []
    for seed in (1, 2, 1):
        with make(name, timing=MemoryTiming(seed=seed)) as device:
            device.run([Command(stub_top.DUMP, 0, MEMORY_BASE)])
            dumps.append(device.read(MEMORY_BASE, burst_bytes(device)))
    assert dumps[0] == dumps[2]
    assert dumps[0] != dumps[1]
    assert any(dumps[0])


def test_the_accelerators_garbage_is_that_of_the_timings_seed(monkeypatch):
    seeds = []

    def made(config, *, memory_seed):
        seeds.append(memory_seed)
        return StubTop(config, memory_seed=memory_seed)

    monkeypatch.setattr(observed, "ObservedTop", made)
    with AmaranthDevice(PRESETS["tiny"], MemoryTiming(seed=9), MEMORY_BYTES):
        assert seeds == [9]


def test_the_error_register_ends_the_run_with_the_command_that_caused_it(device):
    program, _, _ = copies(device, 2)
    device.run(program)
    fail = Command(stub_top.FAIL, 0x1234)
    with pytest.raises(
        DeviceError, match=r"LOCAL_RANGE: .* at address 0x1234: command 2: "
    ) as error:
        device.run([*program, fail, *program])
    assert error.value.cause is Cause.LOCAL_RANGE
    assert error.value.command == 2


def test_the_device_works_again_after_an_error(device):
    program, middle, data = copies(device, 2)
    for bad in (stub_top.FAIL, stub_top.HANG):
        with pytest.raises(DeviceError):
            device.run([Command(bad)])
        device.write(middle, bytes(len(data)))
        assert device.run(program).cycles == 2 * copy_cycles(TIMING.latency)
        assert device.read(middle, len(data)) == data
    with pytest.raises(DeviceError) as error:
        device.run([Command(stub_top.FAIL)])
    assert error.value.command == 0


def test_the_watchdog_says_who_waits_for_whom(device):
    program = [copy(MEMORY_BASE, MEMORY_BASE), Command(stub_top.HANG), copy(0, 0)]
    with pytest.raises(DeviceError) as error:
        device.run(program)
    message = str(error.value)
    assert message.startswith(
        "watchdog: no progress for 1,500 cycles: load (1 queued) runs, but makes no progress; "
        "execute (2 queued) waits for load; last command accepted: 1: "
    )
    assert message.endswith("(1 to come)")
    assert error.value.command == 1


def test_long_computation_is_progress(device):
    timing = MemoryTiming(latency=1)
    with make(device.name, timing=timing) as patient:
        assert patient.run([Command(stub_top.COMPUTE, 1_000)]).cycles == 1_003


@pytest.mark.parametrize(
    ("funct", "message"),
    [
        (stub_top.WITHDRAW, "AR: valid was withdrawn before ready"),
        (stub_top.WRONG_BURST, "AR: burst type 0 is not INCR"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_broken_rule_of_the_memory_port_ends_the_run(name, funct, message):
    program = [Command(funct, MEMORY_BASE, MEMORY_BASE)] * 20
    with (
        make(name, timing=MemoryTiming(stall_percent=95)) as device,
        pytest.raises(DeviceError, match=f"bus protocol .*{message}"),
    ):
        device.run(program)


def test_an_assertion_of_the_rtl_ends_the_run(device, capfd):
    with pytest.raises(DeviceError, match=r"assertion in the RTL at cycle .*rs1 is 77"):
        device.run([Command(stub_top.ASSERT, 77)])
    assert capfd.readouterr().out == ""


def test_a_command_beyond_seven_bits_is_refused(device):
    with pytest.raises(ValueError, match="command 1: funct 128"):
        device.run([copy(MEMORY_BASE, MEMORY_BASE), Command(128)])


def test_a_closed_device_says_so(device):
    device.close()
    with pytest.raises(ValueError, match="closed"):
        device.read(MEMORY_BASE, 1)
    with pytest.raises(ValueError, match="closed"):
        device.run([])
    device.close()


@pytest.mark.parametrize("name", NAMES)
def test_progress_is_told_and_an_interrupt_leaves_a_usable_device(name):
    told = []

    def progress(text, done):
        told.append((text, done))
        if len(told) == 3:
            raise KeyboardInterrupt

    with make(name, progress=progress) as device:
        program, _, _ = copies(device, 20)
        with pytest.raises(KeyboardInterrupt):
            device.run(program)
        assert device.run(program[:1]).cycles == copy_cycles(TIMING.latency)
    assert told[0] == ("simulated 0 cycles", 0.0)
    assert 0 < told[2][1] < 1


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_last_is_not_that_the_run_is_nearly_over(name):
    told = []
    with make(name, progress=lambda *what: told.append(what)) as device:
        device.run(copies(device, 20)[0])
    assert told[-1] == ("comparing what the run has left, and following its log", None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latency": 0}, "latency: 0 is not in 1"),
        ({"bytes_per_cycle": 0}, "bytes_per_cycle: 0 is not in 1"),
        ({"stall_percent": 96}, "stall_percent: 96 is not in 0..95"),
        ({"seed": -1}, "seed: -1 is not in 0"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_an_impossible_memory_is_refused(name, change, message):
    with pytest.raises(ValueError, match=message):
        make(name, timing=MemoryTiming(**change))


def test_a_model_without_the_fast_signs_is_the_same():
    runs = []
    for fast_signs in (True, False):
        with make("verilator", options=BuildOptions(fast_signs=fast_signs)) as device:
            program, _, _ = copies(device, 3)
            result = device.run(program)
            runs.append((result.cycles, result.counters, device.read(MEMORY_BASE, MEMORY_BYTES)))
    assert runs[0] == runs[1]


def test_by_default_the_watchdog_is_patient():
    timing = MemoryTiming(latency=50)
    assert settings.patience(PRESETS["tiny"], timing) == 25_000
    one_lane = PRESETS["tiny"].with_values({"vector_lanes": 1})
    assert settings.patience(one_lane, timing) == 85_000
    # The accelerator's own one comes first.
    bench = settings.bench_config(PRESETS["tiny"], timing, MEMORY_BYTES)
    assert bench.watchdog == 26_000


@pytest.mark.slow
def test_both_simulators_of_the_real_accelerator_take_the_same_cycles():
    random = np.random.default_rng(3)
    a = random.integers(-128, 128, (13, 22), dtype=np.int8)
    b = random.integers(-128, 128, (22, 9), dtype=np.int8)
    timing = MemoryTiming(latency=12, bytes_per_cycle=3, stall_percent=20, seed=8)
    results = []
    for name in NAMES:
        device = open_device(name, PRESETS["tiny"], timing)
        c, result = matmul(device, a, b)
        assert (c == a.astype(np.int32) @ b).all()
        results.append((result.cycles, result.counters))
        device.close()
    assert results[0] == results[1]


def test_devices_have_names():
    with pytest.raises(ValueError, match="no 'fpga'; there are functional, amaranth, verilator"):
        open_device("fpga", PRESETS["tiny"])
    device = open_device("functional", PRESETS["tiny"], memory_bytes=4096)
    assert device.name == "functional"


def test_an_accelerator_that_does_not_show_its_products_cannot_be_marked(device):
    program, middle, data = copies(device, 1)
    with pytest.raises(ValueError, match="marks: this accelerator does not show when products"):
        device.run(program, marks=[0])
    device.run(program)
    assert device.read(middle, len(data)) == data
