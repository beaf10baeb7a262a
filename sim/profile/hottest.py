"""The instructions that took the most cycles."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sim.profile.instructions import UNITS, unit_operations
from celosia.sim.profile.profile import Profile
from celosia.sw.driver.assembly import format_command

__all__ = ["HEADS", "Hot", "by_command", "hottest", "rows_of"]

HEADS: Final = ("command", "operator", "unit", "cycles", "lost", "waited", "instruction")


@dataclass(frozen=True, kw_only=True)
class Hot:
    """What one instruction took, all of its operations together."""

    command: int
    operator: str
    unit: str
    cycles: int
    """Cycles of its unit that the instruction has."""
    lost: int
    """Cycles of the array between the product before and this one."""
    waited: int
    """Cycles that it waited in its queue."""
    text: str

    @property
    def total(self) -> int:
        """What it is ranked by."""
        return self.cycles + self.lost


def by_command(profile: Profile) -> dict[int, Hot]:
    """What each instruction took that became an operation."""
    found: dict[int, Hot] = {}
    for name, unit in unit_operations(profile).items():
        commands, inverse = np.unique(unit.command, return_inverse=True)
        sums = [
            np.bincount(inverse, weights=column).astype(np.int64)
            for column in (unit.cycles, unit.lost, unit.waited)
        ]
        for index, command in enumerate(commands.tolist()):
            cycles, lost, waited = (int(column[index]) for column in sums)
            found[command] = Hot(
                command=command,
                operator=profile.operator_of(command),
                unit=UNITS[name],
                cycles=cycles,
                lost=lost,
                waited=waited,
                text=format_command(profile.commands[command]),
            )
    return found


def hottest(profile: Profile, count: int) -> list[Hot]:
    """The `count` hottest instructions, the hottest first."""
    order = sorted(by_command(profile).values(), key=lambda hot: (-hot.total, hot.command))
    return order[:count]


def rows_of(hot: Iterable[Hot]) -> list[tuple[int, str, str, int, int, int, str]]:
    """Cells of a table whose columns are `HEADS`."""
    return [
        (each.command, each.operator, each.unit, each.cycles, each.lost, each.waited, each.text)
        for each in hot
    ]
