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
    cells: CellsOption = "osu018",
    yosys: YosysOption = None,
    jobs: JobsOption = None,
) -> None:
    """Measure what each event of a run takes, with gates and real operands: docs/silicon.md.

    Maps all modules, records their ports in layers of MiniLM, and simulates their gates: an hour
    of processor time where nothing was mapped before, half an hour behind that.
    """
    name = "base" if preset is None else preset
    config = resolve_config(name, overrides or ())
    if not config.normalization:
        raise InputError(f"{name}: has no transform unit, and the layers that are recorded need it")
    check_destination(output)
    library = choose_library(cells)
    title = " ".join([name, *(overrides or ())])
    with progress_bar() as tell:
        tool = started_yosys(yosys, tell)
        # Loads Amaranth, which only who measures needs.
        whole = import_module("celosia.sim.export.silicon.power.whole")
        try:
            found = whole.measure_power(
                title, config, (tool, library), RUNS[:texts], jobs or os.cpu_count() or 1, tell
            )
        except LibertyError as error:
            raise InputError(f"{library.identity}: {error}") from None
    print_power(table_console(None), found.report)
    if output is not None:
        with replace_atomically(output) as partial:
            Path(partial).write_text(found.text)
