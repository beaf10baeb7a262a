"""What a device tells its accelerator before a run, and makes of it after one; there is no RTL."""

from typing import Any

import pytest

from celosia.isa.encoding import CONFIG_EX, FENCE, Command, pack_ring
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.sim.devices import rtl_device
from celosia.sim.devices.rtl_device import RtlDevice, Setup
from celosia.sim.support.progress import silent
from celosia.sim.verilator.harness.binding import Goal, State
from celosia.sim.verilator.harness.settings import RING_BYTES, patience, ring_base
from celosia.sw.driver.device import DeviceError
from celosia.sw.driver.host import ErrorReport, IdentityError, Queues, Range
from celosia.sw.driver.ring import StoppedError
from tests.sim.devices.python_bench import HANDLE, SIZE, Bench

CONFIG, TIMING = PRESETS["tiny"], MemoryTiming(latency=5)
PROGRAM = [FENCE.encode(), CONFIG_EX.encode(), FENCE.encode()]
WHOLE = Range(MEMORY_BASE, MEMORY_BASE + SIZE - 1)
MARKED = 2
"""Marks that a product follows."""


def counted(commands: int, cycles: int = 9) -> dict[str, int]:
    """Counters of a run, in which each unit has one owner."""
    zeros = {counter.name: 0 for counter in COUNTERS}
    owners = {unit.owners[0].name: cycles for unit in TABLES}
    return zeros | owners | {"cycles": cycles, "commands": commands}


class Host:
    """The accelerator's registers; it remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.clears = self.working = True
        self.registers = self
        self.failure: ErrorReport | None = None
        self.found = counted(len(PROGRAM))

    def read(self, name: str) -> int:
        assert name == "COUNTER_COMMANDS"
        return 2

    def write(self, name: str, value: int) -> None:
        self.told.append((name, value))

    def permit(self, reads: Range, writes: Range) -> None:
        self.told.append(("permit", reads, writes))

    def set_patience(self, *, cycle_budget: int, watchdog: int) -> None:
        self.told.append(("patience", cycle_budget, watchdog))

    def begin(self, *, ring: bool) -> None:
        self.told.append(("begin", ring))

    def clear(self) -> bool:
        self.told.append(("clear",))
        return self.clears

    def identify(self, config) -> None:
        if not self.working:
            raise DeviceError("no response")
        self.told.append(("identify", config))

    def counters(self) -> dict[str, int]:
        return self.found

    def busy(self) -> bool:
        return not self.working

    def error(self) -> ErrorReport | None:
        return self.failure

    def queues(self) -> Queues:
        return Queues(queued={"load": 1}, waits={"load": 0})


class RtlBench(Bench):
    """A bench that runs programs at once."""

    def __init__(self) -> None:
        super().__init__()
        self.status |= {"state": State.DONE, "cycles": 9}
        self.loaded: list[Any] = []
        self.marks: list[tuple[list[int], int]] = []

    def celosia_load(self, handle, image, count):
        self.loaded.append((image, count))

    def celosia_load_ring(self, handle):
        self.loaded.append("ring")

    def celosia_end_ring(self, handle):
        self.loaded.append("end")

    def celosia_mark(self, handle, commands, count, first, sizes, units):
        assert [*sizes] == [len(table.owners) for table in TABLES]
        assert (count, units) == (len(commands), len(TABLES))
        self.marks.append(([*commands], first))

    def celosia_marked(self, handle, values):
        reached = min(MARKED, len(values) // len(COUNTERS))
        values[: reached * len(COUNTERS)] = range(reached * len(COUNTERS))
        return reached


class Device(RtlDevice):
    """Runs programs at once; whether runs can be marked is `observable`."""

    name = "simulated"
    observable = True

    def __init__(self) -> None:
        self.bench: Any = RtlBench()
        self.resets = 0
        super().__init__(Setup(CONFIG, TIMING, SIZE, silent), self.bench, HANDLE)
        self.registers: Any = Host()
        self.host = self.registers

    def told(self) -> list[tuple[Any, ...]]:
        """What the host was told since the last call."""
        said, self.registers.told = self.registers.told, []
        return said

    def _advance(self, edges: int, goal: Goal) -> None:
        raise AssertionError

    def _reset(self) -> None:
        self.resets += 1

    def _observable(self) -> bool:
        return self.observable


@pytest.fixture
def device() -> Device:
    return Device()


SETTINGS = [("permit", WHOLE, WHOLE), ("patience", 0, patience(CONFIG, TIMING))]


def test_power_on_resets_and_identifies(device):
    device.power_on()
    assert device.resets == 1
    assert device.told() == [("identify", CONFIG)]
    device.registers.working = False
    with pytest.raises(IdentityError, match=r"^no response$"):
        device.power_on()


def test_a_run_is_a_program_then_its_cycles_and_counters(device):
    result = device.run(PROGRAM)
    assert device.bench.loaded == [(pack_ring(PROGRAM), 3)]
    assert set(device.bench.goals) == {Goal.RUN_OVER}
    assert (result.cycles, result.counters, result.marks) == (9, counted(3), ())
    assert result.seconds >= 0
    assert device.told() == [*SETTINGS, ("begin", False)]


def test_what_the_registers_hold_is_not_written_again(device):
    device.run(PROGRAM)
    device.told()
    device.run(PROGRAM)
    assert device.told() == [("begin", False)]
    device.limit_cycles(77)
    device.permit(MEMORY_BASE + 8, MEMORY_BASE + 15)
    device.run(PROGRAM)
    part = Range(MEMORY_BASE + 8, MEMORY_BASE + 15)
    changed = [("permit", part, part), ("patience", 77, patience(CONFIG, TIMING))]
    assert device.told() == [*changed, ("begin", False)]
    device.write_register("WATCHDOG", 5)
    device.run(PROGRAM)
    assert device.told() == [("WATCHDOG", 5), *changed, ("begin", False)]


class Ring:
    """A ring that takes everything."""

    made: tuple[Any, ...] = ()
    stops = False
    done = len(PROGRAM)

    def __init__(self, host, write, base, entries):
        Ring.made = (base, entries)
        write(base, b"entry")

    def open(self) -> None:
        pass

    def feed(self, image: bytes) -> None:
        assert image == pack_ring(PROGRAM)
        if Ring.stops:
            raise StoppedError("the run is over")

    def finish(self) -> None:
        pass

    def completed(self) -> int:
        return Ring.done


@pytest.fixture
def ring(monkeypatch) -> type[Ring]:
    monkeypatch.setattr(rtl_device, "CommandRing", Ring)
    monkeypatch.setattr(Ring, "stops", False)
    monkeypatch.setattr(Ring, "done", len(PROGRAM))
    return Ring


@pytest.fixture
def ringed(monkeypatch, device) -> Device:
    """A device whose ring's page is the end of the bench's memory."""
    monkeypatch.setattr(rtl_device, "ring_base", lambda size: MEMORY_BASE + size)
    return device


def test_a_ring_may_be_read_and_is_behind_memory(ring, ringed):
    result = ringed.run(PROGRAM, "ring")
    base = MEMORY_BASE + SIZE
    assert Ring.made == (base, RING_BYTES // 24)
    reads = Range(MEMORY_BASE, base + RING_BYTES - 1)
    assert ringed.told() == [("permit", reads, WHOLE), SETTINGS[1], ("begin", True)]
    assert ringed.bench.loaded == ["ring", "end"]
    assert ringed.bench.memory.raw[2 * SIZE :].startswith(b"entry")
    assert result.cycles == 9
    assert ring_base(SIZE) == MEMORY_BASE + 4096
    ringed.permit(MEMORY_BASE - 8, base + RING_BYTES + 8)
    ringed.run(PROGRAM, "ring")
    wide = Range(MEMORY_BASE - 8, base + RING_BYTES + 8)
    assert ringed.told()[0] == ("permit", wide, wide)


def test_a_ring_that_was_not_read_to_its_end_is_an_error(ring, ringed):
    ring.done = 2
    with pytest.raises(DeviceError, match=r"^RING_COMPLETED: 2 of 3 commands$"):
        ringed.run(PROGRAM, "ring")


def test_a_run_that_is_over_before_its_ring_is_told_by_its_state(ring, ringed):
    ring.stops = True
    ringed.bench.status |= {"state": State.PROTOCOL, "message": b"it is bad"}
    with pytest.raises(DeviceError, match="bus protocol broken by the accelerator: it is bad"):
        ringed.run(PROGRAM, "ring")
    assert ringed.bench.loaded == ["ring"]


def test_marks_are_numbered_as_the_accelerator_counts_commands(device):
    device.run(PROGRAM)
    result = device.run(PROGRAM, marks=[0, 1, 2])
    device.run(PROGRAM)
    assert device.bench.marks == [([], 0), ([0, 1, 2], 3), ([], 6)]
    names = [counter.name for counter in COUNTERS]
    first, second, last = result.marks
    assert first == {name: number for number, name in enumerate(names)}
    assert second == {name: len(names) + number for number, name in enumerate(names)}
    assert last == result.counters, "no product followed"


def test_only_an_accelerator_that_shows_its_products_is_marked(device):
    device.observable = False
    assert device.run(PROGRAM).marks == ()
    with pytest.raises(ValueError, match=r"^marks: this accelerator does not show when products"):
        device.run(PROGRAM, marks=[1])


@pytest.mark.parametrize(
    ("state", "accessing", "clears", "resets"),
    [
        (State.DONE, 0, True, 0),
        (State.DONE, 0, False, 1),
        (State.DONE, 1, True, 1),
        (State.WATCHDOG, 0, True, 0),
        (State.PROTOCOL, 0, True, 1),
        (State.RUNNING, 0, True, 1),
    ],
)
def test_what_a_failed_run_leaves_is_cleared_or_reset(device, state, accessing, clears, resets):
    device.run(PROGRAM)
    device.bench.status |= {"state": State.ERROR_REGISTER}
    device.registers.failure = ErrorReport(cause=Cause.SHAPE, bus_id=0, command=4, address=0)
    with pytest.raises(DeviceError) as caught:
        device.run(PROGRAM)
    assert caught.value.command == 1, "the fourth command is the second one of this run"
    device.told()
    device.registers.clears = clears
    device.bench.status |= {"state": state, "accessing": accessing}
    firsts: list[int] = []

    def mark(handle, commands, count, first, sizes, units):
        firsts.append(first)
        device.bench.status |= {"state": State.DONE}

    device.bench.celosia_mark = mark
    device.run(PROGRAM)
    assert device.resets == resets
    assert firsts == [0], "commands are counted anew"
    asked = State.DONE <= state < State.PROTOCOL and not accessing
    again = SETTINGS if resets else []
    assert device.told() == [*([("clear",)] if asked else []), *again, ("begin", False)]


def test_an_error_tells_how_far_the_program_came(device):
    device.bench.status |= {"state": State.ERROR_REGISTER, "accepted": 3}
    device.registers.failure = ErrorReport(cause=Cause.SHAPE, bus_id=0, command=1, address=0)
    with pytest.raises(DeviceError, match="SHAPE") as caught:
        device.run(PROGRAM)
    error = caught.value
    assert (error.cause, error.command, error.begun) == (Cause.SHAPE, 1, 2)
    assert error.stopped is not None
    assert error.stopped.result.counters == counted(3)
    assert error.stopped.result.cycles == 9
    assert error.stopped.waiting == ("load (1 queued) waits for nothing, and was halted",)
    assert error.stopped.commands == ((0, "fence"), (1, "config_ex"))
    device.registers.working = False
    with pytest.raises(DeviceError) as caught:
        device.run(PROGRAM)
    assert caught.value.stopped is not None
    assert caught.value.stopped.result.counters == {}, "what is busy goes on counting"


@pytest.mark.parametrize("state", [State.PROTOCOL, State.ASSERTION])
def test_registers_are_not_read_when_a_rule_is_broken(device, state):
    device.bench.status |= {"state": state, "accepted": 2}
    with pytest.raises(DeviceError) as caught:
        device.run(PROGRAM)
    assert caught.value.begun is None
    assert caught.value.stopped is not None
    assert caught.value.stopped.waiting == ()
    assert caught.value.stopped.result.counters == {}
    assert caught.value.stopped.commands == ((0, "fence"), (1, "config_ex"))


def test_owners_are_looked_at_and_commands_have_seven_bits(device):
    device.registers.found = counted(3) | {TABLES[1].owners[0].name: 8}
    with pytest.raises(DeviceError, match=f"{TABLES[1].name} has owners of 8 of 9 cycles"):
        device.run(PROGRAM)
    device.bench.loaded.clear()
    for funct in (128, -1):
        with pytest.raises(ValueError, match=f"^command 1: funct {funct} has over 7 bits$"):
            device.run([FENCE.encode(), Command(funct)])
    assert not device.bench.loaded
    device.registers.found = counted(3)
    device.run([FENCE.encode(), Command(127)])


def test_its_share_is_that_of_the_commands_accepted(device):
    status = device._status()
    assert device._share(status) is None
    device.run(PROGRAM)
    status.accepted = 2
    assert device._share(status) == pytest.approx(2 / 3)
    device.run([])
    assert device._share(status) is None
