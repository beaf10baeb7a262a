"""The time that a model is predicted to take: the accelerator's, and the host's by its nodes.

The accelerator's is that of the timeline, the host's a model of one: elements times cycles.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from celosia.sw.compiler.costs import Costs, host_cycles
from celosia.sw.frontend.nn.graph import FloatGraph, Node, split_origin
from celosia.sw.quantize.graphs.sketch import sketch

__all__ = ["TimeShare", "host_times", "predict_shares"]


_FOLLOWED: Final = 500_000_000
"""Multiply-accumulates up to which all of a model is followed.  Groups of operators of larger ones
are long enough to be followed each by itself: that is 1 % off, and alike ones are followed once."""


@dataclass(frozen=True)
class TimeShare:
    """Predicted cycles of the accelerator, and of the host by the nodes of the file."""

    accelerator: int
    host: dict[str, int]
    """The cycles of each node, the most first."""

    @property
    def total(self) -> int:
        """All predicted cycles: one works, then the other."""
        return self.accelerator + sum(self.host.values())

    @property
    def accelerator_share(self) -> float:
        """The accelerator's part; 1, if nothing takes time."""
        return self.accelerator / self.total if self.total else 1.0

    def document(self) -> dict[str, Any]:
        """The shares as an object for JSON."""
        return {
            "accelerator_cycles": self.accelerator,
            "host_cycles": self.total - self.accelerator,
            "accelerator_time_share": self.accelerator_share,
            "host_nodes": [
                {"name": name, "operator": operator, "cycles": cycles}
                for (name, operator), cycles in (
                    (split_origin(origin), cycles) for origin, cycles in self.host.items()
                )
            ],
        }


def predict_shares(graph: FloatGraph, costs: Costs) -> TimeShare:
    """The shares of a graph behind `recognize`.

    Raises `ValueError` for a graph that is not quantized, or that the accelerator cannot do.
    """
    segments, host = sketch(graph)
    large = sum(graph.macs().values()) > _FOLLOWED
    cycles = [costs.integer(each, before=0) if large else costs.whole(each) for each in segments]
    return TimeShare(sum(cycles), host_times(host))


def host_times(nodes: Iterable[Node]) -> dict[str, int]:
    """Predicted cycles of the host by the nodes of the file that take some, the most first."""
    sums: dict[str, int] = {}
    for node in nodes:
        if cycles := host_cycles([node]):
            name = node.origin or node.name
            sums[name] = sums.get(name, 0) + cycles
    return dict(sorted(sums.items(), key=lambda each: -each[1]))
