"""The points of a sweep that no other one beats in everything."""

from collections.abc import Iterable
from typing import Final, Literal

from celosia.lab.sweep.point import Line

__all__ = ["CYCLES", "TIME", "Axis", "costs", "headings", "is_measured", "numbers", "pareto_front"]

Axis = Literal["cycles", "us"]
"""What is to be small beside the bytes moved, as lines call it."""

CYCLES: Final = "cycles"
TIME: Final = "us"
"""Cycles times what a cycle takes: of points whose configuration's period is known."""


def is_measured(line: Line, axis: Axis = CYCLES) -> bool:
    """Whether the costs of a point are known, and its results were right."""
    return axis in line and "wrong" not in line


def costs(line: Line, axis: Axis = CYCLES) -> tuple[float, int]:
    """The cycles or us, and the bytes moved, of a point that was measured."""
    return line[axis], line["read_bytes"] + line["write_bytes"]


def pareto_front(lines: Iterable[Line], axis: Axis = CYCLES) -> list[Line]:
    """The measured points of which no other is as good in both costs and better in one.

    The fastest is first; of points that cost the same, the first stands for all.
    """
    front: list[Line] = []
    measured = (line for line in lines if is_measured(line, axis))
    for line in sorted(measured, key=lambda line: costs(line, axis)):
        if not front or costs(line, axis)[1] < costs(front[-1], axis)[1]:
            front.append(line)
    return front


def headings(axis: Axis) -> tuple[str, ...]:
    """What stands above `numbers`."""
    return (*dict.fromkeys((axis, CYCLES)), "bytes moved")


def numbers(line: Line, axis: Axis) -> tuple[str, ...]:
    """The costs of a point that was measured, for a table; a time with its cycles."""
    first, moved = costs(line, axis)
    times = (f"{first:,}",) if axis == CYCLES else (f"{first:,.1f}", f"{line[CYCLES]:,}")
    return (*times, f"{moved:,}")
