"""Graphs of integers as a level of the rewriting engine."""

from collections.abc import Hashable
from typing import Final

from celosia.sw.ir.graph import Graph
from celosia.sw.passes.rewriting.engine import Level
from celosia.sw.passes.substitutions.edit import Edit, likeness, rebuild
from celosia.sw.passes.substitutions.prove import difference
from celosia.sw.passes.substitutions.reader import IntegerReader

__all__ = ["INTEGER"]


def _likeness(reader: IntegerReader, edit: Edit) -> Hashable:
    return likeness(reader.graph, edit)


INTEGER: Final[Level[Graph, IntegerReader, Edit]] = Level(
    name="cel", read=IntegerReader, likeness=_likeness, difference=difference, rebuild=rebuild
)
"""Graphs of integers: parts must leave the same integers behind."""
