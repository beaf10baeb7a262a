"""A board as a `Device`: memory and registers by the serial link, commands from the ring."""

import time
from collections.abc import Sequence
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import RING_ENTRY, Command, pack_ring
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.registers.map import REGISTERS
from celosia.isa.registers.serial import Result, Verb
from celosia.sim.board.link import SerialLink
from celosia.sim.devices.diagnosis import Stop, device_error
from celosia.sim.devices.rtl_device import check_owners
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.harness.binding import State, Status
from celosia.sim.verilator.harness.settings import WATCHDOG_EDGES
from celosia.sw.driver.device import DeviceError, Issue, RunResult
from celosia.sw.driver.expansion import check_program
from celosia.sw.driver.host import Host, IdentityError, Range
from celosia.sw.driver.registers import RegisterError
from celosia.sw.driver.ring import CommandRing, StoppedError

__all__ = ["BoardDevice", "BoardPort"]

RING_BYTES: Final = 4096
"""Bytes for the command ring, at the end of the board's memory."""


class BoardPort:
    """The registers behind a link: a `RegisterPort`.  Its methods raise `LinkError`, too."""

    def __init__(self, link: SerialLink):
        self.link = link

    def read_word(self, offset: int) -> int:
        """The register at `offset`.  Raises `RegisterError` if it may not be read."""
        reply = self.link.ask(Verb.READ_REGISTER, offset, 4)
        if reply.result is not Result.DONE:
            raise RegisterError(f"register {offset:#x}: it may not be read")
        return int.from_bytes(reply.payload, "little")

    def write_word(self, offset: int, word: int) -> None:
        """Write a register.  Raises `RegisterError` if it may not be written."""
        reply = self.link.ask(Verb.WRITE_REGISTER, offset, payload=word.to_bytes(4, "little"))
        if reply.result is not Result.DONE:
            raise RegisterError(f"register {offset:#x}: it may not be written (now)")

    def wait(self, cycles: int) -> bool:
        """Ask again and again whether the interrupt is high, for about so many cycles."""
        deadline = time.monotonic() + cycles / self.link.greeting.clock_hz
        while True:
            if self.link.ask(Verb.READ_REGISTER, REGISTERS["STATUS"].offset, 4).interrupt:
                return True
            if time.monotonic() >= deadline:
                return False


class BoardDevice:
    """A `Device` on a board that answers `link`.

    Opening it resets the accelerator.  Memory keeps its contents; the last `RING_BYTES` are the
    ring's.  The constructor raises `InputError` if the accelerator is not one of `config`.
    """

    name = "board"

    def __init__(self, config: AcceleratorConfig, link: SerialLink, progress: Progress = silent):
        self.config = config
        self.memory_bytes = link.greeting.memory_bytes - RING_BYTES
        self.host = Host(BoardPort(link))
        """The driver of its registers."""
        self._link = link
        self._progress = progress
        self._cycle_budget = 0
        self._commands = 0  # Run since the accelerator began to count them.
        self._restart()
        try:
            self.host.identify(config)
        except IdentityError as error:
            raise InputError(f"{link.path}: {error}") from None

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into memory.  Raises `InputError` outside of it."""
        self._check(address, len(data))
        self._write(address, data)

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of memory.  Raises `InputError` outside of it."""
        self._check(address, size)
        found = b""
        most = self._link.greeting.most_payload
        for done in range(0, size, most):
            self._progress(f"reading {size:,} bytes", done / size)
            offset = address - MEMORY_BASE + done
            found += self._link.ask(Verb.READ, offset, min(most, size - done)).payload
        return found

    def limit_cycles(self, budget: int) -> None:
        """Stop programs with CYCLE_BUDGET after so many busy cycles in a row; 0: never."""
        self._cycle_budget = budget

    def run(
        self, program: Sequence[Command], issue: Issue = "ring", marks: Sequence[int] = ()
    ) -> RunResult:
        """Execute `program` to completion.

        Cycles are those in which the accelerator was busy.  There are no counters at `marks`: those
        of the result are empty.  Raises `DeviceError` when the accelerator stops, and `ValueError`
        for an `issue` other than ``ring``.
        """
        if issue != "ring":
            raise ValueError(f"issue: {issue}: commands reach a board from the ring only")
        check_program(program, self.config, marks)
        image = pack_ring(program)
        begin = time.process_time()
        self._make_ready()
        base = MEMORY_BASE + self.memory_bytes
        ring = CommandRing(self.host, self._write, base, RING_BYTES // RING_ENTRY.size)
        try:
            ring.open()
            ring.feed(image)
            self._progress("running", None)
            ring.finish()
        except StoppedError:
            pass  # The error register says why.
        if self.host.error():
            raise self._error(program)
        counters = self.host.counters()
        check_owners(counters)
        self._commands += counters["commands"]
        return RunResult(counters["cycles"], counters, time.process_time() - begin)

    def close(self) -> None:
        """Give back the port."""
        self._link.close()

    def _make_ready(self) -> None:
        """Clear or reset what an earlier run has left, and write the registers of this one."""
        if self.host.busy():
            self._restart()
        elif self.host.error():
            self.host.clear()
            self._commands = 0
        writes = Range(MEMORY_BASE, MEMORY_BASE + self.memory_bytes - 1)
        self.host.permit(Range(MEMORY_BASE, writes.limit + RING_BYTES), writes)
        self.host.set_patience(cycle_budget=self._cycle_budget, watchdog=self._patience)
        self.host.begin(ring=True)

    @property
    def _patience(self) -> int:
        return WATCHDOG_EDGES * self.config.row_parts

    def _restart(self) -> None:
        self._link.ask(Verb.RESET)
        self._commands = 0

    def _error(self, program: Sequence[Command]) -> DeviceError:
        """The exception for a run that an error stopped."""
        stop = Stop(Status(state=State.DONE), self._commands, 0, self._patience)
        stop.error, stop.queues = self.host.error(), self.host.queues()
        stop.issued = self.host.registers.read("COUNTER_COMMANDS")
        error = device_error(program, self.config, stop)
        error.begun = stop.issued
        return error

    def _write(self, address: int, data: bytes) -> None:
        most = self._link.greeting.most_payload
        for done in range(0, len(data), most):
            self._progress(f"writing {len(data):,} bytes", done / len(data))
            part = data[done : done + most]
            self._link.ask(Verb.WRITE, address - MEMORY_BASE + done, payload=part)

    def _check(self, address: int, size: int) -> None:
        offset = address - MEMORY_BASE
        if size < 0 or offset < 0 or offset + size > self.memory_bytes:
            last = MEMORY_BASE + self.memory_bytes - 1
            raise InputError(
                f"the board's memory: {size} bytes at {address:#x} are not within "
                f"{MEMORY_BASE:#x}..{last:#x}"
            )
