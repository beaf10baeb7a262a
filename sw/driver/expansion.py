"""Programs and what they stand for: numbers of commands, as the accelerator counts them.

The accelerator counts, reports and shows the commands that come out of loops
(`celosia.isa.operations.loops.expand`); here they find back to the program.
"""

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loops import expand, missing_commands, unroll
from celosia.isa.operations.semantics import LOOP_FUNCTS
from celosia.sw.driver.assembly import format_command

__all__ = ["Issued", "check_program", "expanded_length", "issued_command", "issued_commands"]

_EXPANDED = {*LOOP_FUNCTS, LOOP_WS.funct, *(known.funct for known in LOOP_WS_CONFIGS)}
"""Functs of commands that may stand for others."""


class Issued(NamedTuple):
    """A command as it reaches the decoder."""

    number: int
    """The command's number in the expanded program."""
    command: Command
    entry: int
    """The index, in the program, of the command that it came out of."""
    source: Command
    """The command that it came out of."""

    @property
    def text(self) -> str:
        """The command in assembly, and where it came from."""
        text = format_command(self.command)
        if self.number == self.entry and self.command == self.source:
            return text
        return f"{text} (entry {self.entry} of the program: {format_command(self.source)})"


def has_loops(program: Sequence[Command]) -> bool:
    """Whether some command of `program` stands for others."""
    return any(command.funct in _EXPANDED for command in program)


def expanded_length(
    program: Sequence[Command], config: AcceleratorConfig, most: int | None = None
) -> int:
    """How many commands `program` stands for; if they are over `most`, and it has loops, `most`."""
    if not has_loops(program):
        return len(program)
    length = 0
    for _, unit in unroll(program, config):
        length += 1 if isinstance(unit, Command) else len(unit)
        if most is not None and length >= most:
            return most
    return length


def issued_command(
    program: Sequence[Command], config: AcceleratorConfig, number: int
) -> Issued | None:
    """The command with this number, counted from the first one that `program` stands for."""
    found = issued_commands(program, config, number, 1) if number >= 0 else ()
    return found[0] if found else None


def issued_commands(
    program: Sequence[Command], config: AcceleratorConfig, first: int, count: int
) -> tuple[Issued, ...]:
    """Up to `count` commands from the one with the number `first` on."""
    made = islice(enumerate(expand(program, config)), first, first + count)
    return tuple(
        Issued(number, command, entry, program[entry]) for number, (entry, command) in made
    )


def check_program(
    program: Sequence[Command], config: AcceleratorConfig, marks: Sequence[int] = ()
) -> None:
    """Raise `ValueError` for a program that can not end, or for `marks` that it does not have.

    They must be numbers of commands that it stands for, in order.
    """
    missing, index = missing_commands(program, config)
    if missing:
        raise ValueError(
            f"command {index}: {format_command(program[index])}: the program ends {missing} "
            f"command{'s' * (missing > 1)} before its body does"
        )
    for mark, later in pairwise(marks):
        if later < mark:
            raise ValueError(f"marks: {later} comes after {mark}: they must not descend")
    commands = expanded_length(program, config) if marks else 0
    for mark in marks:
        if not 0 <= mark < commands:
            raise ValueError(f"mark {mark}: the program has no such command: it has {commands}")
