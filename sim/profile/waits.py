"""Stretches of a run in which the array waits, one by one, and for what."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import ARRAY, RESOURCES

__all__ = ["Wait", "waits"]

_MOVES: Final = ("rows", "padding", "weights", "d")
"""The groups of owners in whose cycles rows or weights move through the array."""
_PRODUCTS: Final = "execute"
"""The queue whose operations the array waits for."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Cycles in a row in which the array has no work of its own."""

    start: int
    """The first of them, counted from that of the first command."""
    operator: str
    """The operator of the product that comes next; empty behind the last one."""
    owners: Mapping[str, int]
    """The cycles of each owner, those with the most first."""

    @property
    def cycles(self) -> int:
        """Cycles of all owners."""
        return sum(self.owners.values())


def waits(profile: Profile) -> Iterator[Wait]:
    """All waits of the array in order.

    Weights on their way into the array are its work, and cycles of nobody end a wait.
    """
    spans, owners = profile.owners[ARRAY], RESOURCES[ARRAY].owners
    ends = np.append(spans.start[1:], profile.cycles)
    start, found = 0, Counter[str]()
    for begin, end, number in zip(
        spans.start.tolist(), ends.tolist(), spans.owner.tolist(), strict=True
    ):
        owner = owners[number] if number >= 0 else None
        if owner is not None and owner.group not in _MOVES:
            start = start if found else begin
            found[owner.name] += end - begin
        elif found:
            yield _wait(profile, start, found)
            found = Counter[str]()
    if found:
        yield _wait(profile, start, found)


def _wait(profile: Profile, start: int, owners: Counter[str]) -> Wait:
    products = profile.queues[_PRODUCTS]
    # What begins in a cycle has the array from the next one on.
    behind = products.began >= start + owners.total() - 1
    number = int(np.argmax(behind)) if behind.any() else None
    operator = "" if number is None else profile.operator_of(int(products.command[number]))
    return Wait(start=start, operator=operator, owners=dict(owners.most_common()))
