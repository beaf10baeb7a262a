"""The run of a graph, which is one program."""

import time
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import Change, Hardware
from celosia.sim.run.estimate import compiling_text, estimate_text
from celosia.sim.run.measure_graph import measure_graph
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import Compiling, RunOptions, Target
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
from celosia.sw.compiler.pipeline import CompiledGraph, compile_graph, compile_plan, predict_graph
from celosia.sw.compiler.plan import choose
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.short_scales import rounded_scales
from celosia.sw.timeline.limits import graph_limit

__all__ = ["compile_for", "needed_memory", "run_graph"]


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
        compiled = _compiled(compiling, job.case.graph, config, target.timing)
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
        cycles = predict_graph(compiled, config, timing).cycles
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


def _compiled(
    compiling: Compiling, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> CompiledGraph:
    """The program of a graph, by the plan that is given or the compiler's own."""
    plan = compiling.given.of([graph], config, timing)
    reuse = compiling.reuse_memory
    if plan is None:
        return compile_for(graph, config, timing, reuse_memory=reuse)
    return compile_plan(graph, plan, config, reuse_memory=reuse)


def compile_for(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming, *, reuse_memory: bool = False
) -> CompiledGraph:
    """The program that is expected to be fastest.  Raises `InputError` that names an operator."""
    try:
        choices = choose(graph, config, timing)
        return compile_graph(graph, config, choices=choices, reuse_memory=reuse_memory)
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
