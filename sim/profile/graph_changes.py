"""What the cost model expects of a graph on other hardware."""

import itertools
from collections.abc import Hashable, Sequence

from celosia.sim.profile.whatif import CANDIDATES, Change, Hardware, expected_changes
from celosia.sim.support.progress import Progress, silent
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graphs.alike import likeness

__all__ = ["graph_changes"]


def graph_changes(
    graphs: Sequence[Graph], hardware: Hardware, before: int, tell: Progress = silent
) -> tuple[Change, ...]:
    """What each other hardware is expected to save, `before` being the cycles of `hardware`.

    The graphs, one after the other, are compiled anew for each, as they are when somebody follows
    the advice; those that are alike, once.
    """
    asked, alike = itertools.count(1), dict[Hashable, list[Graph]]()
    for graph in graphs:
        ends = graph.constants.keys(), graph.inputs, graph.outputs
        alike.setdefault(likeness(graph.tensors, graph.ops, *ends), []).append(graph)

    def cycles(other: Hardware) -> int:
        number = next(asked)
        text = f"the run is over; compiling for other hardware, to see what it would save ({number}"
        tell(f"{text} of {CANDIDATES})", (number - 1) / CANDIDATES)
        return sum(len(each) * _cycles(each[0], other) for each in alike.values())

    return tuple(expected_changes(hardware, cycles, before))


def _cycles(graph: Graph, hardware: Hardware) -> int:
    config, timing = hardware.config, hardware.timing
    return predict(graph, config, find_plan(graph, config, timing), timing).cycles
