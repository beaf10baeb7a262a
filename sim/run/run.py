"""The run of a workload: from options to a report."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Protocol

from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import Change, Hardware
from celosia.sim.run.estimate import announce_products, compiling_text, estimate_text
from celosia.sim.run.given_plans import GivenPlan
from celosia.sim.run.measure import measure_product, measure_program
from celosia.sim.run.measure_graph import measure_graph
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.run.rewriting import rewritten
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, ignore, silent
from celosia.sim.verilator.ahead import built_ahead
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.wave.request import WaveRequest
from celosia.sim.workloads.product_workloads import MEMORY_STEP, device_bytes
from celosia.sim.workloads.similarity import compare_texts
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, WORKLOADS, check_options
from celosia.sw.compiler.pipeline import CompiledGraph, compile_graph, compile_plan, predict_graph
from celosia.sw.compiler.plan import choose
from celosia.sw.driver.device import Device, Issue
from celosia.sw.driver.expansion import check_program
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES, ProgramFile, load_program
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.short_scales import rounded_scales
from celosia.sw.planning.problems import graph_of
from celosia.sw.timeline.limits import graph_limit

__all__ = [
    "Opener",
    "Outcome",
    "RunOptions",
    "Runner",
    "compile_for",
    "needed_memory",
    "run_workload",
]


class Opener(Protocol):
    """`celosia.sim.devices.devices.open_device`, or what takes its place in a test."""

    def __call__(
        self,
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        """Open a device."""
        ...


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to run, and on what."""

    workload: str
    """A name of `celosia.sim.workloads.workloads.WORKLOADS`, or a program file."""
    simulator: str = "verilator"
    preset: str | None = None
    """A name or a ``.toml`` file; None: what the program file says, else `base`."""
    overrides: tuple[str, ...] = ()
    """Changes of the preset's parameters, each as ``key=value``."""
    timing: MemoryTiming = field(default_factory=MemoryTiming)
    details: WorkloadOptions = field(default_factory=WorkloadOptions)
    optimize: bool = False
    """Rewrite a graph before it is compiled."""
    given: GivenPlan = field(default_factory=GivenPlan)
    """The plan by which a product alone or a graph is computed."""
    reuse_memory: bool = False
    """Tensors of a graph may take the bytes of others that nobody needs any more."""
    issue: Issue = "stream"
    cycle_budget: int = 0
    """Busy cycles, on functional commands, after which a program is stopped; 0: never."""
    wave: WaveRequest | None = None
    """The waveform to write."""
    log: bool = False
    """Keep a log of what operations do when."""
    advice: bool = False
    """Ask the cost model what other hardware would save a graph."""
    command_line: tuple[str, ...] = ()
    announce: Callable[[str], None] = field(default=ignore, compare=False)
    """Told how long a run takes, before it begins, if that is long."""

    def setting(self, preset: str, config: AcceleratorConfig) -> Setting:
        """What the report says of these options."""
        return Setting(
            workload=self.workload,
            preset=preset,
            simulator=self.simulator,
            config=config,
            timing=self.timing,
            issue=self.issue,
            cycle_budget=self.cycle_budget,
            command_line=self.command_line,
        )


@dataclass(frozen=True)
class Outcome:
    """A report, and the last operator's result as it stood in device memory."""

    report: Report
    result: NDArray[Any] | None = None


Runner = Callable[[RunOptions, Progress], Outcome]
"""`run_workload`, or what takes its place in a test."""


def run_workload(
    options: RunOptions, tell: Progress = silent, opener: Opener = open_device
) -> Outcome:
    """Run a workload and compare every result.

    Raises `InputError`, `ConfigError` or `ProgramError` for what cannot be run, and
    `EnvironmentProblem` where a tool is missing; wrong results and an accelerator that stops are
    part of the report.
    """
    check_options(options.workload, options.details)
    options.given.check()
    if options.reuse_memory and not isinstance(WORKLOADS.get(options.workload), GraphWorkload):
        raise InputError(f"--reuse-memory: {options.workload} is no graph with tensors between")
    if options.given.options and options.workload not in WORKLOADS:
        raise InputError(f"{options.given.options[0]}: {options.workload} is compiled already")
    if options.optimize and not isinstance(WORKLOADS.get(options.workload), GraphWorkload):
        raise InputError(f"--optimize: {options.workload} is no graph")
    if options.log:
        opener = _logging(options)
    if options.wave is not None:
        opener = _waving(options.wave)
    if options.workload.endswith(PROGRAM_SUFFIX):
        return _run_program(options, tell, opener)
    match WORKLOADS[options.workload]:
        case ProductWorkload() as workload:
            return _run_products(workload, options, tell, opener)
        case GraphWorkload() as workload:
            return _run_graph(workload, options, tell, opener)


def _run_products(
    workload: ProductWorkload, options: RunOptions, tell: Progress, opener: Opener
) -> Outcome:
    start = time.perf_counter()
    preset = options.preset or "base"
    config = resolve_config(preset, options.overrides)
    tell("preparing the operands", None)
    operators = workload.make(options.details, options.timing.seed)
    graphs = [graph_of(operator.name, operator.operands.problem) for operator in operators]
    problems = [operator.operands.problem for operator in operators]
    plan = options.given.of(graphs, config, options.timing)
    announce_products(options.announce, options.simulator, problems, config, options.timing)
    steps = Steps(tell, len(operators))
    measured: list[Measurement] = []
    result = None
    with closing(_open(opener, options, config, device_bytes(operators), steps)) as device:
        for operator in operators:
            steps.begin(operator.name)
            steps("compiling", None)
            one, result = measure_product(device, operator, options.timing, options.issue, plan)
            measured.append(one)
    return Outcome(
        Report(
            setting=options.setting(preset, config),
            operators=tuple(measured),
            rounded_scales=rounded_scales(graphs, config),
            elapsed_seconds=time.perf_counter() - start,
        ),
        result,
    )


def _run_graph(
    workload: GraphWorkload, options: RunOptions, tell: Progress, opener: Opener
) -> Outcome:
    start = time.perf_counter()
    preset = options.preset or "base"
    config = resolve_config(preset, options.overrides)
    tell("preparing the operands", None)
    with _building(options, config, opener):
        job = workload.make(options.details, options.timing.seed, tell)
        if options.optimize:
            graph = rewritten(job.case.graph, config, options.timing, tell)
            job = replace(job, case=replace(job.case, graph=graph))
        tell(compiling_text(job.case.graph, config), None)
        compiled = _compiled(options, job.case.graph, config)
    tell("predicting how long it takes", None)
    _announce_graph(options, compiled, config)
    steps = Steps(tell, 1)
    with closing(_open(opener, options, config, needed_memory(compiled), steps)) as device:
        steps.begin(options.workload)
        measured = measure_graph(
            options.workload, device, compiled, job.case, options.issue, options.timing
        )
    similarity = None
    if job.texts is not None:
        tell("comparing with float32", None)
        (output,) = measured.outputs.values()
        similarity = compare_texts(job.texts, output)
    return Outcome(
        Report(
            setting=options.setting(preset, config),
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
    options: RunOptions, config: AcceleratorConfig, opener: Opener
) -> AbstractContextManager[None]:
    """Builds the simulator meanwhile: quantizing a model takes as long as that."""
    if options.simulator == "verilator" and opener is open_device:
        return built_ahead(config, BuildOptions())
    return nullcontext()


def _announce_graph(
    options: RunOptions, compiled: CompiledGraph, config: AcceleratorConfig
) -> None:
    """Say how long a graph takes; one that no run could make long is not followed for that."""
    limit = graph_limit(compiled.graph, config, options.timing).cycles
    if estimate_text(options.simulator, 2 * limit):
        cycles = predict_graph(compiled, config, options.timing).cycles
        if text := estimate_text(options.simulator, cycles):
            options.announce(text)


def _changes(
    options: RunOptions, graph: Graph, config: AcceleratorConfig, whole: Measurement, tell: Progress
) -> tuple[Change, ...]:
    """What other hardware would save, if that was asked."""
    if not options.advice or whole.predicted_cycles is None:
        return ()
    return graph_changes(graph, Hardware(config, options.timing), whole.predicted_cycles, tell)


def _compiled(options: RunOptions, graph: Graph, config: AcceleratorConfig) -> CompiledGraph:
    """The program of a graph, by the plan that is given or the compiler's own."""
    plan = options.given.of([graph], config, options.timing)
    reuse = options.reuse_memory
    if plan is None:
        return compile_for(graph, config, options.timing, reuse_memory=reuse)
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


def _run_program(options: RunOptions, tell: Progress, opener: Opener) -> Outcome:
    start = time.perf_counter()
    program = _configured(load_program(options.workload), options)
    if not program.checks:
        raise InputError(
            f"{options.workload}: nothing to compare: name the results with .check ADDRESS SIZE, "
            "such as .check 0x80000080 64 in examples/product.cel"
        )
    config = program.config
    try:
        check_program(program.commands, config)
    except ValueError as error:
        raise InputError(f"{options.workload}: {error}") from None
    steps = Steps(tell, 1)
    steps.begin(options.workload)
    device = _open(opener, options, config, program.memory_bytes, steps)
    with closing(device), closing(_model(options, config, program.memory_bytes, steps)) as model:
        measured = measure_program(options.workload, program, device, model, options.issue)
    return Outcome(
        Report(
            setting=options.setting(program.preset, config),
            operators=(measured,),
            elapsed_seconds=time.perf_counter() - start,
        )
    )


def _configured(program: ProgramFile, options: RunOptions) -> ProgramFile:
    """`program` for the configuration of the options: a preset there replaces all of its own."""
    if options.preset is not None:
        program = replace(program, preset=options.preset, overrides=())
    return replace(program, overrides=program.overrides + options.overrides)


def _model(options: RunOptions, config: AcceleratorConfig, size: int, tell: Progress) -> Device:
    """The functional model to compare with.

    Its local memories start with other garbage than the device's, so that a program whose results
    depend on that is found, also if the device is a functional model itself.
    """
    other = replace(options.timing, seed=options.timing.seed + 1)
    return open_device("functional", config, other, size, progress=tell)


def _waving(request: WaveRequest) -> Opener:
    """An opener whose devices write the waveform of `request`."""
    wave = "celosia.sim.wave"
    return _opener(
        (f"{wave}.amaranth", "AmaranthWaveDevice"),
        (f"{wave}.verilated", "VerilatorWaveDevice"),
        request,
    )


def _logging(options: RunOptions) -> Opener:
    """An opener whose devices keep a log."""
    if options.simulator == "functional":
        raise InputError("--report, --trace, --profile: functional has no clock")
    if options.wave is not None:
        raise InputError("--wave: not together with --report, --trace or --profile")
    recorders = "celosia.sim.profile.recorders"
    return _opener(
        (f"{recorders}.amaranth_logger", "AmaranthLogDevice"),
        (f"{recorders}.logger", "VerilatorLogDevice"),
    )


def _opener(amaranth: tuple[str, str], verilator: tuple[str, str], *first: Any) -> Opener:
    """An opener of devices of these modules and classes, whose first arguments are `first`."""

    def device(
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        # Loaded when it is asked for: Amaranth takes a good part of a second.
        module, kind = amaranth if name == "amaranth" else verilator
        setup = Setup(config, timing, memory_bytes, progress)
        return getattr(import_module(module), kind)(*first, setup)

    return device


def _open(
    opener: Opener,
    options: RunOptions,
    config: AcceleratorConfig,
    memory_bytes: int,
    progress: Progress,
) -> Device:
    try:
        device = opener(options.simulator, config, options.timing, memory_bytes, progress=progress)
    except ValueError as error:
        raise InputError(str(error)) from error
    device.limit_cycles(options.cycle_budget)
    return device
