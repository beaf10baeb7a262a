"""What a graph costs: cycles by the timeline, and a model of the host for what is left to it.

Cycles of what is computed together are those that it adds behind the four before it.  What is alike
is predicted once, so a graph that differs from a known one in a few operators has its cost at once.
That leaves out whatever later operators hide: `whole` and `whole_floating` follow all of a graph.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.choose import choices_by_rows
from celosia.sw.compiler.passes import predict
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graphs.alike import anonymous
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.forms.groups import groups, members
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.quantize.weight_types import WeightTypes

__all__ = ["Costs", "host_cycles"]

_BEFORE: Final = 4
"""Groups of operators before one that it may overlap with."""
_FOLLOWED: Final = 500_000_000
"""Multiply-accumulates up to which all of a model is followed.  Groups of operators of larger ones
are long enough to be followed each by itself: that is 1 % off, and alike ones are followed once."""
HOST_ELEMENT_CYCLES: Final = 48
"""Cycles of a host for an element that it computes: what a softmax takes on the survey's."""


class Costs:
    """Cycles on one configuration and memory, of graphs of either level."""

    def __init__(self, config: AcceleratorConfig, timing: MemoryTiming | None = None):
        self.config, self.timing = config, timing
        self._known: dict[Hashable, int] = {}

    def integer(self, graph: Graph, before: int = _BEFORE) -> int:
        """Predicted cycles of a graph of integers; groups overlap with so many `before` them.

        Raises `ValueError` for what the accelerator cannot do.
        """
        choices, total = choices_by_rows(graph, self.config), 0
        together = [*map(members, groups(graph, fused_norms=choices.fused_norms))]
        for place, group in enumerate(together):
            ahead = tuple(chain(*together[max(0, place - before) : place]))
            both = self._cycles(graph, (*ahead, *group), choices)
            total += both - (self._cycles(graph, ahead, choices) if ahead else 0)
        return total

    def floating(self, graph: FloatGraph) -> int:
        """Predicted cycles of a float graph as it would be quantized, and of the host.

        Raises `ValueError` for what is not quantized.
        """
        segments, host = sketch(graph)
        return sum(map(self.integer, segments)) + host_cycles(host)

    def segments(self, graph: FloatGraph, weights: WeightTypes) -> tuple[int, tuple[Node, ...]]:
        """Predicted cycles of all segments of a graph whose products have `weights`, and the host.

        Raises `ValueError` for what is not quantized, or what the accelerator cannot do.
        """
        found, host = sketch(graph, weights=weights)
        large = sum(graph.macs().values()) > _FOLLOWED
        return sum(self.integer(each, 0) if large else self.whole(each) for each in found), host

    def whole(self, graph: Graph) -> int:
        """Predicted cycles of a graph of integers, all of which is followed at once.

        Raises `ValueError` for what the accelerator cannot do.
        """
        choices = choices_by_rows(graph, self.config)
        return predict(graph, self.config, choices, self.timing).cycles

    def whole_floating(self, graph: FloatGraph) -> int:
        """Predicted cycles of each segment that a float graph would become, and of the host.

        Raises `ValueError` for what is not quantized.
        """
        segments, host = sketch(graph)
        return sum(map(self.whole, segments)) + host_cycles(host)

    def _cycles(self, graph: Graph, ops: Sequence[Op], choices: Choices) -> int:
        key = (anonymous(graph.tensors, ops), choices)
        if key not in self._known:
            names = {view.tensor for op in ops for view in (*op.operands, *op.results)}
            part = replace(
                graph,
                ops=tuple(ops),
                tensors={name: graph.tensors[name] for name in graph.tensors if name in names},
                constants={n: value for n, value in graph.constants.items() if n in names},
                inputs=(),
                outputs=(),
            )
            cycles = predict(part, self.config, choices, self.timing).cycles
            self._known[key] = cycles
        return self._known[key]


def host_cycles(nodes: Sequence[Node]) -> int:
    """A model of a host: elements times cycles; copies take one, views none."""
    return sum(
        node.type.size * (1 if reach is Reach.COPY else HOST_ELEMENT_CYCLES)
        for node in nodes
        if (reach := OPERATORS[node.op].reach) is not Reach.VIEW
    )
