"""`celosia run`: a workload, a program or a model on a simulator."""

from pathlib import Path
from typing import Annotated

import typer

from celosia.sim.command.models.run_model_command import MODEL_SUFFIXES, run_model_file
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.run_options import (
    Asked,
    ModelFiles,
    Outputs,
    WaveWords,
    asked_of_run,
    compiling,
    model_files,
    outputs,
    target,
    wave_words,
)
from celosia.sim.command.outputs.folders import check_folder, write_reports
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.advice import run_advised
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told, Watching
from celosia.sim.run.report import as_json
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, write_array, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line
from celosia.sim.wave.request import parse_request

__all__ = ["run"]


@grouped
def run(
    *,
    asked: Annotated[Asked, Group(asked_of_run)],
    files: Annotated[ModelFiles, Group(model_files)],
    compiling: Annotated[Compiling, Group(compiling)],
    target: Annotated[Target, Group(target)],
    wave: Annotated[WaveWords, Group(wave_words)],
    outputs: Annotated[Outputs, Group(outputs)],
) -> None:
    """Run a workload on a simulator, and check every element of its results."""
    imported = asked.workload.endswith(MODEL_SUFFIXES)
    options = RunOptions(
        workload=asked.workload,
        details=None if imported else asked.details(),
        target=target,
        compiling=compiling,
        watching=Watching(
            wave=parse_request(wave.path, wave.window, wave.scope, target.simulator),
            log=outputs.follows,
            advice=outputs.follows,
        ),
        told=Told(command_line=command_line(), announce=_announce),
    )
    result = asked.options.get("out")
    for path in (outputs.json, result, outputs.trace):
        check_destination(path)
    check_folder(outputs.report)
    if imported:
        run_model_file(asked, options, files, outputs)
    elif files != model_files():
        raise InputError(
            f"--input, --calibrate, --clip, --set-input: only for MODEL.onnx, not {asked.workload}"
        )
    else:
        _run_workload(options, outputs, result)


def _run_workload(options: RunOptions, outputs: Outputs, result: Path | None) -> None:
    """Run a workload with a name, or a program; write and show what is asked for."""
    with progress_bar() as tell:
        outcome = run_advised(options, tell)
    report = outcome.report
    console = table_console(outputs.json)
    print_report(console, report, owners=outputs.owners, layers=outputs.layers)
    document = report.document()
    if outputs.json:
        write_file(outputs.json, as_json(document))
    write_reports(document, outputs.report, outputs.trace)
    if result and report.right and outcome.result is not None:
        write_array(result, outcome.result)
    raise typer.Exit(report.exit_code)


def _announce(text: str) -> None:
    typer.echo(f"celosia: {text}", err=True)
