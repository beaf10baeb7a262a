"""Why a program stopped before its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from celosia.isa.documents.record import As, Count, Hidden
from celosia.isa.registers.errors import Cause
from celosia.sw.driver.device import DeviceError

__all__ = ["Accepted", "Failure"]


@dataclass(frozen=True)
class Accepted:
    """A command that the accelerator had accepted."""

    command: Count
    """Its index in the program."""
    text: str
    """The command in assembly."""


def _accepted(commands: Sequence[tuple[int, str]]) -> Sequence[Accepted]:
    return [Accepted(*each) for each in commands]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The accelerator stopped before its program ended."""

    message: str
    """What happened, in words."""
    cause: str
    """A cause of [isa.md](isa.md#error-causes); `NONE`: the simulator gave it up: a rule of a bus
    or an assertion of the RTL is broken, or nothing moves."""
    command: Count | None = None
    """Index of the command that is to blame, if one is."""
    waiting: tuple[str, ...] = ()
    """Clauses that say which controller waited for what when the run stopped."""
    last_commands: Annotated[tuple[tuple[int, str], ...], As(_accepted)] = ()
    """The last commands that were accepted, loops expanded."""
    until: Hidden[Mapping[str, int]] = field(default_factory=dict)
    """What had been counted by then; empty without a clock, or if nobody can say."""
    begun: Hidden[int | None] = None
    """Commands, loops expanded, that had reached the decoder; None: nobody can say."""

    @classmethod
    def of(cls, error: DeviceError) -> "Failure":
        """What `error` says."""
        stopped = error.stopped
        return cls(
            message=str(error),
            cause=Cause(error.cause).name,
            command=error.command,
            waiting=stopped.waiting if stopped else (),
            last_commands=stopped.commands if stopped else (),
            until=stopped.result.counters if stopped else {},
            begun=error.begun,
        )
