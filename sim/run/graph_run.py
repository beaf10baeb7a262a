"""The run of a graph, which is one program."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import Change, Hardware
from celosia.sim.run.estimate import compiling_text, estimate_text
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.options.rewriting import rewritten
from celosia.sim.run.outcome import Outcome, setting_of
from celosia.sim.run.report import Measurement, Report
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.ahead import built_ahead
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.workloads.product_workloads import MEMORY_STEP
from celosia.sim.workloads.similarity import compare_texts
from celosia.sim.workloads.workload_kinds import GraphWorkload
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Encode, Pass
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.driver.device import Device
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import rounded_scales
from celosia.sw.timeline.limits import graph_limit

__all__ = ["compile_for", "measure_compiled", "needed_memory", "run_graph"]


def run_graph(
    workload: GraphWorkload, details: Any, options: RunOptions, tell: Progress, opener: Opener
) -> Outcome:
    """Compile and run the graph; `details` are the workload's record.

    Raises what `run_workload` raises.
    """
    start = time.perf_counter()
    target, compiling = options.target, options.compiling
    config = target.config
    tell("preparing the operands", None)
    with _building(target, config, opener):
        job = workload.make(details, target.timing.seed, tell)
        if compiling.optimize:
            graph = rewritten(job.case.graph, config, target.timing, tell)
            job = replace(job, case=replace(job.case, graph=graph))
        tell(compiling_text(job.case.graph, config), None)
        plan = Decide(compiling.given.of([job.case.graph], config, target.timing))
        reuse = Encode(reuse_memory=compiling.reuse_memory)
        compiled = compile_for(job.case.graph, config, target.timing, plan, reuse)
    tell("predicting how long it takes", None)
    _announce_graph(options, compiled, config)
    steps = Steps(tell, 1)
    with closing(open_for(opener, target, config, needed_memory(compiled), steps)) as device:
        steps.begin(options.workload)
        measured = measure_graph(
            options.workload, device, compiled, job.case, target.issue, target.timing
        )
    similarity = None
    if job.texts is not None:
        tell("comparing with float32", None)
        (output,) = measured.outputs.values()
        similarity = compare_texts(job.texts, output)
    return Outcome(
        Report(
            setting=setting_of(options, target.preset_name, config),
            operators=measured.groups,
            whole=measured.whole,
            on_chip=measured.on_chip,
            memory_plan=compiled.memory,
            rounded_scales=rounded_scales([job.case.graph], config),
            similarity=similarity,
            step_bytes=job.step_bytes,
            changes=_changes(options, job.case.graph, config, measured.whole, tell),
            elapsed_seconds=time.perf_counter() - start,
        )
    )


def _building(
    target: Target, config: AcceleratorConfig, opener: Opener
) -> AbstractContextManager[None]:
    """Builds the simulator meanwhile: quantizing a model takes as long as that."""
    if target.simulator == "verilator" and opener is open_device:
        return built_ahead(config, BuildOptions())
    return nullcontext()


def _announce_graph(
    options: RunOptions, compiled: CompiledGraph, config: AcceleratorConfig
) -> None:
    """Say how long a graph takes; one that no run could make long is not followed for that."""
    simulator, timing = options.target.simulator, options.target.timing
    limit = graph_limit(compiled.graph, config, timing).cycles
    if estimate_text(simulator, 2 * limit):
        cycles = compiled.expected(timing).cycles
        if text := estimate_text(simulator, cycles):
            options.told.announce(text)


def _changes(
    options: RunOptions, graph: Graph, config: AcceleratorConfig, whole: Measurement, tell: Progress
) -> tuple[Change, ...]:
    """What other hardware would save, if that was asked."""
    if not options.watching.advice or whole.predicted_cycles is None:
        return ()
    return graph_changes(
        graph, Hardware(config, options.target.timing), whole.predicted_cycles, tell
    )


def compile_for(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None, *how: Pass
) -> CompiledGraph:
    """As `compile_graph` does.  Raises `InputError` that names an operator or a rule of plans."""
    try:
        return compile_graph(graph, config, *how, timing=timing)
    except ValueError as error:
        raise InputError(str(error)) from error


def needed_memory(compiled: CompiledGraph) -> int:
    """Device memory for all tensors, in whole MiB.  Raises `InputError` if there is not enough."""
    size = compiled.end - MEMORY_BASE
    if size > MAX_MEMORY_BYTES:
        raise InputError(
            f"graph {compiled.graph.name}: its tensors are {size:,} bytes, more than the "
            f"{MAX_MEMORY_BYTES:,} of the largest memory"
        )
    return -(-size // MEMORY_STEP) * MEMORY_STEP


def measure_compiled(
    name: str,
    compiled: CompiledGraph,
    case: Case,
    opened: Callable[..., Device],
    timing: MemoryTiming | None = None,
) -> GraphMeasurement:
    """Run a compiled `case` on the device that `opened` makes of `memory_bytes`, and closes."""
    with closing(opened(memory_bytes=needed_memory(compiled))) as device:
        return measure_graph(name, device, compiled, case, timing=timing)
