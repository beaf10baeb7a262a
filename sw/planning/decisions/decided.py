"""What is decided so far, which the decisions for the next stage build on."""

from collections.abc import Sequence

from celosia.sw.ir.graph import Graph, View
from celosia.sw.planning.forms.groups import Group, Heads
from celosia.sw.planning.memory_map import MemoryMap

__all__ = ["Decided"]


class Decided:
    """Where results stay of those stages of a graph that are decided."""

    def __init__(self, graph: Graph, places: MemoryMap, together: Sequence[Group]):
        self.graph, self.places, self.dim = graph, places, places.config.dim
        self.stays: dict[str, str] = {}
        """The rings of tensors that stay there as they are computed."""
        heads = [head for group in together if isinstance(group, Heads) for head in group.heads]
        read = [(head.scores.a, "queries") for head in heads]
        read += [(b, "operands") for head in heads for b in (head.scores.b, head.context.b)]
        self.of_heads = {view.tensor: ring for view, ring in read if self._may_stay(view)}
        """The rings of results of bytes that heads read: queries apart from others."""
        self.blocks = 0
        """Blocks of sums so far: they take halves of the accumulator by turns."""

    def bytes(self, view: View) -> int:
        """Bytes of an element."""
        return self.graph.tensors[view.tensor].element_bytes

    def ring_of(self, view: View, ring: str) -> str:
        """Where `view` stays, or else the ring that it is loaded into."""
        return self.stays.get(view.tensor, ring)

    def stay(self, out: View, ring: str) -> None:
        """A result leaves through this ring, if any: it stays there if results do."""
        if ring and self._may_stay(out):
            self.stays[out.tensor] = ring

    def _may_stay(self, view: View) -> bool:
        return self.places.layout.stays and not self.graph.tensors[view.tensor].cache
