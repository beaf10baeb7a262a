"""The command line: the commands of a table, and those that other packages add."""

from importlib import metadata
from typing import Annotated

import typer

from celosia.sim.command.entries import Commands
from celosia.sim.commands import COMMANDS
from celosia.sim.support.extensions import extensions
from celosia.sim.support.guard import run_guarded

__all__ = ["app", "main"]


class _All(Commands):
    """The commands of all packages."""

    table = (*COMMANDS, *(each for more in extensions("commands").values() for each in more))


app = typer.Typer(
    name="celosia",
    cls=_All,
    help="A transformer accelerator: its simulators, its compiler and its RTL.",
    epilog="Exit code 0: right; 1: wrong; 2: bad input, or something is missing; 130: interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The entry point."""
    run_guarded(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"celosia {metadata.version('celosia')}")
        raise typer.Exit


@app.callback()
def _celosia(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
