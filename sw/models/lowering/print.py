"""Integer models, plans, programs and commands as operations in MLIR's generic syntax.

A plan and its program stand beside their graph::

    "cel.lowered"() ({
      "cel.graph"() ({...}) {inputs = ["a"], name = "product"} : () -> ()
      "cel.plan"() ({
        "cel.plan.rings"() {at = "a", space = "scratchpad", spans = [[0, 1024]]} : () -> ()
        "cel.plan.linear"() {kind = "linear", op = "product", ...} : () -> ()
      }) {graph = "product", machine = {...}} : () -> ()
      "cel.program"() ({
        "cel.program.load"() {operator = "product", to = {...}, view = {...}} : () -> ()
      }) : () -> ()
    }) {config = {dim = 4, ...}} : () -> ()

A model is what the host computes, as operations of dialect ``nn``, with its segments between them:
each holds a graph, or such a ``cel.lowered``.  All else of a record is derived from its fields
(`celosia.sw.mlir.regions`).
"""

from collections.abc import Iterator
from typing import Final

from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.text import FloatPrinter, float_graph_operation
from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.operation import Operation
from celosia.sw.mlir.print_graph import graph_operation
from celosia.sw.mlir.records import Arrays, attribute_of, fields_of
from celosia.sw.mlir.regions import operation_of
from celosia.sw.models.lowering.commands import AssembledCommands
from celosia.sw.models.lowering.levels import COMMANDS, PROGRAM, Level, Lowered
from celosia.sw.models.lowering.names import DATAFLOW, OP_WORDS, PROGRAM_OPS
from celosia.sw.quantize.graphs.quantized import QuantizedGraph

__all__ = ["AnyLevel", "level_operation"]

_HOST: Final = "host/"
"""What names of the host's arrays begin with; those of segments begin with a number."""
_HOST_VALUE: Final = "host$"
"""What names of the host's values begin with: regions inside have names of their own."""

AnyLevel = FloatGraph | Graph | QuantizedGraph | Lowered
"""What has a text."""


def level_operation(value: AnyLevel) -> tuple[Operation, Arrays]:
    """The operation that a value of any level is, and the arrays beside its text by their names."""
    arrays: Arrays = {}
    match value:
        case FloatGraph():
            return float_graph_operation(value), dict(value.constants)
        case Graph():
            return graph_operation(value), dict(value.constants)
        case QuantizedGraph():
            return _model(value, None, arrays), arrays
        case Lowered(model=None):
            (compiled,) = value.graphs
            return _compiled(compiled, value.level, "", arrays), arrays
        case Lowered(model=model):
            assert model is not None
            return _model(model, value, arrays), arrays


def _compiled(compiled: CompiledGraph, level: Level, prefix: str, arrays: Arrays) -> Operation:
    """A graph with its plan, its program or its commands."""
    inner = [_graph(compiled.graph, prefix, arrays)]
    if level != COMMANDS:
        inner.append(operation_of(compiled.plan, "cel.plan", arrays))
    if level == PROGRAM:
        region = tuple(
            Operation(
                name=PROGRAM_OPS + OP_WORDS[type(each.op)],
                attributes={"operator": each.operator, **dict(fields_of(each.op, arrays))},
            )
            for each in compiled.ops
        )
        inner.append(Operation(name="cel.program", regions=(region,)))
    if level == COMMANDS:
        inner.append(operation_of(AssembledCommands.of(compiled), "cel.commands", arrays))
    config = attribute_of(compiled.config, arrays)
    return Operation(name="cel.lowered", attributes={"config": config}, regions=(tuple(inner),))


def _graph(graph: Graph, prefix: str, arrays: Arrays) -> Operation:
    arrays.update({prefix + name: value for name, value in graph.constants.items()})
    return graph_operation(graph, prefix)


def _model(model: QuantizedGraph, below: Lowered | None, arrays: Arrays) -> Operation:
    """A model, whose segments are graphs, or what these have become."""
    frame = operation_of(model, "cel.model", arrays, DATAFLOW)
    inner = (*frame.regions[0], *_dataflow(model, below, arrays))
    return Operation(name=frame.name, attributes=frame.attributes, regions=(inner,))


def _dataflow(model: QuantizedGraph, below: Lowered | None, arrays: Arrays) -> Iterator[Operation]:
    """What the host computes, and the segments, in order."""
    nodes = [node for level in model.host for node in level]
    types = {**model.types, **model.inputs, **{node.name: node.type for node in nodes}}
    host = FloatGraph(
        name=model.name, inputs=types, constants=model.constants, nodes=(), outputs={}
    )
    printer = FloatPrinter(host.types(), _HOST_VALUE)
    arrays.update({_HOST + name: value for name, value in model.constants.items()})
    yield from printer.given(model.inputs, model.constants, _HOST)
    for number, level in enumerate(model.host):
        yield from map(printer.node, level)
        if number < len(model.segments):
            segment, prefix = model.segments[number], f"{number}/"
            frame = operation_of(segment, "cel.segment", arrays, ("graph",))
            if below is None:
                graph = _graph(segment.graph, prefix, arrays)
            else:
                graph = _compiled(below.graphs[number], below.level, prefix, arrays)
            regions = ((graph, *frame.regions[0]),)
            yield Operation(name=frame.name, attributes=frame.attributes, regions=regions)
            for name, form in model.reads.items():
                if form in segment.outputs.values():
                    yield printer.define("cel.read", name, {})
    yield printer.returned(model.outputs)
