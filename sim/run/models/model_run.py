"""The run of a model: segment by segment on a device, all compared."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import announce, changes_of, compile_one, needed_memory
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.models.distances import distances
from celosia.sim.run.models.model_outcome import ModelOutcome, whole_report
from celosia.sim.run.models.score_notes import blind_notes, clipped_notes
from celosia.sim.run.models.time_share import TimeShare, host_times
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.report import Report
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.input_ranges import far_outside
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import compile_graph
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.driver.device import Device
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.visible_rows import interpret_visibly
from celosia.sw.ir import graph_interpret
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import rounded_scales, short_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, Result, check_inputs, run_model

__all__ = ["ModelRunner", "run_model_job"]


def run_model_job(
    job: ModelJob, options: RunOptions, tell: Progress, opener: Opener, start: float
) -> ModelOutcome:
    """Run a model, which was begun at `start`, on its inputs.

    Raises what `run_workload` raises.
    """
    runner = ModelRunner(job.prepared, options, tell, opener)
    announce(options, runner.compile(job), tell)
    outcome = runner.run(job.inputs, job.notes)[1]
    predicted = outcome.report.total.predicted_cycles
    changes = changes_of(options, job.graphs, predicted, tell)
    seconds = time.perf_counter() - start
    return replace(
        outcome, report=replace(outcome.report, changes=changes, elapsed_seconds=seconds)
    )


class ModelRunner:
    """Runs a model on a device, segment by segment; programs of an earlier run are used again."""

    def __init__(
        self,
        prepared: Prepared,
        options: RunOptions,
        tell: Progress = silent,
        opener: Opener = open_device,
    ):
        self.prepared, self.options, self.tell, self.opener = prepared, options, tell, opener
        self.config = options.target.config
        self._programs: dict[tuple[Op, ...], CompiledGraph] = {}

    def compile(self, job: ModelJob) -> list[CompiledGraph]:
        """The programs of all segments.  Raises `InputError`."""
        found = enumerate(zip(job.graphs, self.options.plans(job), strict=True))
        return [
            self._program(number, graph, plan, job.program(number, graph, plan))
            for number, (graph, plan) in found
        ]

    def run(
        self, given: Mapping[str, Array], notes: Sequence[str] = ()
    ) -> tuple[dict[str, Array], ModelOutcome]:
        """The outputs, and what the run has shown; `notes` join those of the model.

        Where an element is wrong, all that comes behind goes on with the right ones.  Raises
        `InputError` for inputs that do not fit.
        """
        prepared, reports = self.prepared, list[Report]()
        model = prepared.model
        job = ModelJob(self.options.workload, prepared, given, self.options.target.hardware)
        programs = self.compile(job)

        def segment(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
            case = Case(graph, inputs)
            values, report = self._segment(number, programs[number], case, device)
            reports.append(report)
            return values

        with closing(self._open(max(map(needed_memory, programs)))) as device:
            result = run_model(model, given, segment)
        return result.outputs, self._outcome(given, result, reports, notes)

    def execute(self, given: Mapping[str, Array]) -> tuple[dict[str, Array], int | None]:
        """The outputs and the cycles, without anything that is compared.

        Raises `InputError` for inputs that do not fit, and `DeviceError` if the accelerator stops.
        """
        model, cycles = self.prepared.model, list[int | None]()

        def segment(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
            compiled = self._program(number, graph, None)
            self.tell(f"running segment {number}", None)
            with closing(self._open(needed_memory(compiled))) as device:
                run = GraphRun(device, compiled)
                run.load(inputs)
                result = device.run(compiled.program, self.options.target.issue)
                cycles.append(result.cycles)
                return {name: run.read(name) for name in graph.outputs}

        try:
            outputs = run_model(model, given, segment, count=False).outputs
        except GraphError as error:
            raise InputError(f"{self.options.workload}: {error}") from None
        known = [each for each in cycles if each is not None]
        return outputs, sum(known) if len(known) == len(cycles) else None

    def _program(
        self, number: int, graph: Graph, plan: Plan | None, saved: SavedProgram | None = None
    ) -> CompiledGraph:
        """The program of a segment: what is `saved`, unless tensors share memory."""
        if graph.ops not in self._programs:
            name = f"segment {number}"
            if saved is None or self.options.compiling.reuse_memory:
                compiled = compile_one(graph, plan, self.options, self.tell, name)
            else:
                compiled = self._taken_up(name, graph, saved)
            self._programs[graph.ops] = compiled
        return self._programs[graph.ops]

    def _taken_up(self, name: str, graph: Graph, saved: SavedProgram) -> CompiledGraph:
        """A program that was compiled when the model was built."""
        self.tell(f"reading the program of {name}", None)
        try:
            timing = self.options.target.timing
            return compile_graph(graph, self.config, *saved.passes(), timing=timing)
        except ValueError as error:
            raise InputError(f"{self.options.workload}: program of {name}: {error}") from None

    def _open(self, memory_bytes: int) -> Device:
        return open_for(self.opener, self.options.target, self.config, memory_bytes, self.tell)

    def _segment(
        self, number: int, compiled: CompiledGraph, case: Case, device: Device
    ) -> tuple[Mapping[str, Array], Report]:
        """The tensors of a segment, and what its run has shown."""
        self.tell(f"running segment {number}", None)
        start, target = time.perf_counter(), self.options.target
        name, graph = f"segment {number}", short_scales(case.graph, self.config)
        measured = measure_graph(name, device, compiled, case, target.issue, target.timing)
        report = self._report(number, measured, compiled, time.perf_counter() - start)
        report = replace(report, rounded_scales=rounded_scales([case.graph], self.config))
        values = graph_interpret.interpret(graph, case.inputs)
        return (dict(values, **measured.outputs) if measured.whole.right else values), report

    def _report(
        self, number: int, measured: GraphMeasurement, compiled: CompiledGraph, seconds: float
    ) -> Report:
        operators = self.prepared.model.segments[number].operators
        groups = [
            replace(group, name=operators.get(group.name.split(".")[0], group.name))
            for group in measured.groups
        ]
        return Report(
            setting=setting_of(self.options, self.options.target.preset_name, self.config),
            operators=tuple(groups),
            whole=measured.whole,
            on_chip=measured.on_chip,
            memory_plan=compiled.memory,
            elapsed_seconds=seconds,
        )

    def _outcome(
        self,
        given: Mapping[str, Array],
        result: Result,
        reports: Sequence[Report],
        notes: Sequence[str],
    ) -> ModelOutcome:
        """All that the run has shown, beside what float32 and exact functions give."""
        prepared, model, graph = self.prepared, self.prepared.model, self.prepared.graph
        checked = check_inputs(model.inputs, model.masks, given, model.onto)
        real, rows = ({}, {}) if graph is None else interpret_visibly(graph, checked)
        self.tell("the same with exact functions", None)
        functions = exact(model, self.config)
        best = {} if graph is None else run_model(model, checked, functions).outputs
        return ModelOutcome(
            report=whole_report(reports),
            reports=tuple(reports),
            placement=prepared.placement,
            distances=distances(real, result.outputs, best, rows),
            saturated=result.saturated,
            host=model.host_operators,
            notes=(
                *prepared.notes,
                *clipped_notes(result.clipped),
                *notes,
                *blind_notes(result.blind),
                *far_outside(prepared.ranges, checked),
            ),
            time=_time(model, reports),
        )


def _time(model: QuantizedGraph, reports: Sequence[Report]) -> TimeShare | None:
    """Predicted shares of the time of a run; None: a program has no prediction."""
    cycles = [report.total.predicted_cycles for report in reports]
    known = [each for each in cycles if each is not None]
    if len(known) != len(cycles):
        return None
    return TimeShare(sum(known), host_times(node for level in model.host for node in level))
