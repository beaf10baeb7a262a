"""Ranges that a file says its tensors have, for the tensors that they are views of."""

from collections.abc import Mapping

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["said_ranges"]


def said_ranges(
    graph: FloatGraph, ranges: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """The range of each tensor of `graph` that others, which have ranges, are views of.

    Of several, it is the range that has all of them.
    """
    reader, found = Reader(graph), dict[str, tuple[float, float]]()
    for name, (low, high) in ranges.items():
        source, _ = reader.chain(name)
        least, most = found.get(source, (low, high))
        found[source] = min(low, least), max(high, most)
    return found
