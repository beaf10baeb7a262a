"""Operations to integer models, plans, programs and commands; each is checked as it is read."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.verified import verify_program
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.text import FloatReader, body, float_graph_of
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.print_program import KINDS
from celosia.sw.ir.program import Written
from celosia.sw.mlir.fields import fail, typed
from celosia.sw.mlir.operation import Operation
from celosia.sw.mlir.read_graph import graph_of
from celosia.sw.mlir.records import made
from celosia.sw.mlir.regions import elements, record_of
from celosia.sw.models.lowering.commands import AssembledCommands
from celosia.sw.models.lowering.levels import COMMANDS, PLAN, PROGRAM, Level, Lowered, blank_plan
from celosia.sw.models.lowering.names import DATAFLOW, PROGRAM_OPS
from celosia.sw.models.lowering.print import AnyLevel
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.quantize.graphs.quantized import QuantizedGraph
from celosia.sw.quantize.units.segments import Segment

__all__ = ["TOPS", "level_of_operation", "written"]

Arrays = Mapping[str, Array]

TOPS: Final = ("nn.graph", "cel.graph", "cel.model", "cel.lowered")
"""The operations that texts consist of."""
_LEVELS: Final[Mapping[tuple[str, ...], Level]] = {
    ("cel.graph", "cel.plan"): PLAN,
    ("cel.graph", "cel.plan", "cel.program"): PROGRAM,
    ("cel.graph", "cel.commands"): COMMANDS,
}
"""What is in a ``cel.lowered``."""


def level_of_operation(operation: Operation, arrays: Arrays) -> AnyLevel:
    """The value of any level that an operation is, verified, with the arrays beside its text.

    Raises `ValueError` that names line and column of what is wrong, and the rule.
    """
    match operation.name:
        case "nn.graph":
            return float_graph_of(operation, arrays)
        case "cel.graph":
            return graph_of(operation, arrays)
        case "cel.lowered":
            level, compiled = _compiled(operation, arrays)
            return Lowered(level=level, graphs=(compiled,))
        case "cel.model":
            return _ModelReader(operation, arrays).value()
        case name:
            raise fail(operation, f"it is none of {', '.join(TOPS)}, but {name}")


def _compiled(operation: Operation, arrays: Arrays) -> tuple[Level, CompiledGraph]:
    """A ``cel.lowered``, and its level."""
    inner = {each.name: each for region in operation.regions for each in region}
    names = tuple(each.name for region in operation.regions for each in region)
    if names not in _LEVELS:
        known = "; ".join(", ".join(each) for each in _LEVELS)
        raise fail(operation, f"it holds {', '.join(names) or 'nothing'}, none of: {known}")
    try:
        config = made(AcceleratorConfig, operation.attributes.get("config"), "config", {})
    except ValueError as error:
        raise fail(operation, str(error)) from None
    graph = graph_of(inner["cel.graph"], arrays)
    if short_scales(graph, config) is not graph:
        text = f"{graph.name}: a scale has more than the {config.scale_bits} bits of the config's"
        raise fail(inner["cel.graph"], text)
    compiled = CompiledGraph(graph=graph, config=config, plan=blank_plan(graph, config))
    if "cel.plan" in inner:
        compiled = _with_plan(compiled, inner["cel.plan"])
    if "cel.program" in inner:
        compiled = _with_program(compiled, inner["cel.program"])
    if "cel.commands" in inner:
        compiled = _with_commands(compiled, inner["cel.commands"])
    return _LEVELS[names], compiled


def _with_plan(compiled: CompiledGraph, operation: Operation) -> CompiledGraph:
    plan = record_of(operation, Plan, {}, {})
    try:
        return replace(compiled, plan=verify_plan(plan, compiled.graph, compiled.config))
    except ValueError as error:
        raise fail(operation, str(error)) from None


def _with_program(compiled: CompiledGraph, operation: Operation) -> CompiledGraph:
    inner = [each for region in operation.regions for each in region]
    found, names = tuple(map(written, inner)), {op.name for op in compiled.graph.ops}
    for each, place in zip(found, inner, strict=True):
        if each.operator not in names:
            raise fail(place, f"operator: the graph has no {each.operator!r}")
    compiled = replace(compiled, ops=found)
    try:
        verify_program(compiled)
    except ValueError as error:
        raise fail(operation, str(error)) from None
    return compiled


def written(operation: Operation) -> Written:
    """An operation of a program; raises `ValueError` that names its place."""
    word = operation.name.removeprefix(PROGRAM_OPS)
    if operation.name != PROGRAM_OPS + word or word not in KINDS:
        raise fail(operation, f"it is none of {', '.join(PROGRAM_OPS + each for each in KINDS)}")
    values: dict[str, Any] = dict(operation.attributes)
    operator = typed(operation, values, "operator", str)
    del values["operator"]
    try:
        return Written(made(KINDS[word], values, word, {}), operator)
    except ValueError as error:
        raise fail(operation, str(error)) from None


def _with_commands(compiled: CompiledGraph, operation: Operation) -> CompiledGraph:
    text = record_of(operation, AssembledCommands, {}, {})
    try:
        text.check({name: tensor.bytes for name, tensor in compiled.graph.tensors.items()})
        commands = text.commands()
    except ValueError as error:
        raise fail(operation, str(error)) from None
    addresses = dict(text.addresses)
    return replace(compiled, program=commands, addresses=addresses, end=text.end)


class _ModelReader:
    """A ``cel.model``: what the host computes, and segments between."""

    def __init__(self, operation: Operation, arrays: Arrays):
        if len(operation.regions) != 1:
            raise fail(operation, f"it has {len(operation.regions)} regions, not 1")
        self._operation, self._arrays = operation, arrays
        self._reader = FloatReader(arrays)
        self._segments: list[Segment] = []
        self._below: list[tuple[Level, CompiledGraph]] = []
        self._read: dict[str, Operation] = {}
        self._cuts = [0]
        self._fields = elements(QuantizedGraph, operation.name, DATAFLOW)

    def value(self) -> QuantizedGraph | Lowered:
        """The model, or what its segments have become in it."""
        inner, last = body(self._operation)
        fields = []
        for each in inner:
            if each.name in self._fields:
                fields.append(each)
            else:
                self._take(each)
        cuts, nodes = [*self._cuts, len(self._reader.nodes)], self._reader.nodes
        frame = replace(self._operation, regions=(tuple(fields),))
        model = record_of(
            frame,
            QuantizedGraph,
            self._arrays,
            {
                "inputs": self._reader.inputs,
                "constants": self._reader.constants,
                "host": tuple(tuple(nodes[one:other]) for one, other in pairwise(cuts)),
                "segments": tuple(self._segments),
                "outputs": self._reader.returned(last),
            },
        )
        for name, operation in self._read.items():
            if name not in model.reads:
                raise fail(operation, f"reads: no form of {name} is read")
        if not self._below:
            return model
        level, _ = self._below[0]
        graphs = tuple(compiled for other, compiled in self._below if other == level)
        if len(graphs) != len(self._segments):
            raise fail(self._operation, "its segments are not all of one level")
        return Lowered(level=level, graphs=graphs, model=model)

    def _take(self, operation: Operation) -> None:
        if operation.name == "cel.read":
            _, name = self._reader.define(operation)
            self._read[name] = operation
        elif operation.name == "cel.segment":
            self._segment(operation)
            self._cuts.append(len(self._reader.nodes))
        elif operation.name.startswith("nn."):
            self._reader.take(operation)
        else:
            known = ", ".join(("nn.*", "cel.segment", "cel.read", *self._fields))
            raise fail(operation, f"it is none of {known}")

    def _segment(self, operation: Operation) -> None:
        inner = [each for region in operation.regions for each in region]
        if not inner or inner[0].name not in ("cel.graph", "cel.lowered"):
            raise fail(operation, "it does not begin with a cel.graph or a cel.lowered")
        graph: Graph
        if inner[0].name == "cel.graph":
            graph = graph_of(inner[0], self._arrays)
        else:
            self._below.append(_compiled(inner[0], self._arrays))
            graph = self._below[-1][1].graph
        frame = replace(operation, regions=(tuple(inner[1:]),))
        self._segments.append(record_of(frame, Segment, self._arrays, {"graph": graph}))
