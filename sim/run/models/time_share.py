"""The time that a model is predicted to take: the accelerator's, and the host's by its nodes.

The accelerator's is that of the timeline, the host's a model of one: elements times cycles.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from celosia.isa.documents.record import Added, As, Inline, Key, Named, Record
from celosia.sw.compiler.costs import Costs, host_cycles
from celosia.sw.frontend.nn.graph import FloatGraph, Node, split_origin
from celosia.sw.quantize.units.placement import Placement
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = ["HostNode", "PlacementInTime", "TimeShare", "host_times", "predict_shares"]


@dataclass(frozen=True)
class HostNode:
    """A node that the host computes."""

    name: str
    """The node."""
    operator: str
    """Its operator."""
    cycles: int
    """Predicted cycles of the host."""


def _host_nodes(host: dict[str, int]) -> list[HostNode]:
    return [HostNode(*split_origin(origin), cycles) for origin, cycles in host.items()]


@dataclass(frozen=True)
class TimeShare:
    """Predicted cycles of the accelerator, and of the host by the nodes of the file."""

    accelerator: Annotated[int, Named("accelerator_cycles")]
    """Cycles of the cost model."""
    host: Annotated[dict[str, int], Named("host_nodes"), As(_host_nodes)]
    """The cycles of each node, the most first: elements times cycles."""

    @Key
    def host_cycles(self) -> int:
        """The cycles of all nodes."""
        return sum(self.host.values())

    @property
    def total(self) -> int:
        """All predicted cycles: one works, then the other."""
        return self.accelerator + self.host_cycles

    @Key
    def accelerator_time_share(self) -> float:
        """The accelerator's part; 1, if nothing takes time."""
        return self.accelerator / self.total if self.total else 1.0


@dataclass(frozen=True)
class PlacementInTime(Record):
    """Where the nodes of a model run, and how long that takes."""

    placement: Inline[Placement]
    predicted: Added[TimeShare | None]
    """Predicted cycles; null: nothing was predicted."""


def predict_shares(
    graph: FloatGraph, costs: Costs, weights: WeightTypes = INT8_WEIGHTS
) -> TimeShare:
    """The shares of a graph behind `recognize`, whose products have `weights`.

    Raises `ValueError` for a graph that is not quantized, or that the accelerator cannot do.
    """
    cycles, host = costs.segments(graph, weights)
    return TimeShare(cycles, host_times(host))


def host_times(nodes: Iterable[Node]) -> dict[str, int]:
    """Predicted cycles of the host by the nodes of the file that take some, the most first."""
    sums: dict[str, int] = {}
    for node in nodes:
        if cycles := host_cycles([node]):
            name = node.origin or node.name
            sums[name] = sums.get(name, 0) + cycles
    return dict(sorted(sums.items(), key=lambda each: -each[1]))
