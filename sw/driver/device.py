"""What a thing that runs programs looks like to the software.

Functional model, Amaranth's simulator and Verilator all implement `Device`, so one test, one
benchmark and one example run on every one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.errors import Cause, describe

__all__ = ["MEMORY_BASE", "Device", "DeviceError", "MemoryTiming", "RunResult"]

MEMORY_BASE = 0x8000_0000
"""First byte address of a simulated device's memory."""


@dataclass(frozen=True, kw_only=True)
class MemoryTiming:
    """How a simulated memory behaves.  The functional model ignores it."""

    latency: int = 40
    """Cycles from an accepted read address to its first beat, and from the last write beat to
    its response."""
    bytes_per_cycle: int = 16
    """Sustained bandwidth of reads, and of writes, each; may be below the bus width."""
    stall_percent: int = 0
    """Chance that a channel refuses, or holds back, in a cycle."""
    seed: int = 0
    """Of the stalls, and of the garbage in memories at power-on."""


@dataclass(frozen=True)
class RunResult:
    """The outcome of one program."""

    cycles: int | None
    """Cycles from the first command accepted to the last write response; None without a clock."""
    counters: dict[str, int] = field(default_factory=dict)
    """Hardware counters under the names of `celosia.isa.events`; empty without a clock."""
    seconds: float = 0.0
    """CPU time inside the run, memory model included."""


class DeviceError(RuntimeError):
    """The accelerator stopped: its error register is set, or its watchdog fired.

    Raised by `Device.run`; the command line turns it into exit code 1.
    """

    def __init__(self, message: str, cause: Cause = Cause.NONE, command: int | None = None):
        super().__init__(message)
        self.cause = cause
        self.command = command
        """Index of the command in its program, if one is to blame."""

    @classmethod
    def from_register(cls, cause: Cause, address: int, index: int, text: str) -> "DeviceError":
        """The error register's contents in words; `text` is the command in assembly."""
        place = f" at address {address:#x}" if address else ""
        return cls(f"{cause.name}: {describe(cause)}{place}: command {index}: {text}", cause, index)


class Device(Protocol):
    """An accelerator with its memory, addressed from `MEMORY_BASE`."""

    config: AcceleratorConfig
    name: str
    """``functional``, ``amaranth`` or ``verilator``."""
    memory_bytes: int

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into device memory.  Raises `ValueError` outside of it."""
        ...

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of device memory.  Raises `ValueError` outside of it."""
        ...

    def run(self, program: Sequence[Command]) -> RunResult:
        """Execute `program` to completion.  Raises `DeviceError` when the accelerator stops."""
        ...

    def close(self) -> None:
        """Give back processes, libraries and files."""
        ...
