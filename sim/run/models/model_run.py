"""The run of an ONNX model: imported, quantized, each segment on a device, all compared."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from celosia.sim.devices.devices import open_device
from celosia.sim.run.estimate import compiling_text
from celosia.sim.run.graph_run import compile_for, needed_memory
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.models.distances import Distance, distances
from celosia.sim.run.models.input_ranges import Ranges, far_outside, few_rows, input_ranges
from celosia.sim.run.models.samples import read_inputs, read_samples
from celosia.sim.run.models.score_notes import blind_notes, clipped_notes
from celosia.sim.run.models.time_share import TimeShare, host_times
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.options.rewriting import rewriting, search_progress
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.report import Report
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.costs import Costs
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.driver.device import Device
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.masks import is_right_padded
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.said_ranges import said_ranges
from celosia.sw.frontend.visible_rows import interpret_visibly
from celosia.sw.ir import graph_interpret
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import added, rounded_scales, short_scales
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import (
    QuantizedGraph,
    check_inputs,
    instantiate,
    padded_masks,
    run_model,
)
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import Placement, place

__all__ = [
    "ModelOutcome",
    "ModelRun",
    "ModelRunner",
    "Prepared",
    "other_masks",
    "prepare",
    "random_samples",
    "run_prepared",
]

_SEGMENT: Final = Decide(products=False)
"""A product of a model is cut as in a graph, also where it is alone."""
_RANDOM_SAMPLES: Final = 8
"""Samples to calibrate on, where none are given."""


@dataclass(frozen=True)
class ModelRun:
    """A model's file, and what it is quantized with."""

    path: Path
    sizes: Mapping[str, int]
    calibration: Path | Mapping[str, Array] | None = None
    """An .npz file, or what is in it."""
    clip: Clip = "error"
    """Where values of 8 bits are clipped."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The number of each input that is a constant, as text."""
    costs: Costs | None = None
    """What it is rewritten by; None: it is quantized as it was recognized."""


@dataclass(frozen=True)
class ModelOutcome:
    """What a run has shown."""

    reports: tuple[Report, ...]
    """One for each segment."""
    placement: Placement
    distances: tuple[Distance, ...]
    saturated: Counter[str]
    host: Counter[str]
    """Operators of the host by kind."""
    notes: tuple[str, ...]
    time: TimeShare | None = None
    """Predicted shares of the time; None: nothing was predicted."""

    @property
    def right(self) -> bool:
        """Whether every element was the one that the integer graph has."""
        return all(report.right for report in self.reports)

    @property
    def report(self) -> Report:
        """The report of the only segment, or one of all segments, each a program of its own."""
        if len(self.reports) == 1:
            return self.reports[0]
        return Report(
            setting=self.reports[0].setting,
            operators=tuple(report.total for report in self.reports),
            rounded_scales=added(report.rounded_scales for report in self.reports),
            elapsed_seconds=sum(report.elapsed_seconds for report in self.reports),
        )


@dataclass(frozen=True)
class Prepared:
    """A quantized model, and what is known of where it came from."""

    model: QuantizedGraph
    placement: Placement
    notes: tuple[str, ...]
    graph: FloatGraph | None = None
    """What outputs are compared with; None: the model is from a plan, which does not have it."""
    ranges: Ranges = field(default_factory=dict)
    """The least and the largest number of each input in calibration."""


def prepare(job: ModelRun, seed: int, tell: Progress = silent) -> Prepared:
    """Import and quantize a model.  Raises `InputError` and `ImportProblem`."""
    importer = import_extra("celosia.sw.frontend.importer.import_model", "onnx")
    tell(f"importing {job.path}", None)
    imported = importer.import_model(job.path, job.sizes, job.fixed)
    tell("recognizing operators", None)
    recognized, notes = recognize(imported.graph), list(imported.notes)
    if job.calibration is None:
        notes.append("calibrated on random data: give --calibrate for the accuracy of real data")
        samples = random_samples(recognized.graph, seed)
    else:
        samples = read_samples(job.calibration, imported.graph)
        other = other_masks(recognized.graph, samples)
        if other:
            notes.append(f"{', '.join(other)}: not padded on the right: added to scores")
            recognized = recognize(imported.graph, padded=False)
    notes += recognized.faults
    graph = recognized.graph
    try:
        said = said_ranges(imported.graph, imported.ranges)
        if job.costs is None:
            formats = calibrate(
                lambda _: graph,
                samples,
                lambda what, done, total: tell(f"{what}: {done} of {total}", None),
                said,
                clip=job.clip,
            )
            model = instantiate(graph, formats)
        else:
            done = rewriting("model")(
                graph, samples, job.costs, said=said, progress=search_progress(tell)
            )
            model, recognized = done.model, replace(recognized, graph=done.floats.graph)
    except ValueError as error:
        raise InputError(f"{job.path}: {error}") from None
    if not model.segments:
        types, reason = graph.types(), "nothing of it is for the accelerator"
        if not any(types[tensor].size for tensor in graph.outputs.values()):
            reason = f"its outputs ({', '.join(graph.outputs)}) have no elements: give other sizes"
        raise InputError(f"{job.path}: {reason}")
    units = find_units(recognized.graph)
    if job.calibration is not None:
        notes += few_rows(recognized.graph, units, model.masks, samples)
    placement = place(imported.graph, recognized, units)
    ranges = input_ranges(model.inputs, samples)
    return Prepared(model, placement, (*notes, *model.notes), graph, ranges)


def random_samples(graph: FloatGraph, seed: int) -> list[dict[str, Array]]:
    """Samples to calibrate on where none are given."""
    # A mask that is no count of keys is known by its name only.
    masks = [name for name in graph.inputs if "mask" in name]
    masks += padded_masks(graph, find_units(graph))
    return [random_inputs(graph, masks, seed + 1 + each) for each in range(_RANDOM_SAMPLES)]


def other_masks(graph: FloatGraph, samples: Sequence[Mapping[str, Array]]) -> list[str]:
    """The masks of a recognized graph that are not padded on the right in all samples."""
    masks = sorted(set(padded_masks(graph, find_units(graph))))
    return [
        name
        for name in masks
        if not all(is_right_padded(each[name]) for each in samples if name in each)
    ]


def run_prepared(
    prepared: Prepared, inputs: Path | None, options: RunOptions, tell: Progress = silent
) -> ModelOutcome:
    """Run a model on the inputs in a file, or on random ones.  Raises `InputError`."""
    runner, graph = ModelRunner(prepared, options, tell), prepared.graph
    if inputs is not None:
        return runner.run(read_inputs(inputs, prepared.model, options.workload))[1]
    if graph is None:
        raise InputError(f"{options.workload}: give --input: a plan is run on inputs of your own")
    masks = [name for name in graph.inputs if "mask" in name]
    given = random_inputs(graph, [*masks, *prepared.model.masks], options.target.timing.seed)
    note = "run on random data: give --input for an input of your own"
    return runner.run(given, [note])[1]


class ModelRunner:
    """Runs a model on a device, segment by segment; programs of an earlier run are used again."""

    def __init__(self, prepared: Prepared, options: RunOptions, tell: Progress = silent):
        self.prepared, self.options, self.tell = prepared, options, tell
        self.config = options.target.config
        self._programs: dict[tuple[Op, ...], CompiledGraph] = {}

    def run(
        self, given: Mapping[str, Array], notes: Sequence[str] = ()
    ) -> tuple[dict[str, Array], ModelOutcome]:
        """The outputs, and what the run has shown; `notes` join those of the model.

        Raises `InputError` for inputs that do not fit.
        """
        prepared, reports = self.prepared, list[Report]()
        model, graph = prepared.model, prepared.graph

        def segment(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
            values, report = self._segment(number, graph, inputs)
            reports.append(report)
            return values

        try:
            given = check_inputs(model.inputs, model.masks, given, model.onto)
            result = run_model(model, given, segment)
            real, rows = ({}, {}) if graph is None else interpret_visibly(graph, given)
            self.tell("the same with exact functions", None)
            best = (
                {} if graph is None else run_model(model, given, exact(model, self.config)).outputs
            )
        except GraphError as error:
            raise InputError(f"{self.options.workload}: {error}") from None
        return result.outputs, ModelOutcome(
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
                *far_outside(prepared.ranges, given),
            ),
            time=_time(model, reports),
        )

    def execute(self, given: Mapping[str, Array]) -> tuple[dict[str, Array], int | None]:
        """The outputs and the cycles, without anything that is compared.

        Raises `InputError` for inputs that do not fit, and `DeviceError` if the accelerator stops.
        """
        model, cycles = self.prepared.model, list[int | None]()

        def segment(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
            compiled, device = self._opened(number, short_scales(graph, self.config))
            with closing(device):
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

    def _opened(self, number: int, graph: Graph) -> tuple[CompiledGraph, Device]:
        """The program of a segment, and a device that has room for it."""
        target = self.options.target
        if graph.ops not in self._programs:
            self.tell(compiling_text(graph, self.config, f"segment {number}"), None)
            timing = None if target.simulator == "functional" else target.timing
            self._programs[graph.ops] = compile_for(graph, self.config, timing, _SEGMENT)
        compiled = self._programs[graph.ops]
        self.tell(f"running segment {number}", None)
        memory = needed_memory(compiled)
        device = open_device(target.simulator, self.config, target.timing, memory, self.tell)
        device.limit_cycles(target.cycle_budget)
        return compiled, device

    def _segment(
        self, number: int, graph: Graph, inputs: Mapping[str, Array]
    ) -> tuple[Mapping[str, Array], Report]:
        start, target = time.perf_counter(), self.options.target
        rounding = rounded_scales([graph], self.config)
        graph = short_scales(graph, self.config)
        compiled, device = self._opened(number, graph)
        with closing(device):
            name, case = f"segment {number}", Case(graph, inputs)
            measured = measure_graph(name, device, compiled, case, target.issue, target.timing)
        report = self._report(number, measured, time.perf_counter() - start)
        report = replace(report, rounded_scales=rounding)
        return {**graph_interpret.interpret(graph, inputs), **measured.outputs}, report

    def _report(self, number: int, measured: GraphMeasurement, seconds: float) -> Report:
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
            elapsed_seconds=seconds,
        )


def _time(model: QuantizedGraph, reports: Sequence[Report]) -> TimeShare | None:
    """Predicted shares of the time of a run; None: a program has no prediction."""
    cycles = [report.total.predicted_cycles for report in reports]
    known = [each for each in cycles if each is not None]
    if len(known) != len(cycles):
        return None
    return TimeShare(sum(known), host_times(node for level in model.host for node in level))
