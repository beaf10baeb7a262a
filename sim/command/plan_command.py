"""`celosia plan`: what the compiler decides, before anything runs."""

from typing import Annotated

import typer

from celosia.isa.memory import MemoryTiming
from celosia.sim.command.options.common import (
    CausalOption,
    ContextOption,
    DimOption,
    FileOption,
    HeadsOption,
    JsonOption,
    KeysOption,
    LatencyOption,
    LayersOption,
    ModelOption,
    OutTypeOption,
    PresetOption,
    RateOption,
    ReluOption,
    RowsOption,
    ScaleOption,
    SeedOption,
    SeqOption,
    SetOption,
    ShapeOption,
    StallOption,
    TextOption,
    TransposeOption,
    UnsignedOption,
)
from celosia.sim.command.outputs.plan_report import plan_tables, plan_text, plan_workload
from celosia.sim.run.report import as_json
from celosia.sim.run.run import RunOptions
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.words import command_line
from celosia.sim.workloads.workload_options import workload_options
from celosia.sim.workloads.workloads import WORKLOADS

__all__ = ["plan"]


def plan(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help=f"{', '.join(WORKLOADS)}.")],
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
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
    stalls: StallOption = MemoryTiming.stall_percent,
    seed: SeedOption = MemoryTiming.seed,
    json: JsonOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The plan, with its tactics: for --plan."
        ),
    ] = None,
) -> None:
    """Show what the compiler decides, the cycles that it expects, and those of alternatives."""
    details = workload_options(locals())
    options = RunOptions(
        workload=workload,
        preset=preset,
        overrides=tuple(overrides or ()),
        timing=MemoryTiming(latency=latency, bytes_per_cycle=rate, stall_percent=stalls, seed=seed),
        details=details,
        command_line=command_line(),
    )
    check_destination(json)
    check_destination(output)
    with progress_bar() as tell:
        found = plan_workload(options, tell)
    for table in plan_tables(found):
        table_console(json).print(table)
    if output:
        write_file(output, plan_text(found))
    if json:
        write_file(json, as_json(found.document()))
