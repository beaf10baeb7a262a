"""The run of a graph, which is one program."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import CANDIDATES, Change, Hardware
from celosia.sim.run.checks import checked_graph, compare_graph, expected_of
from celosia.sim.run.estimate import compiling_text, compiling_time, estimate_text
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.opening import Opener, open_for, prepare_run
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome, setting_of
from celosia.sim.run.programs.kept_plan import DecideOnce
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.report import Report
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.product_workloads import MEMORY_STEP
from celosia.sim.workloads.similarity import compare_texts
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Pass
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import Device
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.passes.rounded_scales import rounded_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.timeline.limits import graph_limit

__all__ = [
    "announce",
    "changes_of",
    "compile_for",
    "compile_one",
    "measure_compiled",
    "needed_memory",
    "run_compiled",
    "run_graph",
]


def run_graph(
    job: GraphJob, options: RunOptions, tell: Progress, opener: Opener, start: float
) -> Outcome:
    """Compile and run the graph of `job`, which was begun at `start`.

    Raises what `run_workload` raises.
    """
    (plan,) = options.plans(job)
    compiled = compile_one(job.case.graph, plan, options, tell)
    announce(options, [compiled], tell, opener)
    for note in job.notes:
        options.told.announce(note)
    return run_compiled(job, compiled, options, tell, opener, start)


def run_compiled(
    job: GraphJob,
    compiled: CompiledGraph,
    options: RunOptions,
    tell: Progress,
    opener: Opener,
    start: float,
) -> Outcome:
    """Run the graph of `job`, which is compiled.  Raises what `run_workload` raises."""
    target, config = options.target, options.target.config
    steps = Steps(tell, 1)
    with closing(open_for(opener, target, config, needed_memory(compiled), steps)) as device:
        steps.begin(options.workload)
        program = KnownProgram(job.case.graph, compiled, target.timing)
        measured = measure_graph(options.workload, device, program, job.case.inputs, target.issue)
        if (check := options.watching.check) != "none":
            measured = compare_graph(measured, expected_of(job.case, config), check)
    similarity = None
    if job.texts is not None:
        (output,) = measured.outputs.values()
        if check == "all":
            tell("comparing with float32", None)
        similarity = compare_texts(job.texts, output, with_float=check == "all")
    return Outcome(
        Report(
            setting=setting_of(options, target.preset_name, config),
            operators=measured.groups,
            whole=measured.whole,
            on_chip=program.on_chip,
            memory_plan=compiled.memory,
            rounded_scales=rounded_scales(job.graphs, config),
            similarity=similarity,
            step_bytes=job.step_bytes,
            changes=changes_of(options, job.graphs, measured.whole.predicted_cycles, tell),
            elapsed_seconds=time.perf_counter() - start,
        ),
        job.result(*measured.outputs.values()) if len(measured.outputs) == 1 else None,
    )


def compile_one(
    graph: Graph, plan: Plan | None, options: RunOptions, tell: Progress, name: str = ""
) -> CompiledGraph:
    """The program of a graph that messages call `name`, by a plan or the compiler's own.

    Raises `InputError`.
    """
    target = options.target
    tell(compiling_text(graph, target.config, name), None)
    return compile_for(graph, target.config, target.timing, DecideOnce(plan), options.encode)


def announce(
    options: RunOptions,
    programs: Sequence[CompiledGraph],
    tell: Progress,
    opener: Opener,
) -> None:
    """Say how long programs take; what no run could make long is not followed for that.

    The simulator that `opener` would open is made faster for programs that are long.
    """
    tell("predicting how long it takes", None)
    simulator, timing = options.target.simulator, options.target.timing
    cycles = 0
    limit = sum(graph_limit(each.graph, each.config, timing).cycles for each in programs)
    if estimate_text(simulator, 2 * limit):
        cycles = sum(each.expected(timing).cycles for each in programs)
        if text := estimate_text(simulator, cycles):
            options.told.announce(text)
    if options.watching.advice:
        graphs = [each.graph for each in programs]
        if length := compiling_time(graphs, options.target.config, times=CANDIDATES):
            options.told.announce(
                f"behind the run, {CANDIDATES} other accelerators and memories are compiled for, "
                f"to see what each would save: about {length}; not without --profile, --report "
                "and --trace"
            )
    prepare_run(options.target, opener, cycles, tell)


def changes_of(
    options: RunOptions, graphs: Sequence[Graph], predicted: int | None, tell: Progress
) -> tuple[Change, ...]:
    """What other hardware would save of so many cycles that are predicted, if that was asked."""
    if not options.watching.advice or predicted is None:
        return ()
    return graph_changes(graphs, Hardware(*options.target.hardware), predicted, tell)


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
    """Run and check a compiled `case` on the device that `opened` makes of `memory_bytes`."""
    with closing(opened(memory_bytes=needed_memory(compiled))) as device:
        return checked_graph(name, device, compiled, case, timing=timing)
