"""`celosia plan`: what the compiler decides, before anything runs."""

import time
from typing import Annotated

import typer

from celosia.sim.command.options.common import JsonOption
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.run_options import Asked, asked, planned_target
from celosia.sim.command.outputs.plan_report import plan_tables, plan_text, plan_workload
from celosia.sim.run.options.options import RunOptions, Target, Told
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.words import command_line

__all__ = ["plan"]


@grouped
def plan(
    *,
    asked: Annotated[Asked, Group(asked)],
    target: Annotated[Target, Group(planned_target)],
    json: JsonOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The plan, with its tactics: for --plan."
        ),
    ] = None,
) -> None:
    """Show what the compiler decides, the cycles that it expects, and those of alternatives."""
    options = RunOptions(
        workload=asked.workload,
        details=asked.details(),
        target=target,
        told=Told(command_line=command_line()),
    )
    check_destination(json)
    check_destination(output)
    start = time.perf_counter()
    with progress_bar() as tell:
        found = plan_workload(options, tell)
    seconds, console = time.perf_counter() - start, table_console(json)
    for table in plan_tables(found):
        console.print(table)
    console.print(f"planned and compared with its alternatives in {seconds:.1f} s")
    if output:
        write_file(output, plan_text(found))
    write_document(json, found)
