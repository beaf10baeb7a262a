"""Why a program stopped before its end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.isa.registers.errors import Cause
from celosia.sw.driver.device import DeviceError

__all__ = ["Failure"]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The accelerator stopped before its program ended."""

    message: str
    cause: str
    """A name of `celosia.isa.registers.errors.Cause`; ``NONE``: the simulator gave it up."""
    command: int | None = None
    """Index of the command that is to blame, if one is."""
    waiting: tuple[str, ...] = ()
    """Clauses that say which controller waited for what when the run stopped."""
    last_commands: tuple[tuple[int, str], ...] = ()
    """The last commands that were accepted: number and text."""
    until: Mapping[str, int] = field(default_factory=dict)
    """What had been counted by then; empty without a clock, or if nobody can say."""
    begun: int | None = None
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

    def document(self) -> dict[str, Any]:
        """The failure as an object for JSON."""
        return {
            "message": self.message,
            "cause": self.cause,
            "command": self.command,
            "waiting": list(self.waiting),
            "last_commands": [
                {"command": number, "text": text} for number, text in self.last_commands
            ],
        }
