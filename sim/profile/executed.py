"""A program that a device with a log has run: what a profile is made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.isa.encoding import Command
from celosia.sim.profile.log import RunLog
from celosia.sw.driver.device import RunResult

__all__ = ["Executed", "executed"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Executed:
    """A program and its log."""

    commands: Sequence[Command]
    operators: Sequence[str]
    """The operator of the graph that each command belongs to; empty for a command that has none."""
    log: RunLog
    schedule: str = ""
    """How its work is cut and ordered, in lines."""


def executed(
    result: RunResult,
    commands: Sequence[Command],
    operators: Sequence[str] | str,
    schedule: object = "",
) -> Executed | None:
    """The program of `result`; None if no log of it was kept.

    `operators` may be one for all commands.
    """
    if not isinstance(result.log, RunLog):
        return None
    names = [operators] * len(commands) if isinstance(operators, str) else operators
    return Executed(commands=commands, operators=names, log=result.log, schedule=str(schedule))
