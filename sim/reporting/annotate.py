"""The listing of a program with the cycles of each line."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.operations.loops import expand
from celosia.sim.profile.hottest import by_command
from celosia.sim.profile.profile import Profile
from celosia.sim.reporting.run_file import read_profile, read_timed_run
from celosia.sim.support.problems import InputError
from celosia.sw.driver.assembly import format_command
from celosia.sw.driver.program_file import load_program

__all__ = ["annotate", "listing"]

_WIDTH: Final = 72
"""Columns that a command takes."""


def listing(run: str, program: str = "") -> str:
    """The annotated program of the run's report `run`.

    Raises `InputError` if no instruction was followed, or `program` is the file of another one.
    """
    document = read_timed_run(run)
    profile = read_profile(run, document)
    if program:
        commands = expand(load_program(program).commands, AcceleratorConfig(**document["config"]))
        if [command for _, command in commands] != list(profile.commands):
            raise InputError(f"{program}: is not the program that {run} is about")
    return annotate(profile)


def annotate(profile: Profile) -> str:
    """A line for each command, loops expanded; `parse_program` takes it: cycles are comments.

    Cycles are those of the instruction's unit; `lost` are those of the array between the product
    before and this one, `waited` those in the queue.
    """
    found = by_command(profile)
    lines = [f"{'':{_WIDTH}}  # {'cycles':>9} {'lost':>9} {'waited':>9}  unit, operator"]
    operator = None
    for index, command in enumerate(profile.commands):
        name = profile.operator_of(index)
        if name != operator:
            lines += ["", f"# {name or 'before all operators'}"]
            operator = name
        text = format_command(command)
        if hot := found.get(index):
            numbers = f"{hot.cycles:9,} {hot.lost:9,} {hot.waited:9,}"
            lines.append(f"{text:{_WIDTH}}  # {numbers}  {hot.unit}")
        else:
            lines.append(text)
    return "\n".join([*lines, ""])
