"""Drives an accelerator by its registers only: what a host program on a real bus does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS, Owner
from celosia.isa.registers.map import (
    IDENTITY,
    INTERFACE_VERSION,
    REGISTER_BITS,
    REGISTERS,
    configuration_words,
)
from celosia.sw.driver.registers import RegisterPort, Registers

__all__ = ["ErrorReport", "Host", "IdentityError", "Queues", "Range"]

_COUNTER_MASK: Final = (1 << COUNTER_BITS) - 1


class IdentityError(ValueError):
    """What answers is no accelerator, or another one than the software was made for."""


@dataclass(frozen=True)
class Range:
    """Bytes of memory, both ends included."""

    base: int
    limit: int


@dataclass(frozen=True)
class ErrorReport:
    """What the error registers say."""

    cause: Cause
    bus_id: int
    """The bus ID of the access that failed."""
    command: int
    """Counted from 0 since reset or the last `Host.clear`."""
    address: int


@dataclass(frozen=True)
class Queues:
    """What is queued for each controller, and for what the oldest of it waits."""

    queued: Mapping[str, int]
    waits: Mapping[str, int]
    """Bits 0 to 3: for an older load, execute, store, transform; bit 4: for its controller."""
    token: str | None = None
    """Why the oldest load waits for stores to finish, in words; None if it does not."""
    loops: str | None = None
    """What the loop engine waits for, in words; None if it holds nothing."""


class Host:
    """An accelerator behind a `RegisterPort`.

    Nothing is known about it at first: begin with `identify`.
    """

    def __init__(self, port: RegisterPort):
        self.port = port
        self.registers = Registers(port)

    def identify(self, config: AcceleratorConfig) -> None:
        """Make sure that this is an accelerator of `config` with these registers.

        Raises `IdentityError` that names the register, what it says and what was expected.
        """
        identity = self.registers.read("IDENTITY")
        if identity != IDENTITY:
            raise IdentityError(f"IDENTITY: {identity:#010x} is not an accelerator's {IDENTITY:#x}")
        version = self.registers.read_fields("VERSION")
        major, minor = version["major"], version["minor"]
        if major != INTERFACE_VERSION[0] or minor < INTERFACE_VERSION[1]:
            ours = ".".join(map(str, INTERFACE_VERSION))
            raise IdentityError(
                f"VERSION: the accelerator has {major}.{minor}, this driver is for {ours}"
            )
        for name, expected in configuration_words(config).items():
            found = self.registers.read(name)
            if found != expected:
                raise IdentityError(_difference(name, found, expected))

    def permit(self, reads: Range, writes: Range) -> None:
        """Let commands touch these bytes only.  The accelerator must be idle."""
        self.registers.write("READ_BASE", reads.base)
        self.registers.write("READ_LIMIT", reads.limit)
        self.registers.write("WRITE_BASE", writes.base)
        self.registers.write("WRITE_LIMIT", writes.limit)

    def set_patience(self, *, cycle_budget: int = 0, watchdog: int = 0) -> None:
        """Stop programs with an error after so many busy cycles, or so many without progress.

        0: never.  The accelerator must be idle.
        """
        self.registers.write("CYCLE_BUDGET", cycle_budget)
        self.registers.write("WATCHDOG", watchdog)

    def enable_interrupts(self, *, done: bool = True, error: bool = True) -> None:
        """Choose what makes the interrupt output high."""
        self.registers.write_fields("INTERRUPT_ENABLE", done=done, error=error)

    def acknowledge(self) -> Mapping[str, int]:
        """Make the interrupt output low until the next event; the events that there were."""
        events = self.registers.read_fields("INTERRUPT_STATUS")
        self.registers.write_fields("INTERRUPT_STATUS", **events)
        return events

    def busy(self) -> bool:
        """Anything is queued, running or unacknowledged."""
        return bool(self.registers.read_fields("STATUS")["busy"])

    def error(self) -> ErrorReport | None:
        """The first error, if there is one."""
        fields = self.registers.read_fields("ERROR")
        if not fields["cause"]:
            return None
        return ErrorReport(
            Cause(fields["cause"]),
            fields["id"],
            self.registers.read("ERROR_COMMAND"),
            self.registers.read("ERROR_ADDRESS"),
        )

    def clear(self) -> bool:
        """Forget the error and everything queued, once bursts in flight are over.

        False: it is still busy, and if it stays so, only a reset helps.  Afterwards configuration
        is as after a reset, local memories have kept their contents, the interrupt is low and
        commands come from the stream.
        """
        if self.busy():
            return False
        self.registers.write_fields("CONTROL", clear_error=1)
        self.acknowledge()
        return True

    def begin(self, *, ring: bool) -> None:
        """Take commands from the ring or from the stream, and count from 0.

        The accelerator must be idle.
        """
        self.registers.write_fields("CONTROL", ring_enable=ring, clear_counters=1)

    def counters(self) -> dict[str, int]:
        """All counters, as `celosia.isa.registers.events` names them, of an idle accelerator.

        Owners of a unit add up to `cycles`, so that their upper halves are read only if it has one.
        """
        counted: dict[str, int] = {}
        for counter in COUNTERS:
            name = f"COUNTER_{counter.name.upper()}"
            if isinstance(counter, Owner) and counted["cycles"] >> REGISTER_BITS == 0:
                name += "_LO"
            counted[counter.name] = self.registers.read(name) & _COUNTER_MASK
        return counted

    def queues(self) -> Queues:
        """What is queued for each controller, and what the oldest of it waits for."""
        return Queues(
            self.registers.read_fields("DEBUG_QUEUES"),
            self.registers.read_fields("DEBUG_WAITS"),
            self._token(),
            self._loops(),
        )

    def _loops(self) -> str | None:
        fields = self.registers.read_fields("DEBUG_LOOPS")
        return _loops_text(fields["busy"], fields["missing"])

    def _token(self) -> str | None:
        waiting = self.registers.read_fields("DEBUG_TOKEN")
        if not waiting["waits"]:
            return None
        wait = TokenWait(waiting["id"], self.registers.read("DEBUG_TOKEN_COUNT"))
        return wait.describe(self.registers.read("DEBUG_TOKEN_VALUE"))


def _loops_text(busy: int, missing: int) -> str | None:
    if missing:
        return f"the loop engine waits for {missing} more commands of a REPEAT's body"
    return "the loop engine has more commands to issue" if busy else None


def _difference(name: str, found: int, expected: int) -> str:
    register = REGISTERS[name]
    ours, theirs = register.unpack(expected), register.unpack(found)
    different = ", ".join(
        f"{field} = {theirs[field]}, not {value}"
        for field, value in ours.items()
        if theirs[field] != value
    )
    return f"{name}: the accelerator is another one: {different or f'{found:#x}'}"
