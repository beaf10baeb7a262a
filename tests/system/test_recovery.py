"""Errors of the real accelerator, how they are reported, and that it works again afterwards."""

import numpy as np
import pytest

from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, FENCE, MVIN, MVOUT, pack_ring
from celosia.isa.memory import MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import DEFAULT_TIMING, RtlDevice
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.verilator.build import model_library
from celosia.sim.verilator.harness import settings
from celosia.sim.verilator.harness.binding import State
from celosia.sw.driver.device import ISSUES, DeviceError, Issue
from celosia.sw.driver.host import IdentityError
from celosia.sw.driver.registers import RegisterError
from celosia.sw.driver.runtime import matmul

TINY = PRESETS["tiny"]
SIZE = 1 << 16
SOURCE, TARGET = MEMORY_BASE + 0x1000, MEMORY_BASE + 0x3000

COPY = [
    CONFIG_LD.encode(stride=16),
    CONFIG_ST.encode(stride=16),
    *(MVIN.encode(dram=SOURCE + 64 * i, local=4 * i, local_cols=4, local_rows=4) for i in range(8)),
    *(
        MVOUT.encode(dram=TARGET + 64 * i, local=4 * i, local_cols=4, local_rows=4)
        for i in range(8)
    ),
]
"""Commands 2 to 9 load, 10 to 17 store."""


def make(timing: MemoryTiming = DEFAULT_TIMING) -> RtlDevice:
    device = open_device("verilator", TINY, timing, SIZE)
    assert isinstance(device, RtlDevice)
    return device


@pytest.fixture
def device():
    with make() as device:
        assert isinstance(device, RtlDevice)
        yield device


def works(device, issue: Issue = "stream"):
    """Whether a copy and a product are right."""
    device.write(SOURCE, bytes(range(256)) * 2)
    device.write(TARGET, bytes(512))
    device.run(COPY, issue)
    rows = [bytes(range(256))[16 * (row % 16) :][:4] for row in range(32)]
    assert [device.read(TARGET + 16 * row, 4) for row in range(32)] == rows
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (9, 7), dtype=np.int8)
    b = rng.integers(-128, 128, (7, 5), dtype=np.int8)
    c, _ = matmul(device, a, b, issue=issue)
    assert (c == a.astype(np.int32) @ b).all()
    return True


@pytest.mark.parametrize("response", ["slverr", "decerr"])
@pytest.mark.parametrize("issue", ISSUES)
def test_a_failing_read_names_cause_address_id_and_command(device, issue, response):
    device.inject(MemoryFault(way="read", place=SOURCE + 64 * 3 + 17, response=response))
    with pytest.raises(DeviceError) as error:
        device.run(COPY, issue)
    assert error.value.cause is Cause.READ_RESPONSE
    assert error.value.command == 5
    assert f"address {SOURCE + 64 * 3 + 16:#x}, bus ID 0: command 5: mvin" in str(error.value)
    device.forget_faults()
    assert works(device, issue)


@pytest.mark.parametrize("issue", ISSUES)
def test_a_failing_write_names_cause_address_id_and_command(device, issue):
    device.inject(MemoryFault(way="write", place=TARGET + 64 * 2, response="slverr"))
    with pytest.raises(DeviceError) as error:
        device.run(COPY, issue)
    assert error.value.cause is Cause.WRITE_RESPONSE
    assert error.value.command == 12
    assert f"address {TARGET + 64 * 2:#x}, bus ID 0: command 12: mvout" in str(error.value)
    device.forget_faults()
    assert works(device, issue)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.nightly) for n in range(12, 100))]
)
def test_whichever_burst_fails_it_works_again(seed):
    rng = np.random.default_rng(seed)
    timing = MemoryTiming(
        latency=int(rng.integers(1, 60)),
        stall_percent=int(rng.choice([0, 40])),
        reorder=bool(rng.random() < 0.5),
        seed=seed,
    )
    issue = ISSUES[seed % 2]
    with make(timing) as device:
        assert isinstance(device, RtlDevice)
        way = "read" if rng.random() < 0.6 else "write"
        number = int(rng.integers(0, 30))
        device.inject(MemoryFault(way=way, place=number, by_number=True))
        with pytest.raises(DeviceError, match=f"{way.upper()}_RESPONSE"):
            device.run(COPY, issue)
        assert works(device, issue)
        assert works(device, "stream")


def test_a_failing_fetch_of_the_ring_has_its_own_id(device):
    base = settings.ring_base(SIZE)
    device.inject(MemoryFault(way="read", place=base + 24 * 10))
    with pytest.raises(DeviceError, match=r"READ_RESPONSE.*bus ID 1: command 10") as error:
        device.run(COPY, "ring")
    assert error.value.cause is Cause.READ_RESPONSE
    assert device.read_register("STATUS") & 0b11 == 0b10
    device.forget_faults()
    assert works(device, "ring")


@pytest.mark.parametrize("issue", ISSUES)
def test_limits_hold_in_both_modes(device, issue):
    outside = MVIN.encode(dram=MEMORY_BASE + SIZE - 32, local=0, local_cols=4, local_rows=4)
    if issue == "stream":
        with pytest.raises(DeviceError, match="READ_LIMIT"):
            device.run([*COPY, outside], issue)
    beyond = MVOUT.encode(dram=settings.ring_base(SIZE), local=0, local_cols=4, local_rows=4)
    with pytest.raises(DeviceError, match=r"WRITE_LIMIT: .*command 18"):
        device.run([*COPY, beyond], issue)
    assert works(device, issue)


@pytest.mark.parametrize("issue", ISSUES)
def test_a_cycle_budget_stops_a_program_and_not_the_next_one(device, issue):
    device.limit_cycles(100)
    with pytest.raises(DeviceError, match="CYCLE_BUDGET") as error:
        device.run(COPY * 20, issue)
    assert error.value.cause is Cause.CYCLE_BUDGET
    device.limit_cycles(0)
    assert works(device, issue)
    cycles = device.run(COPY, issue).counters["cycles"]
    device.limit_cycles(cycles)
    device.run(COPY, issue)


def test_the_accelerators_own_watchdog_speaks_first(monkeypatch):
    monkeypatch.setattr(settings, "WATCHDOG_EDGES", 300)
    # Memory that answers so rarely that a hasty watchdog takes it for dead.
    timing = MemoryTiming(latency=1, channel_stalls=(("r", 95),))
    with make(timing) as device:
        assert isinstance(device, RtlDevice)
        monkeypatch.setattr(settings, "WATCHDOG_LATENCIES", 0)
        monkeypatch.setattr(settings, "WATCHDOG_EDGES", 8)
        with pytest.raises(DeviceError, match="watchdog: no progress for 8 cycles") as error:
            device.run(COPY)
        assert error.value.cause is Cause.WATCHDOG
        monkeypatch.setattr(settings, "WATCHDOG_EDGES", 20_000)
        device.write_register("WATCHDOG", 0)  # So that all is written anew.
        assert works(device)


@pytest.mark.parametrize("issue", ISSUES)
def test_every_valid_comes_without_a_ready(issue):
    timing = MemoryTiming(latency=9, ready_after_valid=True)
    with make(timing) as device:
        assert isinstance(device, RtlDevice)
        assert works(device, issue)


def test_a_write_while_busy_is_an_error_and_has_no_effect(device):
    # A run that the bench has begun, and nobody waits for.
    before = device.read_register("READ_BASE")
    program = COPY * 50
    device._library.celosia_load(device._handle, pack_ring(program), len(program))
    while not device.read_register("STATUS") & 1:
        pass
    with pytest.raises(RegisterError, match="READ_BASE_LO: SLVERR"):
        device.write_register("READ_BASE", 5)
    device.write_register("INTERRUPT_ENABLE", 1)
    assert device.read_register("READ_BASE") == before
    assert device._status().state == State.RUNNING


@pytest.mark.parametrize("offset", [0x7F8, 0xFFC, 0x030])
def test_a_word_without_a_register_is_an_error(device, offset):
    with pytest.raises(RegisterError, match=f"register {offset:#x}: SLVERR: it may not be read"):
        device.read_word(offset)
    with pytest.raises(RegisterError, match=f"register {offset:#x}: SLVERR: it may not be writ"):
        device.write_word(offset, 0)


def test_what_is_read_only_stays(device):
    identity = device.read_register("IDENTITY")
    with pytest.raises(RegisterError, match="IDENTITY"):
        device.write_register("IDENTITY", 1)
    assert device.read_register("IDENTITY") == identity


def test_byte_strobes_choose_bytes(device):
    device.write_word(0x068, 0x11223344)
    device.write_word(0x068, 0xAABBCCDD, strobe=0b0110)
    assert device.read_register("WATCHDOG") == 0x11BBCC44


def test_another_accelerator_is_refused():
    other = TINY.with_values({"load_queue": TINY.load_queue * 2})
    with pytest.raises(IdentityError, match=f"load_queue = {TINY.load_queue}, not"):
        VerilatorDevice(other, library=model_library(TINY))


def test_configuration_is_forgotten_and_local_memory_is_not(device):
    device.write(SOURCE, bytes(range(256)))
    device.run(COPY[:3])
    device.inject(MemoryFault(way="read", place=0, by_number=True))
    with pytest.raises(DeviceError):
        device.run([MVIN.encode(dram=SOURCE, local=64, local_cols=4, local_rows=4)])
    device.run([MVOUT.encode(dram=TARGET, local=0, local_cols=4, local_rows=1), FENCE.encode()])
    assert device.read(TARGET, 4) == bytes(range(4))


def test_bus_ids_are_those_of_the_contract():
    assert (BusId.DATA, BusId.RING) == (0, 1)


def test_an_empty_program_takes_no_cycles_from_a_ring(device):
    assert device.run([], "ring").cycles == 0
    assert works(device, "ring")


def test_a_program_that_is_longer_than_the_ring_wraps_around(device):
    device.ring_entries = 5
    device.write(SOURCE, bytes(range(256)) * 2)
    result = device.run(COPY * 10, "ring")
    assert result.counters["commands"] == len(COPY) * 10
    assert works(device, "ring")


def test_interrupts_show_on_the_pin(device):
    device.write_register("INTERRUPT_ENABLE", 1)
    device.run(COPY)
    assert device.read_register("INTERRUPT_STATUS") == 1
    assert device._status().interrupt
    device.host.acknowledge()
    device.read_register("STATUS")
    assert not device._status().interrupt
