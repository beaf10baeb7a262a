"""What a thing that runs programs looks like to the software.

Functional model, Amaranth's simulator and Verilator all implement `Device`, so one test, one
benchmark and one example run on every one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, get_args

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.shown import html_table
from celosia.isa.encoding import Command
from celosia.isa.registers.errors import Cause, describe

__all__ = [
    "ISSUES",
    "Device",
    "DeviceError",
    "Issue",
    "RunResult",
    "Stopped",
]


Issue = Literal["stream", "ring"]
"""How commands reach the accelerator: one by one on its command port, or from a ring in memory."""

ISSUES: Final[tuple[Issue, ...]] = get_args(Issue)


@dataclass(frozen=True)
class RunResult:
    """The outcome of one program."""

    cycles: int | None
    """Cycles from the first command accepted (of a ring: from its doorbell) to the last write
    response; None without a clock."""
    counters: dict[str, int] = field(default_factory=dict)
    """Hardware counters under the names of `celosia.isa.registers.events`; empty without a clock.
    """
    seconds: float = 0.0
    """CPU time inside the run, memory model included."""
    marks: tuple[dict[str, int], ...] = ()
    """The counters, since the run began, as they stood at each mark; empty without a clock, and on
    a board, which has nobody to look at them meanwhile."""
    log: object | None = None
    """What happened when, of a device that keeps a log."""

    def _repr_html_(self) -> str:
        """The cycles and all counters that are not zero, as a table for notebooks."""
        counted = [(name, count) for name, count in self.counters.items() if count]
        return html_table(("counter", "value"), [("cycles of the run", self.cycles), *counted])


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """How a program stood when it was stopped."""

    result: RunResult
    """What ran until then; without counters where they could not be read any more."""
    waiting: tuple[str, ...] = ()
    """Clauses that say what each controller that has something to do waits for."""
    commands: tuple[tuple[int, str], ...] = ()
    """The last ones that were accepted: the number of each, loops expanded, and its text."""


class DeviceError(RuntimeError):
    """The accelerator stopped: its error register is set, or a simulator gave it up.

    Raised by `Device.run`; the command line turns it into exit code 1.
    """

    stopped: Stopped | None = None
    """How the program stood on a device with a clock; None: the device has none."""
    begun: int | None = None
    """Commands, loops expanded, that had reached the decoder; None: nobody can say."""

    def __init__(self, message: str, cause: Cause = Cause.NONE, command: int | None = None):
        super().__init__(message)
        self.cause = cause
        self.command = command
        """Number of the command in its program, loops expanded, if one is to blame."""

    @classmethod
    def from_register(
        cls, cause: Cause, address: int, index: int, text: str, bus_id: int | None = None
    ) -> "DeviceError":
        """The error registers' contents in words; `text` is the command in assembly.

        `bus_id` is that of the response that failed, if it was one.
        """
        place = f" at address {address:#x}" if address else ""
        place += "" if bus_id is None else f", bus ID {bus_id}"
        return cls(f"{cause.name}: {describe(cause)}{place}: command {index}: {text}", cause, index)


class Device(Protocol):
    """An accelerator with its memory, addressed from `MEMORY_BASE`."""

    config: AcceleratorConfig
    name: str
    """``functional``, ``amaranth``, ``verilator`` or ``board``."""
    memory_bytes: int

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into device memory.  Raises `ValueError` outside of it."""
        ...

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of device memory.  Raises `ValueError` outside of it."""
        ...

    def limit_cycles(self, budget: int) -> None:
        """Stop programs with CYCLE_BUDGET after so many busy cycles in a row; 0: never.

        A device without a clock counts commands, loops expanded, in place of cycles.
        """
        ...

    def run(
        self, program: Sequence[Command], issue: Issue = "stream", marks: Sequence[int] = ()
    ) -> RunResult:
        """Execute `program` to completion, and read the counters at `marks` on the way.

        A mark is the number of a command, among those that the program stands for
        (`celosia.isa.operations.loops.expand`); the next product is the first COMPUTE not before
        it.  The counters stand as they do at the end of the last cycle that the array spends on the
        product before that one: on its rows, and on its own weights behind them.  All waits for the
        next product are behind the mark, and its rows; weights that move in below rows of the
        product before are of the cycles of those rows.  If there is no product before, counters are
        0; if there is no next one, they are the final ones.  Commands and traffic are counted when
        they happen, which may be long before the product that they are for.

        Marks take no cycle.  Raises `DeviceError` when the accelerator stops, and `ValueError` for
        a program that ends within a REPEAT's body, and for marks that descend or do not exist.
        """
        ...

    def close(self) -> None:
        """Give back processes, libraries and files."""
        ...
