"""Commands that read reports: explain, compare, top.  They are thin: others do the work."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape
from rich.table import Table

from celosia.sim.command.options.common import PresetOption, SetOption, SimOption, Simulator
from celosia.sim.command.outputs.folders import PAGE, check_folder, make_folder
from celosia.sim.profile.hottest import HEADS, hottest, rows_of
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.waits import waits as all_waits
from celosia.sim.reporting.compare import Comparison, compare, run_names
from celosia.sim.reporting.explain import explain
from celosia.sim.reporting.run_file import read_clocked_run, read_profile, read_timed_run
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.origin import write_document
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted

__all__ = ["compare_runs", "explain_run", "top", "waits_table"]

RUN_SUFFIX: Final = ".json"

RunArgument = Annotated[str, typer.Argument(metavar="RUN.json", help="What run --json wrote.")]


def explain_run(
    run: RunArgument,
    *,
    waits: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="CYCLES",
            help="List the waits of the array that are longer, one by one (--profile).",
        ),
    ] = None,
) -> None:
    """Say in words what limits a run, in order of cycles lost, and what would help."""
    document = read_timed_run(run)
    profile = None if waits is None else read_profile(run, document)
    typer.echo(str(explain(document)))
    if waits is not None and profile is not None:
        table = waits_table(profile, waits)
        table_console(None).print(table if table.row_count else f"{table.title}.")


def waits_table(profile: Profile, most: int) -> Table:
    """The waits of the array of more than `most` cycles."""
    every = list(all_waits(profile))
    found = [each for each in every if each.cycles > most]
    sums = [sum(each.cycles for each in some) for some in (found, every)]
    table = Table(
        title=f"Waits of the array above {most:,} cycles: {len(found):,} of {len(every):,}, "
        f"{sums[0]:,} of {sums[1]:,} cycles",
        title_justify="left",
    )
    for head in ("from cycle", "cycles", "next operator", "owners"):
        number = head.endswith(("cycle", "cycles"))
        table.add_column(
            head, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for each in found:
        owners = ", ".join(f"{name} {cycles:,}" for name, cycles in each.owners.items())
        table.add_row(f"{each.start:,}", f"{each.cycles:,}", escape(each.operator), owners)
    return table


def compare_runs(
    first: Annotated[str, typer.Argument(metavar="A.json", help="The run to compare with.")],
    second: Annotated[str, typer.Argument(metavar="B.json", help="The run to judge.")],
    *,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, metavar="PERCENT", help="Fail if B takes so much more cycles than A."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Write a page there.")
    ] = None,
) -> None:
    """Show what differs between two runs, by operator and cause."""
    documents = [read_clocked_run(path) for path in (first, second)]
    check_folder(report)
    found = compare(*documents)
    names = run_names([first, second], documents)
    _print_comparison(names, found)
    if report is not None:
        # Loaded when it is asked for: the library behind it takes a while.
        write = import_module("celosia.sim.reporting.page.compare_page").compare_page
        page = write(names, found)
        write_file(make_folder(report) / PAGE, page)
    slower = threshold is not None and found.percent > threshold
    if slower:
        typer.echo(f"{second}: {found.percent:.2f} % slower, more than {threshold} %", err=True)
    raise typer.Exit(WRONG if slower else 0)


def top(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM.cel|RUN.json", help="A program, or a run of one.")
    ],
    *,
    count: Annotated[int, typer.Option("--count", "-n", min=1, metavar="N")] = 20,
    preset: PresetOption = None,
    overrides: SetOption = None,
    simulator: SimOption = Simulator.VERILATOR,
    json: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the whole run there.")
    ] = None,
) -> None:
    """Show the instructions that took the most cycles."""
    check_destination(json)
    if program.endswith(RUN_SUFFIX):
        if preset or overrides or json:
            raise InputError(f"{program}: is a run; --preset, --set and --json are for programs")
        profile = read_profile(program, read_timed_run(program))
        right = True
    else:
        options = RunOptions(
            workload=program,
            target=Target(
                simulator=simulator.value, preset=preset, overrides=tuple(overrides or ())
            ),
            watching=Watching(log=True),
        )
        with progress_bar() as tell:
            report = run_workload(options, tell).report
        found = report.profile
        if failure := report.total.failure:
            typer.echo(f"{program}: stopped: {failure.message}", err=True)
        if found is None:
            raise typer.Exit(WRONG)
        profile, right = found, report.right
        write_document(json, report)
    table_console(json).print(_top_table(profile, count))
    raise typer.Exit(0 if right else WRONG)


def _top_table(profile: Profile, count: int) -> Table:
    table = Table(
        title=f"The hottest of {counted(len(profile.commands), 'instruction')}",
        title_justify="left",
    )
    for head in HEADS:
        number = head in ("command", "cycles", "lost", "waited")
        table.add_column(
            head, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for row in rows_of(hottest(profile, count)):
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else escape(cell) for cell in row))
    return table


def _print_comparison(names: Sequence[tuple[str, str]], found: Comparison) -> None:
    console = table_console(None)
    for letter, (name, ran) in zip("AB", names, strict=True):
        console.print(f"{letter}: {escape(name)}, {escape(ran)}")
    table = Table(title="Cycles of the array", title_justify="left")
    table.add_column("operator", overflow="fold")
    table.add_column("cause", no_wrap=True)
    for head in ("A", "B", "change"):
        table.add_column(head, justify="right", no_wrap=True)
    for each in found.differences:
        table.add_row(
            escape(each.operator),
            each.group,
            f"{each.first:,}",
            f"{each.second:,}",
            f"{each.change:+,}",
        )
    table.add_section()
    table.add_row("all", "", f"{found.first:,}", f"{found.second:,}", f"{found.percent:+.2f} %")
    console.print(table)
    for name, left, right in found.settings:
        console.print(f"{escape(name)}: {escape(str(left))} -> {escape(str(right))}")
