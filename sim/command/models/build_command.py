"""`celosia build`: a model as a file that runs without the one that it was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.options.common import (
    LatencyOption,
    PlanOption,
    PresetOption,
    RateOption,
    ScheduleOption,
    SetOption,
    StagesOption,
    TunedOption,
)
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.model import (
    BesideOption,
    CalibrateOption,
    ClipOption,
    FileWeightsOption,
    FixedOption,
    LeastOption,
    MostOption,
    PerTensorOption,
    PrecisionOption,
    SizesOption,
)
from celosia.sim.command.outputs.plan_report import planned_program
from celosia.sim.command.outputs.precision_table import precision_table
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.run.programs.kept_plan import kept_plan
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, open_atomically
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.workloads.details import ModelFile
from celosia.sim.workloads.jobs import model_run
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.per_tensor import check_unit
from celosia.sim.workloads.models.prepare import (
    Prepared,
    parse_profiles,
    prepare_profiles,
)
from celosia.sim.workloads.models.saved_model import SAVED_SUFFIX, save_prepared
from celosia.sim.workloads.published_encoder import published_profiles
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan

__all__ = ["build"]

_PUBLISHED: Final = "minilm"


def _memory(
    *,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
) -> MemoryTiming:
    """The memory that programs are decided for."""
    return MemoryTiming(latency=latency, bytes_per_cycle=rate)


def _quantized(
    *,
    beside: BesideOption = None,
    fixed: FixedOption = None,
    calibration: CalibrateOption = None,
    clip: ClipOption = "error",
    per_tensor: PerTensorOption = False,
    weights: FileWeightsOption = None,
    precision: PrecisionOption = None,
    least_sqnr: LeastOption = None,
    most_cycles: MostOption = None,
) -> ModelFile:
    """What the model is quantized with."""
    return ModelFile(
        beside=tuple(beside or ()),
        set_input=tuple(fixed or ()),
        calibrate=calibration,
        clip=clip,
        per_tensor=per_tensor,
        weights=weights,
        precision=precision,
        least_sqnr=least_sqnr,
        most_cycles=most_cycles,
    )


def _given(
    *,
    plan: PlanOption = None,
    schedule: ScheduleOption = None,
    stages: StagesOption = None,
    tuned: TunedOption = None,
) -> GivenPlan:
    """Where plans come from."""
    return GivenPlan(plan=plan, schedule=schedule, tuned=tuned, stages=stages)


@grouped
def build(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL.onnx|minilm",
            help="An ONNX file, or the published MiniLM: --dim tokens=N (16).",
        ),
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL.plan", help="The file to write.")
    ],
    sizes: SizesOption = None,
    details: Annotated[ModelFile, Group(_quantized)],
    preset: PresetOption = None,
    overrides: SetOption = None,
    timing: Annotated[MemoryTiming, Group(_memory)],
    given: Annotated[GivenPlan, Group(_given)],
) -> None:
    """Quantize a model, and save all that `celosia run MODEL.plan` needs.

    Its plans are decided and its programs compiled for this configuration and memory; on others, a
    run decides anew. With several --dim of one name, it is for each of these sizes, with plans of
    its own for each. The published MiniLM is for `celosia run encoder --model MODEL.plan`, too: for
    texts of any lengths.
    """
    if output.suffix != SAVED_SUFFIX:
        raise InputError(f"-o {output}: the name of a plan ends with {SAVED_SUFFIX}")
    check_destination(output)
    given.check()
    hardware = resolve_config(preset or "base", overrides or ()), timing
    profiles, job = parse_profiles(sizes or ()), model_run(model, details, hardware, hint=True)
    with progress_bar() as tell:
        if str(model) == _PUBLISHED:
            _check_published({
                "beside": details.beside,
                "set-input": details.set_input,
                "calibrate": details.calibrate,
                "per-tensor": details.per_tensor,
                "precision": details.precision,
            })
            prepared = published_profiles(profiles, details.clip, tell, job.weights)
        else:
            prepared = prepare_profiles(job, profiles, 0, tell)
        for each in prepared:
            check_unit(str(model), each.model, hardware[0])
        prepared = _with_programs(prepared, hardware, given, tell)
    with open_atomically(output) as file:
        programs = save_prepared(prepared, file)
    _tell(output, prepared, programs)


def _tell(output: Path, prepared: Sequence[Prepared], programs: int) -> None:
    """Say what was written."""
    console = table_console(None)
    if (choice := prepared[0].precision) is not None:
        console.print(precision_table(choice))
    for note in dict.fromkeys(note for each in prepared for note in each.notes):
        console.print(f"note: {note}", markup=False)
    segments = counted(sum(len(each.model.segments) for each in prepared), "segment")
    sizes = f" for {counted(len(prepared), 'size')}" if len(prepared) > 1 else ""
    share = prepared[0].placement.accelerator_mac_share
    console.print(
        f"{output}: {segments}{sizes}, {counted(output.stat().st_size, 'byte')}, of which programs "
        f"are {programs:,} before they are packed; {share:.2%} of its multiply-accumulates are the "
        "accelerator's",
        markup=False,
    )


def _with_programs(
    prepared: Sequence[Prepared],
    hardware: tuple[AcceleratorConfig, MemoryTiming],
    given: GivenPlan,
    tell: Progress,
) -> tuple[Prepared, ...]:
    """All sizes with plans and programs.  Raises `InputError` for what cannot be compiled."""
    tell("comparing programs", None)
    graphs = [segment.graph for each in prepared for segment in each.model.segments]
    plans = iter(given.of(graphs, *hardware))
    try:
        return tuple(
            replace(
                each,
                decided=Decided.on(
                    *hardware,
                    [
                        _compiled(segment.graph, next(plans), hardware)
                        for segment in each.model.segments
                    ],
                ),
            )
            for each in prepared
        )
    except ValueError as error:
        raise InputError(str(error)) from None


def _compiled(
    graph: Graph, plan: Plan | None, hardware: tuple[AcceleratorConfig, MemoryTiming]
) -> CompiledGraph:
    """The program of a plan; None: of the compiler's own."""
    decide = Decide(plan or _compared(graph, hardware))
    return compile_graph(graph, hardware[0], decide, timing=hardware[1])


def _compared(graph: Graph, hardware: tuple[AcceleratorConfig, MemoryTiming]) -> Plan:
    """The plan of a segment, beside the alternatives to it."""
    return kept_plan("compared", graph, *hardware, lambda: planned_program(graph, *hardware).plan)


def _check_published(given: Mapping[str, object]) -> None:
    """Raise `InputError` for an option that the published model does not have."""
    for name, value in given.items():
        if value:
            raise InputError(
                f"--{name}: not with {_PUBLISHED}, which is calibrated on the project's texts"
            )
