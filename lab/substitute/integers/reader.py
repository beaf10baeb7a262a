"""What substitutions ask of a graph of integers."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.graph import Graph, Op, View
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.rewriting.walk import Walk

__all__ = ["IntegerReader", "Mask"]

Mask = NDArray[np.bool_]


class IntegerReader:
    """A graph with its writers, readers and constants at hand."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.ops = {op.name: op for op in graph.ops}
        self._digests: dict[View, str] = {}
        self.nodes = Walk(graph.ops, lambda op: op.name)
        """For a rule that looks at each."""

    @cached_property
    def writers(self) -> dict[str, list[Op]]:
        """The operators that write each tensor, in order."""
        found: dict[str, list[Op]] = defaultdict(list)
        for op in self.graph.ops:
            for name in dict.fromkeys(view.tensor for view in op.results):
                found[name].append(op)
        return found

    @cached_property
    def reads(self) -> dict[str, list[tuple[Op, View]]]:
        """Every reading of each tensor, in order."""
        found: dict[str, list[tuple[Op, View]]] = defaultdict(list)
        for op in self.graph.ops:
            for view in op.operands:
                found[view.tensor].append((op, view))
        return found

    def value(self, view: View) -> Array | None:
        """The elements of a view of a constant."""
        value = self.graph.constants.get(view.tensor)
        return None if value is None else value[view.slices]

    def digest(self, view: View) -> str | None:
        """What constants with the same elements have in common; None for what is no constant."""
        value = self.value(view)
        if value is None:
            return None
        if view not in self._digests:
            data = np.ascontiguousarray(value).tobytes()
            self._digests[view] = f"{value.dtype}{value.shape}{blake2b(data).hexdigest()}"
        return self._digests[view]

    def may_move(self, view: View) -> bool:
        """Whether a view is all of a tensor that only operators of the graph know."""
        graph, tensor = self.graph, self.graph.tensors[view.tensor]
        fixed = {*graph.inputs, *graph.outputs, *graph.constants}
        return view == tensor.view() and view.tensor not in fixed and not tensor.cache

    def wanted(self, name: str, without: Sequence[str] = ()) -> Mask:
        """The elements of a tensor that anybody reads but the operators `without`."""
        tensor = self.graph.tensors[name]
        if name in self.graph.outputs or tensor.cache:
            return np.ones(tensor.shape, np.bool_)
        mask = np.zeros(tensor.shape, np.bool_)
        for op, view in self.reads[name]:
            if op.name not in without:
                mask[view.slices] = True
        return mask
