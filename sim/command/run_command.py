"""`celosia run`: a workload, a program or a model on a simulator."""

from typing import Annotated

import typer

from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.report import CheckChoice, CheckOption
from celosia.sim.command.options.run_options import (
    Asked,
    Outputs,
    WaveWords,
    asked_of_run,
    compiling,
    outputs,
    target,
    wave_words,
)
from celosia.sim.command.outputs.folders import RUN, check_folder, write_reports
from celosia.sim.command.outputs.model_tables import print_model
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.models.model_outcome import ModelOutcome
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told, Watching
from celosia.sim.run.origin import as_json
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.workload.advice import run_advised
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, write_array, write_file
from celosia.sim.support.words import command_line
from celosia.sim.wave.request import parse_request

__all__ = ["announce", "run", "show"]


@grouped
def run(
    *,
    asked: Annotated[Asked, Group(asked_of_run)],
    compiling: Annotated[Compiling, Group(compiling)],
    target: Annotated[Target, Group(target)],
    wave: Annotated[WaveWords, Group(wave_words)],
    outputs: Annotated[Outputs, Group(outputs)],
    check: CheckOption = CheckChoice.ALL,
) -> None:
    """Run a workload on a simulator, and compare every element that it leaves in memory."""
    options = RunOptions(
        workload=asked.workload,
        details=asked.details(),
        target=target,
        compiling=compiling,
        watching=Watching(
            check=check.value,
            wave=parse_request(wave.path, wave.window, wave.scope, target.simulator),
            log=outputs.follows,
            advice=outputs.follows,
        ),
        told=Told(command_line=command_line(), announce=announce),
    )
    result = asked.options.get("out")
    for path in (outputs.json, result, outputs.trace):
        check_destination(path)
    check_folder(outputs.report, RUN)
    with progress_bar() as tell:
        outcome = run_advised(options, tell)
    show(outcome, outputs)
    document = outcome.document()
    if outputs.json:
        write_file(outputs.json, as_json(document))
    write_reports(document, outputs.report, outputs.trace)
    if result and outcome.report.right and outcome.result is not None:
        write_array(result, outcome.result)
    raise typer.Exit(outcome.report.exit_code)


def show(outcome: Outcome, outputs: Outputs) -> None:
    """Print what a run has shown."""
    console = table_console(outputs.json)
    model = isinstance(outcome, ModelOutcome)
    for report in outcome.reports if model else [outcome.report]:
        print_report(console, report, owners=outputs.owners, layers=outputs.layers)
    if model:
        print_model(console, outcome)


def announce(text: str) -> None:
    """Say something to who waits."""
    typer.echo(f"celosia: {text}", err=True)
