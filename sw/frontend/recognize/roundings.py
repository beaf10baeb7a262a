"""Leaves out what rounds numbers to 16 bits between operators: they are computed in float32.

Exporters of float16 models round between the parts of a norm, which then is none that could be
recognized.  What the accelerator computes is rounded to the steps of its own formats instead.
"""

from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.rewrite import Match, rebuild

__all__ = ["without_roundings"]

_ROUNDING: Final = "round_float"


def without_roundings(graph: FloatGraph) -> FloatGraph:
    """The graph with the operand in the place of each number that is rounded to 16 bits."""
    found = [node for node in graph.nodes if node.op == _ROUNDING]
    if not found:
        return graph
    return rebuild(
        graph,
        {
            node.name: Match(
                what="a rounding",
                root=node.name,
                operands=node.inputs,
                build=lambda builder, operands: operands[0],
            )
            for node in found
        },
    )
