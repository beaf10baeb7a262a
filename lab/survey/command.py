"""`celosia survey`: writes the page, the document and the tables of the survey."""

import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.lab.survey.parts.jobs import WrongRunError
from celosia.lab.survey.parts.values import Scope
from celosia.lab.survey.store import RunStore
from celosia.lab.survey.survey import (
    chosen_studies,
    differences,
    run_survey,
    study_ids,
)
from celosia.lab.survey.tables import csv_text, summary_table
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.command.outputs.folders import PAGE, check_folder, make_folder
from celosia.sim.reporting.run_file import read_report
from celosia.sim.run.origin import Origin, as_json
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["survey"]

DOCUMENT: Final = "survey.json"


def survey(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The page, survey.json, tables, and runs.")
    ],
    only: Annotated[
        str | None,
        typer.Option(metavar="ITEM,...", help=f"Only these of {', '.join(study_ids())}."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 80 M cycles of RTL, on one simulator.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="Layers of up to 4,096 tokens, too: hours.")
    ] = False,
    tenth: Annotated[
        int | None,
        typer.Option(min=0, max=9, help="Only this tenth of the runs, as `make nightly` does."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; default: one per processor.")
    ] = None,
    executor: ExecutorOption = "",
    against: Annotated[
        Path | None,
        typer.Option(metavar="SURVEY.json", help="Fail if a number is not as in this one."),
    ] = None,
) -> None:
    """Make the survey's case study again: each of its numbers with ours beside it.

    Runs that DIR already has of the same RTL are not made again.
    """
    if quick and long:
        raise InputError("--quick and --long: only one of them")
    if executor and jobs is not None:
        raise InputError("--executor and --jobs: only one of them")
    studies, scope = chosen_studies(only), Scope(quick=quick, long=long, tenth=tenth)
    known = None if against is None else read_report(str(against), "survey")
    workers = executor or f"local:{jobs or os.cpu_count() or 1}"
    parse_executor(workers)
    check_folder(out, DOCUMENT)
    make_folder(out)
    try:
        with progress_bar() as tell, lanes_of(workers) as lanes:
            found = run_survey(studies, scope, RunStore(out), lanes, tell)
    except WrongRunError as error:
        typer.echo(f"celosia: {error}", err=True)
        raise typer.Exit(WRONG) from None
    words = ("celosia", *map(_anywhere, sys.argv[1:]))
    found = replace(found, origin=Origin(command_line=words))
    document = found.document()
    # Loaded when it is asked for: the library behind it takes a while.
    page = import_module("celosia.lab.survey.page").survey_page(document)
    write_file(out / DOCUMENT, as_json(document))
    for item in found.items:
        write_file(out / f"{item.id}.csv", csv_text(item))
    write_file(out / PAGE, page)
    table_console().print(summary_table(found))
    others = [] if known is None else list(differences(known, document))
    for line in others:
        typer.echo(f"celosia: {line}", err=True)
    raise typer.Exit(WRONG if others else 0)


def _anywhere(word: str) -> str:
    """`word` of a command line without the folder of a path that only one machine has."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name if Path(value).is_absolute() else value}"
