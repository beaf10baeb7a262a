"""`celosia check`: what the compiler makes of a model that another tool has written."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.models.check_table import Placed, refusal_notes, show_check
from celosia.sim.command.options.common import (
    JsonOption,
    LatencyOption,
    PresetOption,
    RateOption,
    SetOption,
)
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.model import (
    BesideOption,
    FileWeightsOption,
    FixedOption,
    PerTensorOption,
)
from celosia.sim.command.options.report import AllOption
from celosia.sim.run.models.time_share import PlacementInTime, TimeShare, predict_shares
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import import_extra
from celosia.sim.support.guard import BAD_INPUT
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, write_file
from celosia.sim.workloads.models.prepare import parse_fixed, parse_sizes
from celosia.sim.workloads.models.weights import parse_weights
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.text import print_float_graph
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.quantize.units.placement import place
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.weight_types import WeightTypes

__all__ = ["check"]


def _hardware(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
) -> tuple[AcceleratorConfig, MemoryTiming]:
    """What time is predicted for."""
    timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
    return resolve_config(preset or "base", overrides or ()), timing


class _Bound(NamedTuple):
    """What a file leaves open."""

    sizes: dict[str, int]
    fixed: dict[str, str]
    beside: tuple[Path, ...]


def _bound(
    *,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--dim",
            metavar="NAME=N",
            help="A size of the inputs that has a name, or INPUT.AXIS=N of one that has none.",
        ),
    ] = None,
    beside: BesideOption = None,
    fixed: FixedOption = None,
) -> _Bound:
    """Sizes, inputs that are numbers, and what stands beside the file."""
    return _Bound(parse_sizes(sizes or ()), parse_fixed(fixed or ()), tuple(beside or ()))


@grouped
def check(
    model: Annotated[Path, typer.Argument(metavar="MODEL.onnx")],
    *,
    bound: Annotated[_Bound, Group(_bound)],
    per_tensor: PerTensorOption = False,
    weights: FileWeightsOption = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="FILE.mlir", help="Write the float graph; - is standard output."),
    ] = None,
    recognized: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.mlir", help="Write the float graph of what was recognized in it."
        ),
    ] = None,
    hardware: Annotated[tuple[AcceleratorConfig, MemoryTiming], Group(_hardware)],
    every: AllOption = False,
    json: JsonOption = None,
) -> None:
    """Show where each node of an ONNX model runs, and why, where the accelerator does not."""
    for path in (json, text, recognized):
        check_destination(path)
    types = parse_weights(weights)
    importer = import_extra("celosia.sw.frontend.importer.import_model", "onnx")
    surveyor = import_extra("celosia.sw.frontend.importer.survey", "onnx")
    with progress_bar() as tell:
        tell(f"importing {model}", None)
        imported = importer.examine(model, *bound)
        found = surveyor.survey(imported)
        tell("recognizing operators", None)
        recognized_model = None if imported.lost else recognize(imported.graph)
        placement = recognized_model and place(
            imported.graph,
            recognized_model,
            units_of(recognized_model.graph, per_tensor=per_tensor),
        )
        tell("predicting how long it takes", None)
        time = None
        if recognized_model is not None and not per_tensor:
            time = _predicted(recognized_model.graph, hardware, types)
    texts = STANDARD_OUTPUT in {text, recognized}
    console = table_console(STANDARD_OUTPUT if texts else json)
    placed = Placed(found, placement, time)
    show_check(console, imported, placed, every=every)
    if per_tensor:
        console.print("note: run and build say what one scale costs: it takes calibration data")
    if recognized_model is not None:
        for text_of_refusal in refusal_notes(recognized_model.refusals):
            console.print(f"note: {text_of_refusal}", markup=False)
        if recognized:
            write_file(recognized, print_float_graph(recognized_model.graph))
    if text:
        write_file(text, print_float_graph(imported.graph))
    if json:
        faults = () if recognized_model is None else recognized_model.faults
        placed_in_time = None if placement is None else PlacementInTime(placement, time)
        documents = import_extra("celosia.sim.command.models.checked_model", "onnx")
        checked = documents.CheckedModel(
            model=" beside ".join(map(str, (model, *bound.beside))),
            sizes=bound.sizes,
            weights=weights or "int8",
            notes=(*imported.notes, *faults),
            macs=found.macs,
            nodes=found.rows,
            lost_outputs=dict(imported.lost),
            placement=placed_in_time,
        )
        write_document(json, checked)
    if imported.lost:
        raise typer.Exit(BAD_INPUT)


def _predicted(
    graph: FloatGraph, hardware: tuple[AcceleratorConfig, MemoryTiming], types: WeightTypes
) -> TimeShare | None:
    """Predicted shares of the time; None for a graph that is not quantized."""
    try:
        return predict_shares(graph, Costs(*hardware), types)
    except ValueError:
        return None
