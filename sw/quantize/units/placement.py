"""Where each node of an imported model runs, by the units that were found in it, and why.

Multiply-accumulates are those of the imported graph, in which shapes are folded and nothing is
recognized yet: how a form is rewritten changes nothing of its share.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from celosia.isa.documents.record import Hidden, Key, Record
from celosia.sw.frontend.nn.graph import FloatGraph, Node, split_origin
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.recognize import Recognized
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.units import Attention, Finishing, Head, Join, Product, Unit, Units

__all__ = ["PlacedNode", "Placement", "Where", "place"]


class Where(StrEnum):
    """The one that computes a node."""

    ACCELERATOR = "accelerator"
    HOST = "host"
    NOBODY = "nobody"
    """Nothing is computed: elements are read from other places."""


_Decision = tuple[Where, str]
"""The one that computes a node, and the reason."""


@dataclass(frozen=True)
class PlacedNode:
    """A node of the imported file, as far as it was not folded."""

    origin: Hidden[str]
    """What messages call it: its name, and its operator in brackets."""
    where: Where
    """The one that computes it."""
    reason: str
    """Why."""
    macs: int
    """Its multiply-accumulates."""
    host_part: str = ""
    """What the host computes of a node whose products are the accelerator's, and why."""

    @Key
    def name(self) -> str:
        """The node's name in the file."""
        return split_origin(self.origin)[0]

    @Key
    def operator(self) -> str:
        """The operator."""
        return split_origin(self.origin)[1]


@dataclass(frozen=True)
class Placement(Record):
    """All nodes, in the file's order."""

    nodes: tuple[PlacedNode, ...]
    """The nodes of the file that were not folded, in order."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the model."""
        return sum(node.macs for node in self.nodes)

    @Key
    def accelerator_mac_share(self) -> float:
        """The part of all multiply-accumulates that the accelerator does; 1, if there are none."""
        done = sum(node.macs for node in self.nodes if node.where == Where.ACCELERATOR)
        return done / self.macs if self.macs else 1.0

    def on_host(self) -> Counter[str]:
        """How many nodes the host computes for each reason."""
        return Counter(node.reason for node in self.nodes if node.where == Where.HOST)

    def parts_on_host(self) -> Counter[str]:
        """How often the host computes a part of an accelerator's node, for each such part."""
        return Counter(node.host_part for node in self.nodes if node.host_part)


def place(imported: FloatGraph, recognized: Recognized, units: Units) -> Placement:
    """The placement of a model's imported graph, whose recognized graph has these `units`."""
    decisions = _decisions(recognized.graph, units)
    made: dict[str, list[Node]] = {}
    for node in recognized.graph.nodes:
        made.setdefault(node.origin, []).append(node)
    macs = imported.macs()
    sums: dict[str, int] = {}
    for node in imported.nodes:
        sums[node.origin] = sums.get(node.origin, 0) + macs.get(node.name, 0)

    def decide(origin: str, count: int) -> tuple[Where, str, str]:
        for source in recognized.origins(origin):
            nodes = made.get(source, [])
            products = [node for node in nodes if OPERATORS[node.op].macs is not None]
            # A node whose result others still read stands for itself, but a product only as one.
            main = products if count or products else nodes
            if main:
                where, reason = _first([decisions[node.name] for node in main])
                if where == Where.HOST:
                    return where, reason, ""
                if source != origin:
                    return where, f"part of {source}", ""
                return where, reason, _host_part(nodes, decisions)
        return Where.NOBODY, "it is folded into others", ""

    placed: list[PlacedNode] = []
    for origin, count in sums.items():
        where, reason, part = decide(origin, count)
        placed.append(PlacedNode(origin, where, reason, count, part))
    return Placement(tuple(placed))


def _decisions(graph: FloatGraph, units: Units) -> dict[str, _Decision]:
    """The decision on each node of a recognized graph."""
    reader = Reader(graph)
    found: dict[str, _Decision] = {}
    for node in graph.nodes:
        found[node.name] = Where.HOST, units.reason(node)
        if node.type.is_float and reader.view(node.name) is not None:
            found[node.name] = Where.NOBODY, "it moves elements"
    for unit in units.units.values():
        for name in unit.nodes:
            found[name] = Where.ACCELERATOR, _part(reader, units, unit, name)
    return found


def _part(reader: Reader, units: Units, unit: Unit, node: str) -> str:
    """What a node of a unit has become, if that is not the operator that it was."""
    match unit:
        case Attention(heads=((Head(onto=View() as onto), *_), *_)):
            known = reader.value(units.values[onto.tensor].tensor) is not None
            kind = "a constant bias" if known else "a bias that is computed"
            return f"{kind} is added to its scores"
        case Product() | Finishing() if node != unit.nodes[0]:
            kind = "bias" if reader.producer(node, "add", "sub") else "factor"
            return f"a {kind} is part of a product"
        case Join():
            return "its parts are written where it is"
        case _:
            return ""


def _host_part(nodes: list[Node], decisions: dict[str, _Decision]) -> str:
    """What the host computes of the recognized nodes of an imported one, each operator once."""
    moving = (Reach.VIEW, Reach.COPY)
    computing = [
        node for node in nodes if node.type.is_float and OPERATORS[node.op].reach not in moving
    ]
    parts = {node.op: decisions[node.name] for node in computing}
    return "; ".join(f"{op}: {why}" for op, (where, why) in parts.items() if where == Where.HOST)


def _first(decisions: list[_Decision]) -> _Decision:
    """The host's decision, if there is one, else the accelerator's."""
    order = (Where.HOST, Where.ACCELERATOR, Where.NOBODY)
    return min(decisions, key=lambda decision: order.index(decision[0]))
