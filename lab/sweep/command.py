"""`celosia sweep`: a space of configurations, on as many machines as there are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from celosia.lab.sweep.front import (
    CYCLES,
    TIME,
    Axis,
    headings,
    is_measured,
    numbers,
    pareto_front,
)
from celosia.lab.sweep.page import sweep_page
from celosia.lab.sweep.periods import read_periods, timed
from celosia.lab.sweep.point import Line
from celosia.lab.sweep.space import read_space
from celosia.lab.sweep.sweep import run_sweep
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.command.outputs.folders import PAGE, check_folder, make_folder
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["sweep"]


def sweep(
    space: Annotated[
        str, typer.Argument(metavar="SPACE.toml", help="Values of options, and workloads.")
    ],
    *,
    executor: ExecutorOption = "local:1",
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Where lines and the page are written."),
    ],
    timing: Annotated[
        list[Path] | None,
        typer.Option(
            "--timing",
            metavar="FILE.json",
            help="What a cycle takes on a configuration, as `celosia timing --json` wrote it: "
            "compare us, not cycles.",
        ),
    ] = None,
) -> None:
    """Measure workloads on every configuration of a space: docs/cluster.md.

    The same command goes on where it was interrupted.  Exit code 1 if a result is wrong, or a point
    ends its workers.
    """
    parse_executor(executor)
    check_folder(out)
    periods, axis = read_periods(timing or ()), TIME if timing else CYCLES
    with lanes_of(executor) as lanes:  # Says at once if nobody answers there.
        points = read_space(space)
        with progress_bar() as tell:
            lines = timed(points, run_sweep(points, lanes, make_folder(out), tell), periods)
    write_file(out / PAGE, sweep_page(lines, Path(space).name, out, axis))
    table_console().print(_table(lines, axis))
    kept_out = sum("refused" in line for line in lines)
    if kept_out:
        typer.echo(f"{counted(kept_out, 'point')} refused, the page says why")
    unknown = sum(is_measured(line) and not is_measured(line, axis) for line in lines)
    if unknown:
        typer.echo(f"{counted(unknown, 'point')} left out: no --timing is of their configuration")
    for kind in ("wrong", "failed"):
        for line in lines:
            if kind in line:
                typer.echo(f"{kind}: {line['run']} {line['space']}: {line[kind]}")
    if all("refused" in line for line in lines):
        raise InputError(f"{space}: no point is legal; the first: {lines[0]['refused']}")
    if any("wrong" in line or "failed" in line for line in lines):
        raise typer.Exit(WRONG)


def _table(lines: Sequence[Line], axis: Axis) -> Table:
    """The fastest point of each workload, and how many of its points are on the front."""
    table = Table(title="The fastest points", title_justify="left")
    table.add_column("workload", overflow="fold")
    for head in ("on the front", *headings(axis)):
        table.add_column(head.replace(" ", "\n", 1), justify="right", no_wrap=True)
    table.add_column("configuration", overflow="fold")
    for run, sim in dict.fromkeys((line["run"], line["sim"]) for line in lines):
        members = [line for line in lines if (line["run"], line["sim"]) == (run, sim)]
        front = pareto_front(members, axis)
        cells = ("-",) * (len(headings(axis)) + 1)
        if front:
            chosen = ", ".join(f"{name}={value}" for name, value in front[0]["space"].items())
            cells = (*numbers(front[0], axis), escape(chosen))
        share = f"{len(front):,} of {len(members):,}"
        table.add_row(escape(f"{run}, by {sim}"), share, *cells)
    return table
