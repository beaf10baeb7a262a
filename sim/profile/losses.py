"""Where the cycles of a run went: by operator, resource and group of owners."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celosia.sim.profile.resources import ARRAY, RESOURCES, owner_named

__all__ = ["IDLE", "Loss", "clocked_operators", "group_cycles", "known_resources", "losses"]


IDLE: Final = "none"
"""The group of owners that says that there is nothing to do."""


@dataclass(frozen=True)
class Loss:
    """Cycles in which the array multiplied nothing useful, for one reason."""

    operator: str
    owner: str
    """The name of the counter that owns the cycles."""
    cycles: int

    @property
    def meaning(self) -> str:
        """What the counter means; its name if no owner is called so."""
        owner = owner_named(self.owner)
        return owner.doc if owner else self.owner


def clocked_operators(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The operators of a run that have cycles of their own."""
    return [part for part in document["operators"] if part["counters"]]


def known_resources(counters: Mapping[str, int]) -> tuple[str, ...]:
    """Names of the resources whose owners were counted, and that had anything to do."""
    return tuple(
        name
        for name in RESOURCES
        if any(cycles for group, cycles in group_cycles(name, counters).items() if group != IDLE)
    )


def group_cycles(resource: str, counters: Mapping[str, int]) -> dict[str, int]:
    """Cycles of each group of a resource's owners."""
    sums: dict[str, int] = {}
    for owner in RESOURCES[resource].owners:
        sums[owner.group] = sums.get(owner.group, 0) + counters.get(owner.name, 0)
    return sums


def losses(document: Mapping[str, Any]) -> list[Loss]:
    """The cycles that the array lost, the most first."""
    table = RESOURCES[ARRAY]
    useful = table.owners[0].name
    found = [
        Loss(part["workload"], owner.name, cycles)
        for part in clocked_operators(document)
        for owner in table.owners
        if owner.name != useful and (cycles := part["counters"].get(owner.name, 0))
    ]
    return sorted(found, key=lambda loss: (-loss.cycles, loss.operator, loss.owner))
