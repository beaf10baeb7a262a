"""Random inputs of a float graph, where a user gives none."""

from collections.abc import Sequence

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["random_inputs"]


def random_inputs(graph: FloatGraph, masks: Sequence[str], seed: int) -> dict[str, Array]:
    """One sample: normal numbers, places within the tables that are read, masks that show all.

    Other integers are 0 or 1.
    """
    random = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for name, kind in graph.inputs.items():
        if kind.is_float:
            found[name] = random.standard_normal(kind.shape).astype(kind.dtype)
        elif name in masks or kind.dtype == "bool":
            found[name] = np.ones(kind.shape, kind.dtype)
        else:
            found[name] = random.integers(0, _places(graph, name), kind.shape).astype(kind.dtype)
    return found


def _places(graph: FloatGraph, name: str) -> int:
    """How many places the shortest table has that is read at the places in an input; else 2."""
    same, least = {name}, []
    types = graph.types()
    for node in graph.nodes:
        alike = node.op == "cast" or OPERATORS[node.op].reach is Reach.VIEW
        if alike and node.inputs[0] in same:
            same.add(node.name)
        elif node.op == "gather" and node.inputs[1] in same:
            axis = node.attributes["axis"]
            assert isinstance(axis, int)
            least.append(types[node.inputs[0]].shape[axis])
    return min(least, default=2)
