"""What other packages add: commands, documents, plans, rewritings and workloads.

A package registers them as entry points, as a plugin does: the group is `celosia.` and the kind.
So the laboratory adds its own, and nothing of `sim` knows it.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from celosia.sim.support.problems import InputError

__all__ = ["extension", "extensions"]


def extensions(kind: str) -> dict[str, Any]:
    """All objects of a kind (commands, documents, json, plans, rewritings, workloads), by name."""
    return {name: point.load() for name, point in _points(kind).items()}


def extension(kind: str, name: str, option: str) -> Any:
    """One object of a kind.  Raises `InputError` if no package has it, in the words of `option`."""
    points = _points(kind)
    if name not in points:
        raise InputError(f"{option}: no installed package adds celosia.{kind} {name!r}")
    return points[name].load()


@cache
def _points(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"celosia.{kind}")}
