"""`celosia page`: writes the page on which the RTL runs."""

from pathlib import Path
from typing import Annotated

import typer

from celosia.sim.command.outputs.folders import PAGE, check_place, make_folder
from celosia.sim.support.display import progress_bar
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import write_file
from celosia.sim.verilator.toolchain import find_compiler, find_verilator
from celosia.sim.verilator.wasm.modules import check_compiler
from celosia.sim.web.page import build_page
from celosia.sim.web.recorded import WrongResultError

__all__ = ["page"]


def page(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help=f"Where {PAGE} goes: one file, all in it.")
    ],
    text: Annotated[
        bool, typer.Option("--text/--no-text", help="With the small language model, of 2 MB.")
    ] = True,
) -> None:
    """Make a web page on which the RTL runs programs, from a file and without a server."""
    check_compiler()
    find_verilator()
    find_compiler()
    check_place(out)
    try:
        with progress_bar() as tell:
            made = build_page(tell, text=text)
    except WrongResultError as error:
        typer.echo(f"celosia: {error}", err=True)
        raise typer.Exit(WRONG) from None
    write_file(make_folder(out) / PAGE, made)
    typer.echo(f"{out / PAGE}: {len(made) / 1e6:.2f} MB; open it in a browser")
