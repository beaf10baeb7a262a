"""The commands that measure silicon."""

import os
from importlib import import_module
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.hardware.board_build import BoardWords, board_words, built
from celosia.sim.command.hardware.silicon_options import (
    CellsOption,
    JobsOption,
    YosysOption,
    started_yosys,
)
from celosia.sim.command.options.common import JsonOption, PresetOption, SetOption
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.area.measure import lean_parameter, measure_area
from celosia.sim.export.silicon.area.report import AreaReport, print_area
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.energy.events import count_events
from celosia.sim.export.silicon.energy.report import EnergyReport, print_energy
from celosia.sim.export.silicon.energy.table import NAMED, load_table
from celosia.sim.export.silicon.energy.unit_events import count_unit_events
from celosia.sim.export.silicon.fpga.implement import (
    DEVICES,
    device_options,
    find_nextpnr,
    implement,
)
from celosia.sim.export.silicon.fpga.report import FpgaReport, print_fpga
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.reporting.run_file import read_clocked_run
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError

__all__ = ["area", "energy", "fpga"]


def area(
    *,
    preset: PresetOption = "base",
    overrides: SetOption = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE.toml", help="Another configuration to compare with."),
    ] = None,
    cells: CellsOption = "sky130",
    yosys: YosysOption = None,
    jobs: JobsOption = None,
    json: JsonOption = None,
) -> None:
    """Show the area by unit, and what the normalization unit adds: docs/silicon.md.

    A module that was mapped before is not mapped again.
    """
    name = "base" if preset is None else preset
    config = resolve_config(name, overrides or ())
    other = None if against is None else resolve_config(against)
    check_destination(json)
    library = choose_library(cells)
    with progress_bar() as tell:
        mapper = Mapper(started_yosys(yosys, tell), library, jobs or os.cpu_count() or 1)
        measured = measure_area(config, mapper, tell)
        unit, lean = lean_parameter(config), None
        if unit:
            lean = measure_area(config.with_values({unit: False}), mapper, tell)
        compared = None if other is None else measure_area(other, mapper, tell)
    title = " ".join([name, *(overrides or ())])
    report = AreaReport(title, measured, mapper, unit or "", lean, against or "", compared)
    print_area(table_console(json), report)
    write_document(json, report)


def energy(
    run: Annotated[str, typer.Argument(metavar="RUN.json", help="What celosia run --json wrote.")],
    *,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|TABLE.toml",
            help=f"Picojoules of each event, each with its source: {', '.join(NAMED)}.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Show what a run takes, event by event, and the part of the normalization unit.

    What the local memories did is known of a run with --profile only.
    """
    check_destination(json)
    entries, document = load_table(table), read_clocked_run(run)
    with progress_bar() as tell:
        tell("counting what happened", None)
        counts = count_events(run, document) | count_unit_events(document)
    report = EnergyReport(str(document["workload"]), counts, entries)
    print_energy(table_console(json), report)
    write_document(json, report)


@grouped
def fpga(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="NAME", help=f"{', '.join(DEVICES)}; ecp5-85k if none."),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            min=1,
            max=100,
            help="Place and route with seeds 1 to N; for a board, until one is fast enough.",
        ),
    ] = 1,
    hours: Annotated[
        float,
        typer.Option("--hours", metavar="HOURS", min=0.1, help="Give up a seed that takes longer."),
    ] = 12.0,
    frequency: Annotated[
        float,
        typer.Option("--frequency", metavar="MHZ", min=1, help="What placing and routing aim at."),
    ] = 60.0,
    board: Annotated[BoardWords | None, Group(board_words)],
    yosys: YosysOption = None,
    jobs: JobsOption = None,
    json: JsonOption = None,
) -> None:
    """Synthesize, place and route for an FPGA, out of context or for a board: docs/fpga.md.

    The configuration is `small`, for a board `tiny`, if none is named.
    """
    name = preset or ("small" if board is None else "tiny")
    config = resolve_config(name, overrides or ())
    title = " ".join([name, *(overrides or ())])
    check_destination(json)
    limits = (jobs or os.cpu_count() or 1, hours)
    if board is not None:
        if device is not None:
            raise InputError(f"--device {device}: a board has its own FPGA")
        with progress_bar() as tell:
            tell("starting the tools", None)
            report = built(title, config, board, (yosys, range(1, seeds + 1), limits), tell)
    else:
        device = device or "ecp5-85k"
        device_options(device)
        with progress_bar() as tell:
            tell("starting nextpnr", None)
            nextpnr = find_nextpnr()
            tool = started_yosys(yosys, tell)
            tell("writing the Verilog", None)
            # Loads Amaranth, which only who measures needs.
            exporter = import_module("celosia.sim.export.design")
            design = exporter.export_design(config, TopChoice.CORE, Memories.INFERRED)
            tools, numbers = (tool, nextpnr), range(1, seeds + 1)
            text, top = design.verilog, design.top.module
            found = implement(text, top, tools, device, numbers, frequency, limits, tell)
        report = FpgaReport(title, config, device, [tool.identity, nextpnr], found)
    print_fpga(table_console(json), report)
    write_document(json, report)
    if report.board is not None and report.board.bitstream is None:
        raise typer.Exit(WRONG)
