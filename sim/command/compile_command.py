"""`celosia compile`: what each pass of the compiler makes of a workload, and edited plans."""

from typing import Annotated

import typer

from celosia.isa.config import did_you_mean
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.options.common import (
    CausalOption,
    ContextOption,
    DimOption,
    FileOption,
    HeadsOption,
    KeysOption,
    LatencyOption,
    LayersOption,
    ModelOption,
    OutTypeOption,
    PlanOption,
    PresetOption,
    RateOption,
    ReluOption,
    ReuseOption,
    RowsOption,
    ScaleOption,
    ScheduleOption,
    SeedOption,
    SeqOption,
    SetOption,
    ShapeOption,
    StagesOption,
    StallOption,
    TextOption,
    TransposeOption,
    TunedOption,
    UnsignedOption,
)
from celosia.sim.command.options.model import OptimizeOption
from celosia.sim.command.outputs.graph_tables import memory_line, rounded_line
from celosia.sim.run.compiled_forms import (
    ALL,
    FORMS,
    Compilation,
    compile_forms,
    graphs_of_workload,
)
from celosia.sim.run.estimate import compiling_text
from celosia.sim.run.given_plans import GivenPlan
from celosia.sim.run.rewriting import rewritten
from celosia.sim.run.run import RunOptions
from celosia.sim.support.display import progress_bar
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line, counted
from celosia.sim.workloads.workload_options import workload_options
from celosia.sim.workloads.workloads import WORKLOADS
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.passes.short_scales import short_scales

__all__ = ["compile_workload"]


def compile_workload(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help=f"{', '.join(WORKLOADS)}.")],
    *,
    print_after: Annotated[
        str | None, typer.Option(metavar="PASS", help=f"{', '.join(FORMS)}, or {ALL}.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = STANDARD_OUTPUT,
    shape: ShapeOption = None,
    a: FileOption = None,
    b: FileOption = None,
    bias: FileOption = None,
    scale: ScaleOption = None,
    relu: ReluOption = False,
    transpose_b: TransposeOption = False,
    unsigned_a: UnsignedOption = False,
    out_type: OutTypeOption = None,
    keys: KeysOption = None,
    causal: CausalOption = False,
    heads: HeadsOption = None,
    seq: SeqOption = None,
    dim: DimOption = None,
    model: ModelOption = None,
    layers: LayersOption = None,
    context: ContextOption = None,
    rows: RowsOption = None,
    text: TextOption = None,
    plan: PlanOption = None,
    schedule: ScheduleOption = None,
    stages: StagesOption = None,
    tuned: TunedOption = None,
    optimize: OptimizeOption = False,
    reuse_memory: ReuseOption = False,
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
    stalls: StallOption = MemoryTiming.stall_percent,
    seed: SeedOption = MemoryTiming.seed,
) -> None:
    """Show a workload after a pass of the compiler; or compile a plan that was edited."""
    options = RunOptions(
        workload=workload,
        preset=preset,
        overrides=tuple(overrides or ()),
        timing=MemoryTiming(latency=latency, bytes_per_cycle=rate, stall_percent=stalls, seed=seed),
        details=workload_options(locals()),
        command_line=command_line(),
    )
    if print_after is not None and print_after not in (*FORMS, ALL):
        near = did_you_mean(print_after, (*FORMS, ALL))
        raise InputError(f"--print-after {print_after}: there are {', '.join((*FORMS, ALL))}{near}")
    given = GivenPlan(plan=plan, schedule=schedule, tuned=tuned, stages=stages)
    given.check()
    check_destination(output)
    config = resolve_config(preset or "base", options.overrides)
    with progress_bar() as tell:
        graphs = graphs_of_workload(options, tell)
        if optimize:
            graphs = tuple(rewritten(graph, config, options.timing, tell) for graph in graphs)
        legal = given.of(graphs, config, options.timing)
        if print_after == "graph":
            content = "".join(print_graph(short_scales(graph, config)) for graph in graphs)
        else:
            compiled = []
            for graph in graphs:
                tell(compiling_text(graph, config), None)
                compiled.append(
                    compile_forms(graph, config, options.timing, legal, reuse_memory=reuse_memory)
                )
            content = "\n".join(_shown(each, print_after) for each in compiled)
    write_file(output, content)


def _shown(compiled: Compilation, wanted: str | None) -> str:
    if wanted is not None:
        return compiled.text(wanted)
    head = f"{compiled.name}: {counted(compiled.commands, 'command')}, "
    head += f"{counted(compiled.cycles, 'cycle')} expected\n"
    head += "" if compiled.memory is None else f"{memory_line(compiled.memory)}\n"
    return head if compiled.rounded is None else f"{head}{rounded_line(compiled.rounded)}\n"
