"""Whether windows of a text take what the energies of another text say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from celosia.sim.export.silicon.energy.table import Entry
from celosia.sim.export.silicon.power.events import GROUPS, OTHERS, SpentBy
from celosia.sim.export.silicon.power.fit import IDLE, Window
from celosia.sim.export.silicon.power.measure import Sample
from celosia.sim.export.silicon.power.table_file import EventEnergies

__all__ = ["Agreement", "agreements", "priced"]


@dataclass(frozen=True)
class Agreement:
    """What a group of units took in the windows of a set, beside what another set says of them."""

    of: int
    """The set whose windows they are."""
    by: int
    """The set that energies are of."""
    meaning: str
    """The group; empty: all together."""
    measured_pj: float
    priced_pj: float

    @property
    def apart(self) -> float:
        """How much more the other set says, of what was measured; 0 where that is nothing."""
        return self.priced_pj / self.measured_pj - 1 if self.measured_pj else 0.0


def agreements(sets: Sequence[Sequence[Sample]], beside: Mapping[str, Entry]) -> list[Agreement]:
    """Each of `sets` of windows priced by each other one: all together, and each group.

    `beside` are entries that operands of their own have told, as in `entries_of`.
    """
    groups = (*GROUPS, OTHERS)
    energies = [
        {group.meaning: EventEnergies.of(group, [each], beside).all for group in groups}
        for each in sets
    ]
    found: list[Agreement] = []
    for of, samples in enumerate(sets):
        for by in range(len(sets)):
            if by == of:
                continue
            own = [
                _compared(group, samples, energies[by][group.meaning], (of, by), beside)
                for group in groups
            ]
            measured = sum(each.measured_pj for each in own)
            together = sum(each.priced_pj for each in own)
            found += [Agreement(of, by, "", measured, together), *own]
    return found


def _compared(
    group: SpentBy,
    samples: Iterable[Sample],
    energies: Mapping[str, float],
    sets: tuple[int, int],
    beside: Mapping[str, Entry],
) -> Agreement:
    windows = [sample.of(group, gated=False) for sample in samples]
    known = {name: beside[name].pj or 0.0 for name in group.beside} | dict(energies)
    measured = sum(float(window.pj.sum()) for window in windows)
    return Agreement(*sets, group.meaning, measured, priced(windows, known))


def priced(windows: Iterable[Window], energies: Mapping[str, float]) -> float:
    """What `windows` take by `energies` of events, and of `IDLE`."""
    total = 0.0
    for window in windows:
        total += len(window.pj) * energies.get(IDLE, 0.0)
        total += sum(
            float(counts.sum()) * energies.get(name, 0.0) for name, counts in window.events.items()
        )
    return total
