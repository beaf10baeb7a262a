"""The command line of the C host library."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from celosia.sim.support.display import progress_bar
from celosia.sim.support.guard import guarded
from celosia.sim.support.problems import InputError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Drive a simulated accelerator from C.")


@app.callback()
def _c_host() -> None:
    pass


@app.command("build")
@guarded
def c_host_build(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets include/ and lib/; made if need be.")
    ],
    presets: Annotated[
        str, typer.Option("--presets", metavar="NAME,NAME", help="The first one is the default.")
    ] = "gemmini",
    functional_only: Annotated[
        bool, typer.Option("--functional-only", help="Refused: the library runs the RTL.")
    ] = False,
    wave: Annotated[
        bool, typer.Option("--wave", help="Also models that write waveforms (CELOSIA_WAVE).")
    ] = False,
) -> None:
    """Build header and library for C and C++ programs: docs/c-host.md."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is not a directory")
    builder = import_module("celosia.sim.c_host.build")
    chosen = builder.choose_presets(presets)
    if functional_only:
        raise InputError("--functional-only: the library runs the RTL, and has no other model")
    with progress_bar() as tell:
        files = builder.build_c_host(out, chosen, wave=wave, progress=tell)
    for path in files:
        typer.echo(path)
