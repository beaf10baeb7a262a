"""Local memories, with when each row is written and read."""

from dataclasses import dataclass

__all__ = ["LocalTimes", "Rows", "settle", "stamp"]

Rows = tuple[int, int]
"""First row and row behind the last."""


@dataclass(slots=True)
class LocalTimes:
    """When the rows of a local memory have been written and read.

    A negative time is the number of a load (of a store), from 1, that has not been followed yet, or
    that of a transform, which begin much higher.
    """

    written: list[float]
    read: list[float]

    @classmethod
    def of(cls, rows: int) -> "LocalTimes":
        """The times of a memory of `rows` rows that nobody has used."""
        return cls([0.0] * rows, [0.0] * rows)


def stamp(times: list[float], rows: Rows, time: float) -> None:
    """Let `rows` have this time."""
    times[rows[0] : rows[1]] = [time] * (rows[1] - rows[0])


def settle(times: list[float], rows: Rows, old: float, new: float) -> None:
    """What an operation has left at `rows` has another time; others may have come there since."""
    part = times[rows[0] : rows[1]]
    same = part.count(old) == len(part)
    part = [new] * len(part) if same else [new if each == old else each for each in part]
    times[rows[0] : rows[1]] = part
