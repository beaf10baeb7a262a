"""The points of a sweep that no other one beats in everything."""

from collections.abc import Iterable

from celosia.lab.sweep.point import Line

__all__ = ["costs", "is_measured", "pareto_front"]


def is_measured(line: Line) -> bool:
    """Whether the costs of a point are known, and its results were right."""
    return "cycles" in line and "wrong" not in line


def costs(line: Line) -> tuple[int, int]:
    """The cycles and the bytes moved of a point that was measured."""
    return line["cycles"], line["read_bytes"] + line["write_bytes"]


def pareto_front(lines: Iterable[Line]) -> list[Line]:
    """The measured points of which no other is as good in both costs and better in one.

    The fastest is first; of points that cost the same, the first stands for all.
    """
    front: list[Line] = []
    for line in sorted(filter(is_measured, lines), key=costs):
        if not front or costs(line)[1] < costs(front[-1])[1]:
            front.append(line)
    return front
