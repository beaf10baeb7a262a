"""Graphs of integers as a level of the rewriting engine."""

from collections.abc import Hashable
from typing import Final

from celosia.lab.substitute.integers.edit import Edit, likeness, rebuild
from celosia.lab.substitute.integers.prove import difference
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.sw.ir.graph import Graph
from celosia.sw.rewriting.engine import Level

__all__ = ["INTEGER"]


def _likeness(reader: IntegerReader, edit: Edit) -> Hashable:
    return likeness(reader.graph, edit)


INTEGER: Final[Level[Graph, IntegerReader, Edit]] = Level(
    name="cel", read=IntegerReader, likeness=_likeness, difference=difference, rebuild=rebuild
)
"""Graphs of integers: parts must leave the same integers behind."""
