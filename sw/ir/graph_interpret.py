"""What a graph means: its operators on NumPy arrays.

Products, softmax and normalization of whole rows are those of `celosia.isa.numerics`, other
finishes the meanings of TRANSFORM's functions.
"""

from collections.abc import Callable, Mapping

import numpy as np

from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graphs.operator import Array, Values

__all__ = ["Array", "Machine", "checked_inputs", "interpret"]


def interpret(
    graph: Graph,
    inputs: Mapping[str, Array],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> dict[str, Array]:
    """Every tensor that is not a constant, by name, for the given inputs of a well-formed graph.

    `progress` is told the operators done so far, and their number.  Raises `ValueError` for an
    input that is missing, or has another type or shape.
    """
    machine = Machine(graph, checked_inputs(graph, inputs))
    for index, op in enumerate(graph.ops):
        machine.take(op)
        progress(index + 1, len(graph.ops))
    return machine.values


def checked_inputs(
    graph: Graph, inputs: Mapping[str, Array], *, caches: bool = True
) -> dict[str, Array]:
    """The `inputs` that `graph` has, those that are `caches` among them or not.

    Raises `ValueError` for one that is missing, or has another type or shape.
    """
    names = [name for name in graph.inputs if caches or not graph.tensors[name].cache]
    for name in names:
        if name not in inputs:
            raise ValueError(f"graph {graph.name}: input {name} is missing")
        tensor, value = graph.tensors[name], inputs[name]
        if value.shape != tensor.shape or value.dtype != tensor.type:
            raise ValueError(
                f"graph {graph.name}: input {name} is {value.dtype} of {value.shape}, not "
                f"{tensor.type} of {tensor.shape}"
            )
    return {name: inputs[name] for name in names}


class Machine(Values):
    """The interpreter's state: the tensors computed so far."""

    def __init__(self, graph: Graph, inputs: dict[str, Array]):
        given = {
            name: value.copy() if graph.tensors[name].cache else value
            for name, value in inputs.items()
        }
        blank = {
            name: np.zeros(tensor.shape, tensor.type)
            for name, tensor in graph.tensors.items()
            if name not in inputs and name not in graph.constants
        }
        super().__init__(graph.constants, given | blank)

    def take(self, op: Op) -> None:
        """Compute an operator."""
        op.compute(self)
