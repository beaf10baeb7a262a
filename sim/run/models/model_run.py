"""The run of a model on a device, segment by segment."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_one, needed_memory
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.report import Report
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import Device
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.models.cases import Case
from celosia.sw.passes.rounded_scales import rounded_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.quantize.graphs.quantized import Result, run_model

__all__ = ["Behind", "ModelRunner", "Ran"]

Behind = Callable[[Case, GraphMeasurement], tuple[Mapping[str, Array], GraphMeasurement]]
"""Looks at the run of a segment while the device is open: what the model goes on with, and what was
found."""


@dataclass(frozen=True, eq=False)
class Ran:
    """The run of a model."""

    result: Result
    """What it has computed; it has no outputs if the accelerator stopped and nobody went on."""
    reports: tuple[Report, ...]
    """One for each segment."""


class _StoppedError(Exception):
    """There is nothing to go on with."""


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
        self._programs: dict[tuple[Op, ...], KnownProgram] = {}

    def compile(self, job: ModelJob) -> list[CompiledGraph]:
        """The programs of all segments.  Raises `InputError`."""
        found = enumerate(zip(job.graphs, self.options.plans(job), strict=True))
        return [
            self._program(number, graph, plan, job.program(number, graph, plan)).compiled
            for number, (graph, plan) in found
        ]

    def run(
        self, given: Mapping[str, Array], behind: Behind | None = None, *, count: bool = False
    ) -> Ran:
        """Run all segments, on one device if their programs are known; `behind` looks at each.

        What was clipped is `count`ed if it gives all tensors of a segment.  Raises `InputError` for
        inputs that do not fit.
        """
        reports: list[Report] = []
        with ExitStack() as opened:
            devices: list[Device] = []

            def segment(number: int, graph: Graph, inputs: Mapping[str, Array]):
                program = self._program(number, graph, None)
                needed = needed_memory(program.compiled)
                if not devices or devices[-1].memory_bytes < needed:
                    opened.close()
                    devices.append(opened.enter_context(closing(self._open())))
                values, report = self._segment(number, devices[-1], program, inputs, behind)
                reports.append(report)
                if values is None:
                    raise _StoppedError
                return values

            try:
                result = run_model(self.prepared.model, given, segment, count=count)
            except GraphError as error:
                raise InputError(f"{self.options.workload}: {error}") from None
            except _StoppedError:
                result = Result({})
        return Ran(result, tuple(reports))

    def _program(
        self, number: int, graph: Graph, plan: Plan | None, saved: SavedProgram | None = None
    ) -> KnownProgram:
        """The program of a segment, what is `saved` if anything is."""
        if graph.ops not in self._programs:
            name = f"segment {number}"
            if saved is None:
                compiled = compile_one(graph, plan, self.options, self.tell, name)
            else:
                compiled = self._taken_up(name, graph, saved)
            self._programs[graph.ops] = KnownProgram(graph, compiled, self.options.target.timing)
        return self._programs[graph.ops]

    def _taken_up(self, name: str, graph: Graph, saved: SavedProgram) -> CompiledGraph:
        """A program that was compiled when the model was built.

        Its tensors stand apart, and are placed anew if memory shall be shared.
        """
        self.tell(f"reading the program of {name}", None)
        shared = self.options.compiling.reuse_memory
        try:
            timing, how = self.options.target.timing, saved.passes(reuse_memory=shared)
            return compile_graph(graph, self.config, *how, timing=timing)
        except ValueError as error:
            raise InputError(f"{self.options.workload}: program of {name}: {error}") from None

    def _open(self) -> Device:
        """A device for all programs that are known."""
        size = max(needed_memory(each.compiled) for each in self._programs.values())
        return open_for(self.opener, self.options.target, self.config, size, self.tell)

    def _segment(
        self,
        number: int,
        device: Device,
        program: KnownProgram,
        inputs: Mapping[str, Array],
        behind: Behind | None,
    ) -> tuple[Mapping[str, Array] | None, Report]:
        """What a segment has computed, None if there is nothing, and what its run has shown."""
        self.tell(f"running segment {number}", None)
        start, issue = time.perf_counter(), self.options.target.issue
        measured = measure_graph(f"segment {number}", device, program, inputs, issue)
        if behind is not None:
            values, measured = behind(Case(program.graph, inputs), measured)
        else:
            values = None if measured.whole.failure else measured.outputs
        return values, self._report(number, measured, time.perf_counter() - start)

    def _report(self, number: int, measured: GraphMeasurement, seconds: float) -> Report:
        program, segment = measured.program, self.prepared.model.segments[number]
        groups = [replace(group, name=segment.node(group.name)) for group in measured.groups]
        whole = measured.whole
        if (found := whole.executed) is not None:
            places = {name: segment.place(name) for name in {*found.operators} if name}
            named = [places.get(name, name) for name in found.operators]
            whole = replace(whole, executed=replace(found, operators=named))
        return Report(
            setting=setting_of(self.options, self.options.target.preset_name, self.config),
            operators=tuple(groups),
            whole=whole,
            on_chip=program.on_chip,
            memory_plan=program.compiled.memory,
            rounded_scales=rounded_scales([program.graph], self.config),
            elapsed_seconds=seconds,
        )
