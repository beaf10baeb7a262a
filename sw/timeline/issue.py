"""Loops issue commands more slowly than programs without them: where that holds nothing up."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import LOOP_ISSUE_CYCLES
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph
from celosia.sw.timeline.limits import graph_limit

__all__ = ["loops_keep_up"]

_SHARE: Final = 1 / 8
"""The share of a graph's least cycles that issuing its commands may take.

Commands are not spread evenly over a program: with more than this, some operations are over before
the loop has issued the next ones.
"""


def loops_keep_up(graph: Graph, config: AcceleratorConfig, commands: int) -> bool:
    """Loops may issue so many commands of a program, and hold nothing up.

    Outside of a loop, a command takes a cycle or two.
    """
    least = graph_limit(graph, config, MemoryTiming()).cycles
    return LOOP_ISSUE_CYCLES * commands <= _SHARE * least
