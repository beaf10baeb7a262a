"""The command that measures what events take."""

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.hardware.silicon_options import (
    CellsOption,
    JobsOption,
    YosysOption,
    started_yosys,
)
from celosia.sim.command.options.common import PresetOption, SetOption
from celosia.sim.export.silicon.cells.liberty import LibertyError
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.power.report import print_power
from celosia.sim.export.silicon.power.texts import RUNS
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, replace_atomically
from celosia.sim.support.problems import InputError

__all__ = ["power"]


def power(
    *,
    preset: PresetOption = "base",
    overrides: SetOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="TABLE.toml", help="Write the table, too."),
    ] = None,
    texts: Annotated[
        int,
        typer.Option("--texts", min=1, max=len(RUNS), help="Texts whose layers are recorded."),
    ] = len(RUNS),
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="No table: compare the sum over units with the whole as one netlist, in a short "
            "run; ends with 1 above 10 %. For tiny: minutes.",
        ),
    ] = False,
    glitches: Annotated[
        bool,
        typer.Option(
            "--glitches",
            help="No table: what glitches add to a cell of the array and to a lane, in a short "
            "run, by Icarus Verilog.",
        ),
    ] = False,
    cells: CellsOption = "osu018",
    yosys: YosysOption = None,
    jobs: JobsOption = None,
) -> None:
    """Measure what each event of a run takes, with gates and real operands: docs/silicon.md.

    Maps all modules, records their ports in layers of MiniLM, and simulates their gates: an hour
    of processor time where nothing was mapped before, half an hour behind that.  What is done is
    kept: a measurement that was ended goes on where it was.
    """
    name = "base" if preset is None else preset
    config = resolve_config(name, overrides or ())
    if not config.normalization:
        raise InputError(f"{name}: has no transform unit, and the layers that are recorded need it")
    if output is not None and (whole or glitches):
        check = "--whole" if whole else "--glitches"
        raise InputError(f"{check}: makes no table; leave --output {output} out")
    check_destination(output)
    library = choose_library(cells)
    title = " ".join([name, *(overrides or ())])
    at_once = jobs or os.cpu_count() or 1
    with progress_bar() as tell:
        tools = started_yosys(yosys, tell), library
        # Loads Amaranth, which only who measures needs.
        room = "celosia.sim.export.silicon"
        try:
            if whole or glitches:
                found = import_module(f"{room}.checks.checks").check(
                    config, tools, at_once, tell, whole=whole, glitches=glitches
                )
            else:
                measuring = import_module(f"{room}.power.whole")
                found = measuring.measure_power(title, config, tools, RUNS[:texts], at_once, tell)
        except LibertyError as error:
            raise InputError(f"{library.identity}: {error}") from None
    console = table_console(None)
    reports = import_module(f"{room}.checks.report")
    if whole or glitches:
        raise typer.Exit(reports.print_checks(console, found))
    if output is not None:
        with replace_atomically(output) as partial:
            Path(partial).write_text(found.text)
    print_power(console, found.report)
    agreements = import_module(f"{room}.checks.agreement").agreements
    reports.print_agreements(console, agreements(found.sets, found.beside))
