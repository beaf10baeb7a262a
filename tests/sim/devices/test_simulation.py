"""A simulated accelerator's memory, registers and time, with a bench that is written in Python."""

from itertools import count
from typing import Any

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.map import REGISTERS
from celosia.sim.devices import simulation
from celosia.sim.devices.simulation import Setup, Simulation
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.harness.binding import Goal, State, Status
from celosia.sw.driver.device import DeviceError
from celosia.sw.driver.registers import RegisterError
from celosia.sw.driver.ring import StoppedError
from tests.sim.devices.python_bench import HANDLE, SIZE, Bench, Clock

FIRST = 100
"""Cycles that are simulated before the clock is looked at for the first time."""
REGISTER = "RING_DOORBELL"
OFFSET = REGISTERS[REGISTER].offset


class Simulated(Simulation):
    """Simulates nothing but the bench's cycles."""

    name = "simulated"

    def __init__(self, bench: Bench, clock: Clock, timing: MemoryTiming, progress: Progress):
        self.bench, self.clock = bench, clock
        self.batches: list[int] = []
        config = PRESETS["tiny"]
        library: Any = bench
        super().__init__(Setup(config, timing, SIZE, progress), library, HANDLE)

    def _advance(self, edges: int, goal: Goal) -> None:
        assert edges > 0
        self.batches.append(edges)
        self.bench.left -= edges
        self.clock.now += edges * self.clock.seconds

    def _reset(self) -> None:
        raise AssertionError


def made(
    monkeypatch, *, seconds: float = 0.0, timing: MemoryTiming | None = None, progress=silent
) -> Simulated:
    clock = Clock(seconds)
    monkeypatch.setattr(simulation, "time", clock)
    return Simulated(Bench(), clock, timing or MemoryTiming(), progress)


def test_memory_begins_at_its_base_and_ends_with_its_size(monkeypatch):
    device = made(monkeypatch)
    device.write(MEMORY_BASE, b"first")
    device.write(MEMORY_BASE + SIZE - 4, b"last")
    assert device.read(MEMORY_BASE, 5) == b"first"
    assert device.read(MEMORY_BASE + SIZE - 4, 4) == b"last"
    assert device.read(MEMORY_BASE, SIZE) == b"first".ljust(SIZE - 4, b"\0") + b"last"
    assert device.read(MEMORY_BASE + SIZE, 0) == b""
    around = device.bench.memory.raw
    assert not any(around[:SIZE] + around[2 * SIZE :])


@pytest.mark.parametrize(
    ("address", "size"),
    [
        (MEMORY_BASE - 1, 1),
        (MEMORY_BASE - 1, 2),
        (MEMORY_BASE, SIZE + 1),
        (MEMORY_BASE + SIZE, 1),
        (MEMORY_BASE + SIZE + 1, 0),
        (MEMORY_BASE + 9, -1),
        (0, 4),
    ],
)
def test_bytes_outside_of_memory_are_refused(monkeypatch, address, size):
    device = made(monkeypatch)
    words = rf"^memory: {size} bytes at {address:#x} are not within 0x80000000\.\.0x8000003f$"
    with pytest.raises(ValueError, match=words):
        device.read(address, size)
    if size >= 0:
        with pytest.raises(ValueError, match=words):
            device.write(address, b"x" * size)
    assert not any(device.bench.memory.raw)


def test_faults_are_those_of_the_timing_and_later_ones(monkeypatch):
    first = MemoryFault(way="write", place=0x40)
    device = made(monkeypatch, timing=MemoryTiming(faults=(first,)))
    assert device.bench.faults == [(0x40, True)]
    device.inject(MemoryFault(way="read", place=3, by_number=True))
    assert device.bench.faults == [(0x40, True), (3, False)]
    device.forget_faults()
    assert device.bench.faults == []


def test_a_register_is_read_and_written_in_one_access(monkeypatch):
    device = made(monkeypatch)
    device.bench.status["data"] = 99
    device.bench.left = 250
    assert device.read_word(8) == 99
    device.write_word(12, 5)
    device.write_word(16, 6, 0b0010)
    assert device.bench.accesses == [(0, 8, 0, 0), (1, 12, 5, 0b1111), (1, 16, 6, 0b0010)]
    assert set(device.bench.goals) == {Goal.ACCESS_OVER}
    assert sum(device.batches) >= 250


@pytest.mark.parametrize(("response", "name"), [(2, "SLVERR"), (3, "DECERR")])
def test_an_answer_that_is_not_okay_is_an_error(monkeypatch, response, name):
    device = made(monkeypatch)
    device.bench.status["response"] = response
    with pytest.raises(RegisterError, match=f"^register {REGISTER}: {name}: it may not be read$"):
        device.read_word(OFFSET)
    with pytest.raises(RegisterError, match=rf"{name}: it may not be written \(now\)$"):
        device.write_word(OFFSET, 1)
    with pytest.raises(RegisterError, match=r"^register 0xff4: "):
        device.read_word(0xFF4)


def test_an_access_without_a_response_is_given_up(monkeypatch):
    device = made(monkeypatch)
    device.bench.status["accessing"] = 1
    device.bench.left = 1_000_000
    with pytest.raises(DeviceError, match=f"^register {REGISTER}: no response: 20,000 cycles$"):
        device.read_word(OFFSET)
    assert sum(device.batches) == 20_000
    device.bench.status["message"] = b"too la" + b"\xff"
    with pytest.raises(DeviceError, match=r"no response: too la\ufffd$"):
        device.read_word(OFFSET)


def test_waiting_ends_with_the_interrupt_or_the_cycles(monkeypatch):
    device = made(monkeypatch)
    device.bench.status |= {"state": State.RUNNING, "interrupt": 1}
    device.bench.left = 130
    assert device.wait(1_000) is True
    assert device.batches == [FIRST, 400]
    assert set(device.bench.goals) == {Goal.INTERRUPT}
    device.bench.status["interrupt"] = 0
    device.batches.clear()
    device.bench.left = 10_000
    assert device.wait(730) is False
    assert sum(device.batches) == 730
    device.batches.clear()
    assert device.wait(0) is False
    assert device.batches == []


@pytest.mark.parametrize("state", [state for state in State if state is not State.RUNNING])
def test_waiting_for_a_run_that_is_over_is_told(monkeypatch, state):
    device = made(monkeypatch)
    device.bench.status["state"] = state
    with pytest.raises(StoppedError, match="the run is over"):
        device.wait(10)


@pytest.mark.parametrize(
    ("seconds", "last"), [(1e-2, FIRST), (1e-4, 1_000), (2e-5, 5_000), (0, 4**6 * FIRST)]
)
def test_it_comes_up_for_air_every_tenth_of_a_second(monkeypatch, seconds, last):
    """At first after a few cycles; never after more than four times as many as before."""
    told: list[tuple[str, float | None]] = []
    device = made(monkeypatch, seconds=seconds, progress=lambda *words: told.append(words))
    device.bench.status |= {"state": State.RUNNING, "cycles": 1_234}
    counted = count()
    monkeypatch.setattr(device.bench, "celosia_towards", lambda *_: next(counted) < 7)
    device.wait(1 << 40)
    assert device.batches[0] == FIRST
    assert device.batches[-1] == last
    assert all(b <= 4 * a for a, b in zip(device.batches, device.batches[1:], strict=False))
    assert told == [("simulated 1,234 cycles", None)] * 7


def test_nothing_is_told_of_accesses(monkeypatch):
    told: list[str] = []
    device = made(monkeypatch, progress=lambda text, _: told.append(text))
    device.bench.left = 900
    device.read_word(0)
    assert told == []


def test_traffic_is_what_memory_counted(monkeypatch):
    device = made(monkeypatch)
    counts = Status().counts
    names = [name for name, *_ in counts._fields_]
    for number, name in enumerate(names):
        setattr(counts, name, number + 1)
    device.bench.status["counts"] = counts
    assert device.traffic() == {name: number + 1 for number, name in enumerate(names)}


def test_a_closed_device_is_of_no_use(monkeypatch):
    with made(monkeypatch) as device:
        assert device.bench.destroyed == 0
    assert device.bench.destroyed == 1
    device.close()
    assert device.bench.destroyed == 1
    for use in (
        lambda: device.read(MEMORY_BASE, 1),
        lambda: device.write(MEMORY_BASE, b"x"),
        lambda: device.read_word(0),
        lambda: device.wait(1),
        device.traffic,
        device.forget_faults,
    ):
        with pytest.raises(ValueError, match="the simulated device is closed"):
            use()
