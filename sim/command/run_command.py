"""`celosia run`: a workload, a program or a model on a simulator."""

from typing import Annotated

import typer

from celosia.isa.memory import MemoryTiming
from celosia.sim.command.models.run_model_command import MODEL_SUFFIXES, run_model_file
from celosia.sim.command.options.common import (
    BudgetOption,
    CausalOption,
    ChannelStallOption,
    ContextOption,
    FaultOption,
    FileOption,
    HeadsOption,
    IssueChoice,
    IssueOption,
    JsonOption,
    KeysOption,
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
)
from celosia.sim.command.options.memory import parse_fault, parse_stalls
from celosia.sim.command.options.model import (
    CalibrateOption,
    ClipOption,
    InputOption,
    OptimizeOption,
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
from celosia.sim.command.outputs.folders import check_folder, write_reports
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.advice import run_advised
from celosia.sim.run.given_plans import GivenPlan
from celosia.sim.run.report import as_json
from celosia.sim.run.run import RunOptions
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import (
    check_destination,
    write_array,
    write_file,
)
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line
from celosia.sim.wave.request import parse_request
from celosia.sim.workloads.workload_options import workload_options
from celosia.sim.workloads.workloads import WORKLOADS

__all__ = ["run"]


def run(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD", help=f"{', '.join(WORKLOADS)}, PROGRAM.cel, MODEL.onnx, MODEL.plan."
        ),
    ],
    *,
    shape: ShapeOption = None,
    a: FileOption = None,
    b: FileOption = None,
    bias: FileOption = None,
    scale: ScaleOption = None,
    relu: ReluOption = False,
    transpose_b: TransposeOption = False,
    unsigned_a: UnsignedOption = False,
    out_type: OutTypeOption = None,
    out: OutOption = None,
    keys: KeysOption = None,
    causal: CausalOption = False,
    heads: HeadsOption = None,
    seq: SeqOption = None,
    dim: SizesOption = None,
    inputs: InputOption = None,
    calibration: CalibrateOption = None,
    clip: ClipOption = "error",
    model: ModelOption = None,
    layers: LayersOption = None,
    context: ContextOption = None,
    rows: RowsOption = None,
    text: TextOption = None,
    plan_file: PlanOption = None,
    schedule: ScheduleOption = None,
    stages: StagesOption = None,
    tuned: TunedOption = None,
    optimize: OptimizeOption = False,
    reuse_memory: ReuseOption = False,
    preset: PresetOption = None,
    overrides: SetOption = None,
    simulator: SimOption = Simulator.VERILATOR,
    issue: IssueOption = IssueChoice.STREAM,
    cycle_budget: BudgetOption = 0,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
    stalls: StallOption = MemoryTiming.stall_percent,
    channel_stalls: ChannelStallOption = None,
    reorder: ReorderOption = False,
    late_ready: LateReadyOption = False,
    faults: FaultOption = None,
    seed: SeedOption = MemoryTiming.seed,
    json: JsonOption = None,
    wave: WaveOption = None,
    wave_window: WaveWindowOption = None,
    wave_scope: WaveScopeOption = None,
    report_to: ReportOption = None,
    trace: TraceOption = None,
    profile: ProfileOption = False,
    owners: OwnersOption = False,
    every: AllOption = False,
) -> None:
    """Run a workload on a simulator, and check every element of its results."""
    imported = workload.endswith(MODEL_SUFFIXES)
    details = workload_options({**locals(), "dim": None if imported else head_columns(dim)})
    options = RunOptions(
        workload=workload,
        simulator=simulator.value,
        preset=preset,
        overrides=tuple(overrides or ()),
        timing=MemoryTiming(
            latency=latency,
            bytes_per_cycle=rate,
            stall_percent=stalls,
            channel_stalls=parse_stalls(channel_stalls or ()),
            reorder=reorder,
            ready_after_valid=late_ready,
            faults=tuple(parse_fault(fault) for fault in faults or ()),
            seed=seed,
        ),
        issue=issue.value,
        cycle_budget=cycle_budget,
        details=details,
        given=GivenPlan(plan=plan_file, schedule=schedule, tuned=tuned, stages=stages),
        reuse_memory=reuse_memory,
        optimize=optimize,
        wave=parse_request(wave, wave_window, wave_scope, simulator.value),
        log=bool(profile or report_to or trace),
        advice=bool(profile or report_to or trace),
        command_line=command_line(),
        announce=_announce,
    )
    for path in (json, out, trace):
        check_destination(path)
    check_folder(report_to)
    if imported:
        run_model_file(options, dim, inputs, (calibration, clip), (json, report_to, owners, every))
        return
    if inputs or calibration or clip != "error":
        raise InputError(f"--input, --calibrate, --clip: only for MODEL.onnx, not {workload}")
    with progress_bar() as tell:
        outcome = run_advised(options, tell)
    report = outcome.report
    print_report(table_console(json), report, owners=owners, layers=every)
    document = report.document()
    if json:
        write_file(json, as_json(document))
    write_reports(document, report_to, trace)
    if out and report.right and outcome.result is not None:
        write_array(out, outcome.result)
    raise typer.Exit(report.exit_code)


def _announce(text: str) -> None:
    typer.echo(f"celosia: {text}", err=True)
