"""`celosia run MODEL.onnx`: its tables and its JSON document."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from celosia.sim.command.models.build_command import PLAN_SUFFIX, read_plan
from celosia.sim.command.models.check_command import parse_fixed, parse_sizes
from celosia.sim.command.options.run_options import Asked, ModelFiles, Outputs
from celosia.sim.command.outputs.folders import write_reports
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.models.distances import Distance
from celosia.sim.run.models.model_document import model_document
from celosia.sim.run.models.model_run import (
    ModelOutcome,
    ModelRun,
    prepare,
    run_prepared,
)
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.report import as_json
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sw.compiler.costs import Costs

__all__ = ["MODEL_SUFFIXES", "outputs_table", "run_model_file"]

MODEL_SUFFIXES: Final = (".onnx", PLAN_SUFFIX)
"""What the name of a model's file, or of a plan, ends with."""


def run_model_file(asked: Asked, options: RunOptions, files: ModelFiles, outputs: Outputs) -> None:
    """Run the model that `options` name.

    Raises `InputError` for options that only workloads have; `typer.Exit` with 1 if it was wrong.
    """
    compiling, target = options.compiling, options.target
    sizes = asked.options.get("dim", ())
    for name in asked.options:
        if name != "dim":
            raise InputError(f"--{name.replace('_', '-')} is no option of {options.workload}")
    for option in (*compiling.given.options, *(["--reuse-memory"] * compiling.reuse_memory)):
        raise InputError(
            f"{option}: only workloads with a name take this so far; the graphs of "
            f"{options.workload} are compiled by the compiler's own plans"
        )
    followed = {
        "--trace": outputs.trace,
        "--profile": outputs.profile,
        "--wave": options.watching.wave,
    }
    for option in (name for name, value in followed.items() if value):
        raise InputError(
            f"{option}: only workloads with a name and programs are followed so far, not "
            f"{options.workload}; --report shows where its cycles went"
        )
    path = Path(options.workload)
    planned = path.suffix == PLAN_SUFFIX
    if planned and (sizes or files.calibration or files.fixed or files.clip != "error"):
        rule = (
            "a plan has its sizes and its calibration: no --dim, --set-input, --calibrate, --clip"
        )
        raise InputError(f"{path}: {rule}")
    if planned and compiling.optimize:
        raise InputError(f"--optimize: {path} is compiled as it was built")
    job = ModelRun(
        path=path,
        sizes=parse_sizes(sizes),
        calibration=files.calibration,
        clip=files.clip,
        fixed=parse_fixed(files.fixed),
        costs=Costs(target.config, target.timing) if compiling.optimize else None,
    )
    with progress_bar() as tell:
        prepared = read_plan(path, options) if planned else prepare(job, target.timing.seed, tell)
        outcome = run_prepared(prepared, files.inputs, options, tell)
    _show(table_console(outputs.json), outcome, outputs)
    document = model_document(outcome)
    if outputs.json:
        write_file(outputs.json, as_json(document))
    write_reports(document, outputs.report, None)
    if not outcome.right:
        raise typer.Exit(WRONG)


def _show(console: Console, outcome: ModelOutcome, outputs: Outputs) -> None:
    for report in outcome.reports:
        print_report(console, report, owners=outputs.owners, layers=outputs.layers)
    time = outcome.time
    if outcome.distances:
        console.print(outputs_table(outcome.distances))
    checked = sum(report.total.elements_checked for report in outcome.reports)
    wrong = sum(report.total.mismatches for report in outcome.reports)
    console.print(
        f"{wrong:,} of {checked:,} elements in {counted(len(outcome.reports), 'segment')} differ "
        f"from the integer graph; {outcome.placement.accelerator_mac_share:.2%} of the "
        f"{counted(outcome.placement.macs, 'multiply-accumulate')} are the accelerator's"
        + ("" if time is None else f", and {time.accelerator_share:.2%} of the predicted time")
    )
    if outcome.host:
        listed = ", ".join(f"{count} {op}" for op, count in outcome.host.most_common())
        operators = counted(outcome.host.total(), "operator")
        verb = "runs" if outcome.host.total() == 1 else "run"
        console.print(f"warning: {operators} {verb} on the host: {listed}")
    if outcome.saturated:
        listed = ", ".join(f"{n:,} of {name}" for name, n in outcome.saturated.most_common(3))
        total = counted(outcome.saturated.total(), "element")
        console.print(f"{total} at the ends of their ranges: {listed}", markup=False)
    for note in outcome.notes:
        console.print(f"note: {note}", markup=False)


def outputs_table(distances: Sequence[Distance]) -> FittedTable:
    """How far outputs are from float; columns that nothing has are left out."""
    columns: dict[Column, Callable[[Distance], str]] = {
        Column("SQNR"): lambda each: f"{each.sqnr_db:.1f} dB",
        Column("exact functions", needless=1): lambda each: f"{each.exact_sqnr_db:.1f} dB",
        Column("cosine"): lambda each: f"{each.cosine:.5f}",
        Column("pooled cosine"): lambda each: _optional(each.pooled_cosine, ".5f"),
        Column("same largest"): lambda each: _optional(each.top1, ".2%"),
    }
    shown = {
        column: cells
        for column, of in columns.items()
        if any(cells := [of(each) for each in distances])
    }
    captions = [
        f"{escape(each.name)}: {each.counted} counted, those of tokens that somebody sees; all of "
        f"them give {each.all_sqnr_db:.1f} dB, cosine {each.all_cosine:.5f}"
        for each in distances
        if each.counted.rows < each.counted.of
    ]
    table = FittedTable(columns=(Column("output", "name"), *shown), caption="\n".join(captions))
    for number, each in enumerate(distances):
        table.add_row(each.name, *(cells[number] for cells in shown.values()))
    return table


def _optional(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
