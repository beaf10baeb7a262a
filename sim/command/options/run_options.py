"""Groups of options of the commands that run, compile or plan a workload."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from celosia.isa.memory import MemoryTiming
from celosia.sim.command.options.common import (
    BudgetOption,
    ChannelStallOption,
    ContextOption,
    FaultOption,
    FileOption,
    HeadsOption,
    IssueChoice,
    IssueOption,
    JsonOption,
    LatencyOption,
    LateReadyOption,
    LayersOption,
    ModelOption,
    OutOption,
    OutTypeOption,
    PlanOption,
    PresetOption,
    RateOption,
    ReluOption,
    ReorderOption,
    ReuseOption,
    RowsOption,
    ScaleOption,
    ScheduleOption,
    SeedOption,
    SeqOption,
    SetOption,
    ShapeOption,
    SimOption,
    Simulator,
    StagesOption,
    StallOption,
    TextOption,
    TransposeOption,
    TunedOption,
    UnsignedOption,
    WaveOption,
    WaveScopeOption,
    WaveWindowOption,
    WeightsOption,
)
from celosia.sim.command.options.groups import Group, plain
from celosia.sim.command.options.memory import parse_fault, parse_stalls
from celosia.sim.command.options.model import (
    BesideOption,
    CalibrateOption,
    ClipOption,
    FixedOption,
    InputOption,
    LeastOption,
    MostOption,
    OptimizeOption,
    PerTensorOption,
    PrecisionOption,
    SizesOption,
    head_columns,
)
from celosia.sim.command.options.report import (
    AllOption,
    OwnersOption,
    ProfileOption,
    ReportOption,
    TraceOption,
)
from celosia.sim.command.options.softmax import (
    CausalOption,
    DitheredOption,
    KeysOption,
    WindowOption,
)
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.run.options.options import Compiling, Target
from celosia.sim.workloads.details import Details
from celosia.sim.workloads.workloads import WORKLOADS, details_for, is_model

__all__ = [
    "Asked",
    "Outputs",
    "WaveWords",
    "asked",
    "asked_of_run",
    "compiling",
    "outputs",
    "planned_target",
    "target",
    "wave_words",
]


@dataclass(frozen=True)
class Asked:
    """A workload as it was typed: its name, and the options that say what it computes."""

    workload: str
    options: Mapping[str, Any]

    def details(self) -> Details | None:
        """What it computes.  Raises `InputError` for options that it does not have."""
        options = dict(self.options)
        if "dim" in options and not is_model(self.workload):
            options["dim"] = head_columns(options["dim"])
        return details_for(self.workload, options)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given, by their names."""
    return {name: plain(value) for name, value in options.items() if _is_given(value)}


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value not in ([], ())


def sizes(
    *,
    shape: ShapeOption = None,
    keys: KeysOption = None,
    causal: CausalOption = False,
    window: WindowOption = None,
    dithered: DitheredOption = False,
    heads: HeadsOption = None,
    seq: SeqOption = None,
    dim: SizesOption = None,
) -> dict[str, Any]:
    """Sizes of operands, which of their columns count, and how softmax rounds."""
    found = _given(shape=shape, keys=keys, causal=causal, heads=heads, seq=seq, dim=dim)
    return found | _given(window=window, dithered=dithered)


def numbers(
    *,
    scale: ScaleOption = None,
    relu: ReluOption = False,
    transpose_b: TransposeOption = False,
    unsigned_a: UnsignedOption = False,
    out_type: OutTypeOption = None,
) -> dict[str, Any]:
    """The form of a product."""
    return _given(
        scale=scale, relu=relu, transpose_b=transpose_b, unsigned_a=unsigned_a, out_type=out_type
    )


def operands(
    *, a: FileOption = None, b: FileOption = None, bias: FileOption = None
) -> dict[str, Any]:
    """Files of a product's operands."""
    return _given(a=a, b=b, bias=bias)


def model(
    *,
    model: ModelOption = None,
    layers: LayersOption = None,
    context: ContextOption = None,
    rows: RowsOption = None,
    weights: WeightsOption = None,
    text: TextOption = None,
) -> dict[str, Any]:
    """A model that comes with Celosia."""
    found = _given(model=model, layers=layers, context=context, rows=rows, text=text)
    return found | _given(weights=weights)


def model_files(
    *,
    beside: BesideOption = None,
    inputs: InputOption = None,
    calibration: CalibrateOption = None,
    clip: ClipOption = "error",
    per_tensor: PerTensorOption = False,
    fixed: FixedOption = None,
    precision: PrecisionOption = None,
    least_sqnr: LeastOption = None,
    most_cycles: MostOption = None,
) -> dict[str, Any]:
    """What a model of one's own is calibrated and run on."""
    unusual, numbers = None if clip == "error" else clip, tuple(fixed or ()) or None
    return _given(
        beside=tuple(beside or ()) or None,
        input=inputs,
        calibrate=calibration,
        clip=unusual,
        per_tensor=per_tensor,
        set_input=numbers,
        precision=precision,
        least_sqnr=least_sqnr,
        most_cycles=most_cycles,
    )


_Options = dict[str, Any]


def work(
    *,
    sizes: Annotated[_Options, Group(sizes)],
    operands: Annotated[_Options, Group(operands)],
    numbers: Annotated[_Options, Group(numbers)],
    model: Annotated[_Options, Group(model)],
    files: Annotated[_Options, Group(model_files)],
) -> _Options:
    """All that says what a workload computes."""
    return {**sizes, **operands, **numbers, **model, **files}


_NAMES: Final = ", ".join(WORKLOADS)


def asked(
    workload: Annotated[
        str,
        typer.Argument(metavar="WORKLOAD", help=f"{_NAMES}, MODEL.onnx, MODEL.plan, OPERATOR.py."),
    ],
    *,
    work: Annotated[_Options, Group(work)],
) -> Asked:
    """A workload, and what it computes."""
    return Asked(workload, work)


def asked_of_run(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help=f"{_NAMES}, PROGRAM.cel, MODEL.onnx, MODEL.plan, OPERATOR.py.",
        ),
    ],
    *,
    work: Annotated[_Options, Group(work)],
    out: OutOption = None,
) -> Asked:
    """A workload or a file, and what it computes."""
    return Asked(workload, {**work, **_given(out=out)})


def planned_memory(
    *,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
    stalls: StallOption = MemoryTiming.stall_percent,
    seed: SeedOption = MemoryTiming.seed,
) -> MemoryTiming:
    """The memory that a compiler plans for."""
    return MemoryTiming(latency=latency, bytes_per_cycle=rate, stall_percent=stalls, seed=seed)


def memory(
    *,
    planned: Annotated[MemoryTiming, Group(planned_memory)],
    channel_stalls: ChannelStallOption = None,
    reorder: ReorderOption = False,
    late_ready: LateReadyOption = False,
    faults: FaultOption = None,
) -> MemoryTiming:
    """The memory, with what only a simulator has."""
    return replace(
        planned,
        channel_stalls=parse_stalls(channel_stalls or ()),
        reorder=reorder,
        ready_after_valid=late_ready,
        faults=tuple(parse_fault(fault) for fault in faults or ()),
    )


def target(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    simulator: SimOption = Simulator.VERILATOR,
    issue: IssueOption = IssueChoice.STREAM,
    cycle_budget: BudgetOption = 0,
    timing: Annotated[MemoryTiming, Group(memory)],
) -> Target:
    """What a run runs on."""
    return Target(
        simulator=simulator.value,
        preset=preset,
        overrides=tuple(overrides or ()),
        timing=timing,
        issue=issue.value,
        cycle_budget=cycle_budget,
    )


def planned_target(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    timing: Annotated[MemoryTiming, Group(planned_memory)],
) -> Target:
    """What a compiler compiles for."""
    return Target(preset=preset, overrides=tuple(overrides or ()), timing=timing)


def compiling(
    *,
    plan: PlanOption = None,
    schedule: ScheduleOption = None,
    stages: StagesOption = None,
    tuned: TunedOption = None,
    optimize: OptimizeOption = False,
    reuse_memory: ReuseOption = False,
) -> Compiling:
    """How a graph becomes a program."""
    given = GivenPlan(plan=plan, schedule=schedule, tuned=tuned, stages=stages)
    return Compiling(given=given, optimize=optimize, reuse_memory=reuse_memory)


@dataclass(frozen=True)
class WaveWords:
    """A waveform as it was asked for."""

    path: Path | None
    window: str | None
    scope: str | None


def wave_words(
    *,
    wave: WaveOption = None,
    wave_window: WaveWindowOption = None,
    wave_scope: WaveScopeOption = None,
) -> WaveWords:
    """A waveform."""
    return WaveWords(wave, wave_window, wave_scope)


@dataclass(frozen=True)
class Outputs:
    """What is written and shown of a run."""

    json: str | None
    report: Path | None
    """The folder of the page."""
    trace: Path | None
    profile: bool
    owners: bool
    """All owners of cycles are printed, not only the largest."""
    layers: bool
    """Layers that are alike are printed one by one."""

    @property
    def follows(self) -> bool:
        """Each instruction is followed."""
        return bool(self.profile or self.report or self.trace)


def outputs(
    *,
    json: JsonOption = None,
    report_to: ReportOption = None,
    trace: TraceOption = None,
    profile: ProfileOption = False,
    owners: OwnersOption = False,
    every: AllOption = False,
) -> Outputs:
    """What is written and shown."""
    return Outputs(json, report_to, trace, profile, owners, every)
