"""Where each node of an imported model runs, and the share of the accelerator.

Multiply-accumulates are those of the imported graph, in which shapes are folded and nothing is
recognized yet: how a form is rewritten changes nothing of its share.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.placement.rules import Decision, Where, placed
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.recognize import Recognized

__all__ = ["PlacedNode", "Placement", "place"]

_PRODUCTS = frozenset({"matmul", "conv", "attention"})


@dataclass(frozen=True)
class PlacedNode:
    """A node of the imported file, as far as it was not folded."""

    origin: str
    """What messages call it: its name, and its operator in brackets."""
    where: Where
    reason: str
    macs: int


@dataclass(frozen=True)
class Placement:
    """All nodes, in the file's order."""

    nodes: tuple[PlacedNode, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the model."""
        return sum(node.macs for node in self.nodes)

    @property
    def accelerator_mac_share(self) -> float:
        """The part of all multiply-accumulates that the accelerator does; 1, if there are none."""
        done = sum(node.macs for node in self.nodes if node.where == Where.ACCELERATOR)
        return done / self.macs if self.macs else 1.0

    def on_host(self) -> Counter[str]:
        """How many nodes the host computes for each reason."""
        return Counter(node.reason for node in self.nodes if node.where == Where.HOST)


def place(
    imported: FloatGraph, recognized: Recognized, known: Mapping[str, Decision] | None = None
) -> Placement:
    """The placement of a model's imported graph, by what became of its nodes.

    Decisions that are `known` of nodes of the recognized graph replace those of the rules.
    """
    reader = Reader(recognized.graph)
    decisions = placed(reader) | dict(known or {})
    made: dict[str, list[str]] = {}
    for node in recognized.graph.nodes:
        made.setdefault(node.origin, []).append(node.name)
    macs = imported.macs()
    sums: dict[str, int] = {}
    for node in imported.nodes:
        sums[node.origin] = sums.get(node.origin, 0) + macs.get(node.name, 0)

    def decide(origin: str, count: int) -> tuple[Where, str]:
        for source in recognized.origins(origin):
            names = made.get(source, [])
            products = [name for name in names if _op(reader, name) in _PRODUCTS]
            # A node whose result others still read stands for itself, but a product only as one.
            names = products if count or products else names
            if names:
                where, reason = _first([decisions[name] for name in names])
                absorbed = source != origin and where != Where.HOST
                return where, f"part of {source}" if absorbed else reason
        return Where.NOBODY, "it is folded into others"

    nodes = [PlacedNode(origin, *decide(origin, count), count) for origin, count in sums.items()]
    return Placement(tuple(nodes))


def _first(decisions: list[Decision]) -> Decision:
    """The host's decision, if there is one, else the accelerator's."""
    order = (Where.HOST, Where.ACCELERATOR, Where.NOBODY)
    return min(decisions, key=lambda decision: order.index(decision[0]))


def _op(reader: Reader, name: str) -> str:
    node = reader.producer(name)
    return "" if node is None else node.op
