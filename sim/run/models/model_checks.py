"""What compares the run of a model: its integers, and how far its outputs are from float."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from celosia.sim.run.checks import compare_graph, expected_of
from celosia.sim.run.graph_run import announce, changes_of
from celosia.sim.run.measure_graph import GraphMeasurement
from celosia.sim.run.models.distances import Distance, distances
from celosia.sim.run.models.loss_notes import LossFinder, OutputLoss, lacking, loss_note
from celosia.sim.run.models.model_outcome import ModelOutcome, whole_report
from celosia.sim.run.models.model_run import Behind, ModelRunner
from celosia.sim.run.models.score_notes import blind_notes, clipped_notes
from celosia.sim.run.models.time_share import TimeShare, host_times
from celosia.sim.run.opening import Opener
from celosia.sim.run.options.options import Check, RunOptions
from celosia.sim.run.report import Report
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.input_ranges import far_outside
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.visible_rows import interpret_visibly
from celosia.sw.models.cases import Case
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, check_inputs, run_model

__all__ = ["checked_run", "run_model_job"]


def run_model_job(
    job: ModelJob, options: RunOptions, tell: Progress, opener: Opener, start: float
) -> ModelOutcome:
    """Run a model, which was begun at `start`, on its inputs.

    Raises what `run_workload` raises.
    """
    runner = ModelRunner(job.prepared, options, tell, opener)
    announce(options, runner.compile(job), tell, opener)
    outcome = checked_run(runner, job.inputs, options.watching.check, job.notes)[1]
    predicted = outcome.report.total.predicted_cycles
    changes = changes_of(options, job.graphs, predicted, tell)
    seconds = time.perf_counter() - start
    return replace(
        outcome, report=replace(outcome.report, changes=changes, elapsed_seconds=seconds)
    )


def checked_run(
    runner: ModelRunner, given: Mapping[str, Array], check: Check = "all", notes: Sequence[str] = ()
) -> tuple[dict[str, Array], ModelOutcome]:
    """The outputs of a run, and what it has shown; `notes` join those of the model.

    Where an element is wrong, all that comes behind goes on with the right ones.  Raises
    `InputError` for inputs that do not fit.
    """
    ran = runner.run(given, _behind(runner, check), count=check == "all")
    reports = [
        replace(report, setting=replace(report.setting, check=check)) for report in ran.reports
    ]
    prepared, model, outputs = runner.prepared, runner.prepared.model, ran.result.outputs
    checked = check_inputs(model.inputs, model.masks, given, model.onto)
    far, lost = _distances(runner, checked, outputs) if check == "all" else ((), None)
    return outputs, ModelOutcome(
        report=whole_report(reports),
        reports=tuple(reports),
        placement=prepared.placement,
        distances=far,
        losses=lost,
        saturated=ran.result.saturated,
        host=model.host_operators,
        notes=(
            *prepared.notes,
            *clipped_notes(ran.result.clipped),
            *notes,
            *blind_notes(ran.result.blind),
            *far_outside(prepared.ranges, checked),
            *([loss_note(lost, far)] if lost else ()),
        ),
        time=_time(model, reports),
    )


def _behind(runner: ModelRunner, check: Check) -> Behind | None:
    """What compares a segment with the integer graph."""

    def compare(
        case: Case, measured: GraphMeasurement
    ) -> tuple[Mapping[str, Array], GraphMeasurement]:
        expected = expected_of(case, runner.config)
        measured = compare_graph(measured, expected, check)
        right = measured.whole.right
        return (dict(expected, **measured.outputs) if right else expected), measured

    return None if check == "none" else compare


def _distances(
    runner: ModelRunner, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> tuple[tuple[Distance, ...], OutputLoss | None]:
    """How far outputs are from those of the float graph, if it is there, and what loses most."""
    if (graph := runner.prepared.graph) is None:
        return (), None
    real, rows = interpret_visibly(graph, inputs)
    runner.tell("the same with exact functions", None)
    model = runner.prepared.model
    best = run_model(model, inputs, exact(model, runner.config)).outputs
    found = distances(real, outputs, best, rows)
    if (far := lacking(found)) is None:
        return found, None
    finder = LossFinder(graph, model, runner.config, inputs, real, rows, runner.tell)
    return found, finder.find(far)


def _time(model: QuantizedGraph, reports: Sequence[Report]) -> TimeShare | None:
    """Predicted shares of the time of a run; None: a program has no prediction."""
    cycles = [report.total.predicted_cycles for report in reports]
    known = [each for each in cycles if each is not None]
    if len(known) != len(cycles):
        return None
    return TimeShare(sum(known), host_times(node for level in model.host for node in level))
