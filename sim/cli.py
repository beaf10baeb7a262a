"""The command line.  Commands are thin: what they do is in modules of its own."""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.bench import baseline
from celosia.lab.mappings.command import register as register_mappings
from celosia.lab.bench.silicon import SILICON, Sweep
from celosia.lab.bench.suite import BENCHMARKS, NONLINEAR, ON_REQUEST, baseline_path, run_bench
from celosia.lab.survey.command import register as register_survey
from celosia.lab.sweep.command import register as register_sweep
from celosia.lab.tune.command import register as register_tune
from celosia.sim.c_host.command import app as c_host_app
from celosia.sim.command.assembly_commands import register as register_assembly
from celosia.sim.command.compile_command import compile_workload
from celosia.sim.command.config_report import app as config_app
from celosia.sim.command.document import write_documents
from celosia.lab.fuzz.fuzz_command import register as register_verification
from celosia.sim.command.models.commands import register as register_models
from celosia.lab.training.language_commands import register as register_language
from celosia.lab.substitute.optimize_command import register as register_optimize
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
from celosia.sim.command.options.spelling import Commands
from celosia.sim.command.outputs import check_folder, write_reports
from celosia.sim.command.plan_command import plan
from celosia.sim.command.report_commands import register as register_reporting
from celosia.sim.command.tables import doctor_table, print_bench, print_report
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.files import check_destinations
from celosia.sim.export.silicon.command import register as register_silicon
from celosia.sim.run.advice import run_advised
from celosia.sim.run.given_plans import GivenPlan
from celosia.sim.run.report import as_json, versions
from celosia.sim.run.run import RunOptions
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import BAD_INPUT, WRONG, guarded, run_guarded
from celosia.sim.support.output import (
    STANDARD_OUTPUT,
    check_destination,
    write_array,
    write_file,
)
from celosia.sim.support.problems import InputError
from celosia.sim.verilator.doctor import REQUIRE_VARIABLE, doctor_document, examine
from celosia.sim.wave.request import parse_request
from celosia.sim.workloads.workload_options import workload_options
from celosia.sim.workloads.workloads import WORKLOADS

__all__ = ["app", "main"]

app = typer.Typer(
    name="celosia",
    cls=Commands,
    help="A transformer accelerator: its simulators, its compiler and its RTL.",
    epilog="Exit code 0: right; 1: wrong; 2: bad input, or something is missing; 130: interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(config_app, name="config")
app.add_typer(c_host_app, name="c-host")
for register in (
    register_assembly,
    register_language,
    register_models,
    register_reporting,
    register_verification,
    register_silicon,
    register_survey,
    register_sweep,
    register_mappings,
    register_tune,
    register_optimize,
):
    register(app)


def main() -> None:
    """The entry point."""
    run_guarded(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"celosia {versions()['celosia']}")
        raise typer.Exit


@app.callback()
def _celosia(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
@guarded
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
        command_line=_command_line(),
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


app.command()(plan)
app.command("compile")(compile_workload)


def _only(what: str) -> Any:
    return typer.Option(min=1, help=f"Only so many {what} (repeatable); {SILICON} alone.")


@app.command()
@guarded
def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=f"{', '.join(BENCHMARKS)}; default: all these; or {' or '.join(ON_REQUEST)}.",
        ),
    ] = None,
    *,
    issue: IssueOption = IssueChoice.STREAM,
    seq: SeqOption = None,
    lanes: Annotated[list[int] | None, _only("lanes")] = None,
    scale_bits: Annotated[list[int] | None, _only("bits of scales")] = None,
    save_baseline: Annotated[
        bool,
        typer.Option("--save-baseline", help="Commit to these cycles: benchmarks/baseline.jsonl."),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Measure, and fail where a number is below its bound, or worse than the baseline."""
    if seq is not None and name != NONLINEAR:
        raise InputError(f"--seq {seq}: only bench {NONLINEAR} has it")
    for option, numbers in (("lanes", lanes), ("scale-bits", scale_bits)):
        if numbers and name != SILICON:
            raise InputError(f"--{option} {numbers[0]}: only bench {SILICON} has it")
    check_destination(json)
    with progress_bar() as tell:
        measured = run_bench(
            [name] if name else BENCHMARKS,
            tell,
            _command_line(),
            issue.value,
            seq,
            Sweep.of(lanes or (), scale_bits or ()),
        )
    print_bench(table_console(json), measured)
    if json:
        write_file(json, as_json(measured.document()))
    if save_baseline:
        baseline.save_baseline(baseline_path(), measured.cycles, measured.baseline)
    raise typer.Exit(0 if measured.right else WRONG)


@app.command()
@guarded
def verilog(
    *,
    preset: PresetOption = "base",
    overrides: SetOption = None,
    top: Annotated[
        TopChoice, typer.Option(help="core: with a command stream; axi: with registers and a ring.")
    ] = TopChoice.CORE,
    memories: Annotated[
        Memories, typer.Option(help="blackbox: instances of modules to be replaced by macros.")
    ] = Memories.INFERRED,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.v",
            help="FILE.f lists the files, FILE.md describes ports; - is standard output.",
        ),
    ] = STANDARD_OUTPUT,
) -> None:
    """Write the accelerator as Verilog, the same text whenever the RTL is the same."""
    config = resolve_config("base" if preset is None else preset, overrides or ())
    check_destinations(output, memories)
    with progress_bar() as tell:
        tell("writing the Verilog", None)
        # Loads Amaranth, which no other command needs.
        writer = import_module("celosia.sim.export.write")
        writer.write_verilog(config, top, memories, output)


@app.command(epilog=f"{REQUIRE_VARIABLE}=NAME,NAME makes the absence of these tools a failure.")
@guarded
def doctor(*, json: JsonOption = None) -> None:
    """Show which tools this machine has, and which package has the rest."""
    check_destination(json)
    findings = examine()
    table_console(json).print(doctor_table(findings))
    if json:
        write_file(json, as_json(doctor_document(findings)))
    if any(finding.failed for finding in findings):
        raise typer.Exit(BAD_INPUT)


@app.command()
@guarded
def docs(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; 1 if any is old.")
    ] = False,
) -> None:
    """Write the documents that are generated from the contract (in a checkout)."""
    stale = write_documents(checkout_root(), check)
    for name in stale:
        typer.echo(f"{name}: {'out of date, run celosia docs' if check else 'written'}")
    raise typer.Exit(WRONG if check and stale else 0)


def _announce(text: str) -> None:
    typer.echo(f"celosia: {text}", err=True)


def _command_line() -> tuple[str, ...]:
    return ("celosia", *sys.argv[1:])


if __name__ == "__main__":
    main()
