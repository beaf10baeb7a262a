"""The command that measures paths."""

import os
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.hardware.silicon_options import (
    CellsOption,
    JobsOption,
    YosysOption,
    started_yosys,
)
from celosia.sim.command.hardware.standard import predict_standard
from celosia.sim.command.options.common import JsonOption, PresetOption, SetOption
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.timing.bounds import load_bounds
from celosia.sim.export.silicon.timing.levels import LEVELS, level_script, read_levels
from celosia.sim.export.silicon.timing.measure import (
    Measured,
    by_unit,
    design_text,
    known_units,
    measure,
)
from celosia.sim.export.silicon.timing.report import TimingReport, print_timing
from celosia.sim.export.silicon.timing.scripts import SCRIPTS, known_scripts
from celosia.sim.export.silicon.timing.sta import find_sta
from celosia.sim.export.silicon.timing.times import Workload
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError

__all__ = ["timing"]


def timing(
    *,
    preset: PresetOption = "base",
    overrides: SetOption = None,
    units: Annotated[
        list[str] | None,
        typer.Option("--unit", metavar="NAME", help="Only this unit and a processing element."),
    ] = None,
    levels: Annotated[
        bool, typer.Option("--levels", help="In levels of logic, with Yosys alone.")
    ] = False,
    script: Annotated[
        list[str] | None,
        typer.Option(
            "--script", metavar="NAME", help=f"Only this script of ABC: {', '.join(SCRIPTS)}."
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds",
            metavar="FILE.toml",
            help="Only hold the preset's paths to these bounds, in ns; 1 if one is longer.",
        ),
    ] = None,
    cells: CellsOption = "osu018",
    yosys: YosysOption = None,
    jobs: JobsOption = None,
    json: JsonOption = None,
) -> None:
    """Show the longest path of each unit, beside a multiply-add: docs/silicon.md.

    By each script of ABC beside each other.  Of all units, also the longest between modules, and
    what standard workloads take.
    """
    name = "base" if preset is None else preset
    config = resolve_config(name, overrides or ())
    chosen, scripts = known_units(units or ()), known_scripts(script or ())
    if levels and (script or bounds):
        given = "--script" if script else "--bounds"
        raise InputError(f"{given} and --levels: levels of logic are counted before ABC's scripts")
    known = None if bounds is None else load_bounds(bounds, name)
    check_destination(json)
    at_once = jobs or os.cpu_count() or 1
    library = None if levels else choose_library(cells)
    sta = None if levels else find_sta()
    measured: list[Measured] = []
    predicted: list[Workload] = []
    with progress_bar() as tell:
        tool = started_yosys(yosys, tell)
        tools = [tool.identity]
        tell("writing the Verilog", None)
        design = design_text(config, chosen)
        if sta is None or library is None:
            parts = design.others + design.memories
            _, kept = level_script(tool, at_once).run(design.modules, parts, tell)
            found = {module: read_levels(text) for module, text in kept[LEVELS].items()}
            measured = [Measured("levels", by_unit(found))]
        else:
            tools += [library.identity, f"OpenSTA ({sta})"]
            measured = measure((tool, sta), library, design, scripts, not units, at_once, tell)
            if not units and known is None:
                predicted = predict_standard(config, tell)
    checked = [] if known is None else [one for each in measured for one in known.of(each)]
    title = " ".join([name, *(overrides or ())])
    report = TimingReport(title, config, tools, measured, predicted, checked)
    print_timing(table_console(json), report)
    write_document(json, report)
    raise typer.Exit(0 if report.right else WRONG)
