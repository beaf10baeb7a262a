"""A device that simulates the RTL: everything that its two simulators have in common."""

import ctypes
import time
from collections.abc import Mapping, Sequence
from typing import Final

from celosia.isa.encoding import FUNCT_BITS, RING_ENTRY, Command, pack_ring
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.sim.devices.diagnosis import Stop, device_error, last_commands, who_waits
from celosia.sim.devices.simulation import Setup, Simulation
from celosia.sim.verilator.harness.binding import Goal, State, Status
from celosia.sim.verilator.harness.settings import RING_BYTES, patience, ring_base
from celosia.sw.driver.device import DeviceError, Issue, RunResult, Stopped
from celosia.sw.driver.expansion import check_program
from celosia.sw.driver.host import Host, IdentityError, Range
from celosia.sw.driver.ring import CommandRing, StoppedError

__all__ = [
    "DEFAULT_TIMING",
    "MEMORY_BYTES",
    "RING_ENTRIES",
    "RtlDevice",
    "Setup",
    "check_owners",
]

MEMORY_BYTES: Final = 64 << 20
"""Memory of a device, if nothing else is said."""

RING_ENTRIES: Final = RING_BYTES // RING_ENTRY.size

DEFAULT_TIMING: Final = MemoryTiming()

_TAG_MASK: Final = (1 << 32) - 1
"""The accelerator numbers commands in so many bits."""


class RtlDevice(Simulation):
    """A `Device` that drives the simulated accelerator through its registers.

    Memory (all zero at first), local memories (seeded garbage at first) and configuration keep
    their contents from one `run` to the next.  An error is cleared before the next run, which only
    local memories survive; what stays busy, or was interrupted, is reset.
    """

    def __init__(self, setup: Setup, library: ctypes.CDLL, handle: int):
        super().__init__(setup, library, handle)
        self.host = Host(self)
        """The driver of its registers."""
        self.ring_entries = RING_ENTRIES
        """The entries of the ring that `run` uses; at most `RING_ENTRIES`."""
        self._limits = Range(MEMORY_BASE, MEMORY_BASE + setup.memory_bytes - 1)
        self._cycle_budget = 0
        self._told: tuple[Range, Range, int] | None = None  # What the registers hold.
        self._commands = 0  # Run since the accelerator began to count them.
        self._share_of = 0  # Commands of this run.
        self._clean = True

    def power_on(self) -> None:
        """Reset it and look whether it is what it must be: the last step of a constructor.

        Raises `IdentityError` if it does not answer as an accelerator of this configuration.
        """
        self._restart()
        try:
            self.host.identify(self.config)
        except DeviceError as error:
            raise IdentityError(str(error)) from error

    def permit(self, base: int, limit: int) -> None:
        """Let programs read and write `base` to `limit`, both included.

        At first that is exactly the device's memory.
        """
        self._limits = Range(base, limit)

    def limit_cycles(self, budget: int) -> None:
        """Stop programs with an error after so many busy cycles in a row; 0: never."""
        self._cycle_budget = budget

    def read_register(self, name: str) -> int:
        """A register or a 64-bit pair of `celosia.isa.registers.map`.

        Raises `ValueError` for an unknown name, `RegisterError` for an answer that is not OKAY.
        """
        return self.host.registers.read(name)

    def write_register(self, name: str, value: int) -> None:
        """Give a register or a pair a value; raises as `read_register` does."""
        self.host.registers.write(name, value)
        self._told = None

    def run(
        self, program: Sequence[Command], issue: Issue = "stream", marks: Sequence[int] = ()
    ) -> RunResult:
        """Execute `program` to completion; `Device.run` says what `marks` are.

        `bench.h` defines which cycles count.  Raises `DeviceError` when an error is recorded,
        nothing moves any more, a rule of a port is broken or an assertion fails; it says how far
        the program came.
        """
        self._open()
        image = _image(program)
        check_program(program, self.config, marks)
        self._make_ready(issue)
        self._mark(marks)
        self._clean = False
        self._share_of = len(program)
        begin = time.process_time()
        if issue == "ring":
            completed = self._run_ring(image)
        else:
            self._library.celosia_load(self._open(), image, len(program))
            completed = len(program)
        self._simulate(Goal.RUN_OVER)
        seconds = time.process_time() - begin
        # Whoever asked for the run now works with its results, and that may take longer than it.
        self._progress("comparing what the run has left, and following its log", None)
        status = self._status()
        if status.state != State.DONE:
            raise self._error(program, status, seconds, len(marks))
        if completed != len(program):
            raise DeviceError(f"RING_COMPLETED: {completed} of {len(program)} commands")
        counters = self.host.counters()
        check_owners(counters)
        result = self._result(status, counters, seconds, len(marks))
        self._commands += counters["commands"]
        self._clean = True
        return result

    def _result(
        self, status: Status, counters: dict[str, int], seconds: float, marks: int
    ) -> RunResult:
        """What the run has shown whose first command has the number `_commands`."""
        return RunResult(status.cycles, counters, seconds, self._marked(marks, counters))

    def _observable(self) -> bool:
        """Whether a run can be marked: whether the simulated RTL shows its products."""
        return False

    def _mark(self, marks: Sequence[int]) -> None:
        """Mark the next run; an empty sequence ends what an earlier run has left."""
        if marks and not self._observable():
            raise ValueError("marks: this accelerator does not show when products begin")
        commands = (ctypes.c_uint64 * len(marks))(*marks)
        first = self._commands & _TAG_MASK
        sizes = (ctypes.c_uint8 * len(TABLES))(*(len(table.owners) for table in TABLES))
        self._library.celosia_mark(self._open(), commands, len(marks), first, sizes, len(sizes))

    def _marked(self, count: int, final: dict[str, int]) -> tuple[dict[str, int], ...]:
        """The counters at each of so many marks: the final ones where no product followed."""
        values = (ctypes.c_uint64 * (count * len(COUNTERS)))()
        reached = self._library.celosia_marked(self._open(), values)
        names = [counter.name for counter in COUNTERS]
        rows = (values[index * len(names) : (index + 1) * len(names)] for index in range(reached))
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return (*found, *(dict(final) for _ in range(count - len(found))))

    def _run_ring(self, image: bytes) -> int:
        """Feed the ring until everything is done, or the run is over; commands completed."""
        ring = CommandRing(
            self.host, self._write_ring, ring_base(self.memory_bytes), self.ring_entries
        )
        try:
            ring.open()
            self._library.celosia_load_ring(self._open())
            ring.feed(image)
            self._library.celosia_end_ring(self._open())
            ring.finish()
        except StoppedError:
            pass  # The status of the run says why.
        if self._status().state >= State.PROTOCOL:
            return 0
        return ring.completed()

    def _write_ring(self, address: int, data: bytes) -> None:
        ctypes.memmove(self._memory + address - MEMORY_BASE, data, len(data))

    def _make_ready(self, issue: Issue) -> None:
        """Clear or reset what an earlier run has left, and write the registers of this one."""
        if not self._clean:
            status = self._status()
            alive = State.DONE <= status.state < State.PROTOCOL and not status.accessing
            if alive and self.host.clear():
                self._commands = 0
            else:
                self._restart()
        writes = reads = self._limits
        if issue == "ring":
            base = ring_base(self.memory_bytes)
            reads = Range(min(reads.base, base), max(reads.limit, base + RING_BYTES - 1))
        settings = (reads, writes, self._cycle_budget)
        if settings != self._told:
            self.host.permit(reads, writes)
            self.host.set_patience(
                cycle_budget=self._cycle_budget, watchdog=patience(self.config, self.timing)
            )
            self._told = settings
        self.host.begin(ring=issue == "ring")

    def _restart(self) -> None:
        self._reset()
        self._commands = 0
        self._told = None

    def _error(
        self, program: Sequence[Command], status: Status, seconds: float, marks: int
    ) -> DeviceError:
        """The exception for a run that did not end well."""
        stop = Stop(status, self._commands, status.accepted, patience(self.config, self.timing))
        counters: dict[str, int] = {}
        if status.state < State.PROTOCOL:
            stop.error, stop.queues = self.host.error(), self.host.queues()
            stop.issued = self.read_register("COUNTER_COMMANDS")
            # What stays busy has cycles that are not counted yet.
            counters = {} if self.host.busy() else self.host.counters()
        error = device_error(program, self.config, stop)
        error.begun = stop.issued
        error.stopped = Stopped(
            result=self._result(status, counters, seconds, marks),
            waiting=tuple(who_waits(stop)) if stop.queues else (),
            commands=last_commands(program, self.config, stop),
        )
        return error

    def _share(self, status: Status) -> float | None:
        return status.accepted / self._share_of if self._share_of else None


def check_owners(counters: Mapping[str, int]) -> None:
    """Raise `DeviceError` unless each unit has one owner in each cycle."""
    for unit in TABLES:
        owned = sum(counters[owner.name] for owner in unit.owners)
        if owned != counters["cycles"]:
            raise DeviceError(
                f"counters: {unit.name} has owners of {owned} of {counters['cycles']} cycles"
            )


def _image(program: Sequence[Command]) -> bytes:
    for index, command in enumerate(program):
        if not 0 <= command.funct < 1 << FUNCT_BITS:
            raise ValueError(f"command {index}: funct {command.funct} has over {FUNCT_BITS} bits")
    return pack_ring(program)
