"""Goes through the nodes of a graph for a rule, and knows at which one the rule is."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

__all__ = ["Walk"]

_Node = TypeVar("_Node")


class Walk(Generic[_Node]):
    """The nodes of a graph, again and again, but for those that a rule raised at."""

    def __init__(self, nodes: Sequence[_Node], name: Callable[[_Node], str]):
        self._nodes, self._name = nodes, name
        self._first, self._at = 0, -1

    def __iter__(self) -> Iterator[_Node]:
        for at in range(self._first, len(self._nodes)):
            self._at = at
            yield self._nodes[at]
        self._at = -1

    @property
    def place(self) -> str:
        """The node that was given last, as messages call it; nothing before and behind a walk."""
        return self._name(self._nodes[self._at]) if self._at >= 0 else ""

    def leave(self) -> bool:
        """Let walks begin behind the node that was given last; whether there is one."""
        left, self._first, self._at = self._at >= 0, self._at + 1, -1
        return left
