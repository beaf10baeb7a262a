"""What becomes of each node of a model: a row for each, for people and for JSON."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from celosia.isa.documents.record import Named
from celosia.sw.frontend.importer.import_model import Imported
from celosia.sw.frontend.nn.graph import Node, split_origin

__all__ = ["Survey", "SurveyRow", "survey"]


@dataclass(frozen=True)
class SurveyRow:
    """A node of the file, or of a function of it."""

    name: str
    """The node."""
    operator: str
    """Its operator."""
    made: Annotated[tuple[str, ...], Named("float_operators")]
    """The operators of the float graph that compute it; none: it is not supported."""
    macs: int
    """Multiply-accumulates of its products."""
    reason: str = ""
    """Why it is not supported."""


@dataclass(frozen=True)
class Survey:
    """All nodes of a model that are not folded and that an output needs."""

    rows: tuple[SurveyRow, ...]
    nodes: int
    """Nodes of the file's main graph."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all nodes that are supported."""
        return sum(row.macs for row in self.rows)

    @property
    def refused(self) -> int:
        """How many nodes are not supported, or depend on one that is not."""
        return sum(bool(row.reason) for row in self.rows)


def survey(imported: Imported) -> Survey:
    """The rows of a model, those that are not supported behind the others."""
    macs = imported.graph.macs()
    groups: dict[str, list[Node]] = {}
    for node in imported.graph.nodes:
        groups.setdefault(node.origin, []).append(node)
    rows = [
        SurveyRow(*split_origin(origin), _operators(nodes), sum(macs.get(n.name, 0) for n in nodes))
        for origin, nodes in groups.items()
    ]
    rows += [SurveyRow(*split_origin(name), (), 0, why) for name, why in imported.refused.items()]
    return Survey(tuple(rows), len(imported.labels))


def _operators(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(node.op for node in nodes)
