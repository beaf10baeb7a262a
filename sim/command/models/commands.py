"""Adds the commands that take models of other tools."""

import typer

from celosia.lab.accuracy.accuracy_command import accuracy
from celosia.sim.command.models.build_command import build
from celosia.sim.command.models.check_command import check
from celosia.lab.substitute.opt_command import opt

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for command in (check, build, opt, accuracy):
        app.command()(command)
