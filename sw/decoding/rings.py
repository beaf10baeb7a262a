"""Caches of a window of keys: rings, in which new tokens take the places of those that are passed.

Keys are rotated before they are held, so their places say nothing about positions: a step reads a
whole ring, in any order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.sw.decoding.texts import CacheLayout
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["Ring", "held_by", "rings_of"]

_SPREADS: Final = ("reshape", "transpose", "broadcast")
"""Views that keep all elements: a cache holds what is behind them."""


@dataclass(frozen=True)
class Ring:
    """A cache that holds the last tokens of a text."""

    window: int
    """Keys that a query sees."""
    size: int

    @property
    def slack(self) -> int:
        """How many tokens a text may go back: what they have overwritten is not seen."""
        return self.size - self.window


def held_by(reader: Reader, name: str) -> tuple[str, list[Node]]:
    """What a cache holds of keys or values: their source, and the views of it, the last first."""
    views = list[Node]()
    while (view := reader.view(name)) is not None and view.op in _SPREADS:
        views.append(view)
        name = view.inputs[0]
    return name, views


def rings_of(graph: FloatGraph, layout: CacheLayout) -> dict[str, Ring]:
    """The rings of a decoder, by the tensors whose rows they hold.

    There are none if attentions to other windows read one of them.
    """
    reader, found = Reader(graph), dict[str, Ring | None]()
    for source, window in _read(reader):
        size = None if window is None else layout.ring(window)
        ring = None if window is None or size is None else Ring(window, size)
        if found.setdefault(source, ring) != ring:
            return {}
    return {source: ring for source, ring in found.items() if ring is not None}


def _read(reader: Reader) -> Iterator[tuple[str, int | None]]:
    """What each attention reads, and its window, if it has no bias for each key."""
    for node in reader.nodes:
        if node.op == "attention":
            window = node.attributes.get("window") if len(node.inputs) == 3 else None
            assert window is None or isinstance(window, int)
            for name in node.inputs[1:3]:
                yield held_by(reader, name)[0], window
