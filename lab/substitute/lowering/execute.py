"""What values of each level mean: what they leave behind for some inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.isa.memory import MEMORY_BASE
from celosia.lab.substitute.integers.prove import random_tensor
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Expand
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret as interpret_floats
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.prove import widened
from celosia.sw.ir import graph_interpret, program_interpret
from celosia.sw.ir.graph import Graph
from celosia.sw.models.lowering.levels import COMMANDS, PLAN, PROGRAM, Level, Lowered
from celosia.sw.models.lowering.print import AnyLevel
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, run_model

__all__ = ["Left", "drawn_inputs", "execute"]

Inputs = Mapping[str, Array]


@dataclass(frozen=True)
class Left:
    """What a run leaves behind."""

    outputs: dict[str, Array]
    """Outputs of float graphs, in float64, and of models, by name."""
    tensors: dict[str, Array]
    """What integer graphs compute and have in memory, by names that begin with the segment's."""


def execute(value: AnyLevel, inputs: Inputs) -> Left:
    """What a value of any level leaves behind.

    Raises `ValueError` for inputs that do not fit, or whose masks are not those of the plans, and
    `DeviceError` for commands that stop.
    """
    match value:
        case FloatGraph():
            wide = {name: array.astype(_wide_type(array)) for name, array in inputs.items()}
            return Left(interpret_floats(widened(value), wide), {})
        case Graph():
            return Left({}, _named(0, graph_interpret.interpret(value, inputs)))
        case QuantizedGraph():
            return _run(value, None, inputs)
        case Lowered(model=None):
            (compiled,) = value.graphs
            return Left({}, _named(0, _RUNNERS[value.level](compiled, inputs)))
        case Lowered(model=model):
            assert model is not None
            return _run(model, value, inputs)


def drawn_inputs(value: AnyLevel, seed: int) -> dict[str, Array]:
    """Random inputs of a value of any level; masks show all."""
    match value:
        case FloatGraph():
            masks = [name for name in value.inputs if "mask" in name]
            return random_inputs(value, masks, seed)
        case Lowered(model=None):
            return drawn_inputs(value.graphs[0].graph, seed)
        case Graph():
            random = np.random.default_rng(seed)
            return {name: random_tensor(random, value.tensors[name]) for name in value.inputs}
        case QuantizedGraph():
            model = value
        case Lowered(model=model):
            assert model is not None
    masks = {*model.masks, *(name for name in model.inputs if "mask" in name)}
    return random_inputs(_host(model), sorted(masks), seed)


def _host(model: QuantizedGraph) -> FloatGraph:
    """What the host computes before it needs a segment: where tables are read."""
    known, nodes = {*model.inputs, *model.constants}, []
    for node in (node for level in model.host for node in level):
        if known.issuperset(node.inputs):
            known.add(node.name)
            nodes.append(node)
    return FloatGraph(
        name=model.name,
        inputs=model.inputs,
        constants=model.constants,
        nodes=tuple(nodes),
        outputs={},
    )


def _wide_type(array: Array) -> np.dtype:
    return np.dtype(np.float64) if array.dtype.kind == "f" else array.dtype


def _run(model: QuantizedGraph, below: Lowered | None, inputs: Inputs) -> Left:
    """A model whose segments are computed on some level."""
    tensors: dict[str, Array] = {}

    def segment(number: int, graph: Graph, given: Inputs) -> Inputs:
        if below is None:
            found = graph_interpret.interpret(graph, given)
        else:
            compiled = below.graphs[number]
            if graph.ops != compiled.graph.ops:
                raise ValueError(
                    f"segment {number}: these inputs hide keys that its plan takes for visible: "
                    "give inputs whose masks show all"
                )
            found = _RUNNERS[below.level](compiled, given)
        tensors.update(_named(number, found))
        return found

    return Left(run_model(model, inputs, segment, count=False).outputs, tensors)


def _named(number: int, found: Inputs) -> dict[str, Array]:
    return {f"{number}/{name}": value for name, value in found.items()}


def _run_plan(compiled: CompiledGraph, inputs: Inputs) -> dict[str, Array]:
    """What a plan means: its operations in order of meaning."""
    return _run_program(Expand().apply(compiled), inputs)


def _run_program(compiled: CompiledGraph, inputs: Inputs) -> dict[str, Array]:
    graph = compiled.graph
    ops = [written.op for written in compiled.ops]
    given = graph_interpret.checked_inputs(graph, inputs)
    values = {**graph.constants, **given}
    found = program_interpret.interpret(ops, compiled.config, graph.tensors, values)
    in_memory = {tensor.name for tensor in compiled.in_memory if not tensor.scratch}
    return {name: value for name, value in found.items() if name in in_memory}


def _run_commands(compiled: CompiledGraph, inputs: Inputs) -> dict[str, Array]:
    device = FunctionalDevice(compiled.config, memory_bytes=compiled.end - MEMORY_BASE)
    run = GraphRun(device, compiled)
    run.load(inputs)
    run.run()
    return {name: run.read(name) for name in run.written}


_RUNNERS: Final[Mapping[Level, Callable[[CompiledGraph, Inputs], dict[str, Array]]]] = {
    PLAN: _run_plan,
    PROGRAM: _run_program,
    COMMANDS: _run_commands,
}
"""What computes a graph on each level below: the tensors that it writes to memory."""
