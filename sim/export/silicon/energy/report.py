"""The table and the JSON document of `celosia energy`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.documents.record import As, Hidden, Key, Named, Record
from celosia.sim.export.silicon.energy.events import BUS
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.export.silicon.energy.unit_events import CLOCK, TRANSFORM_CLOCK

__all__ = [
    "ClockEnergy",
    "EnergyReport",
    "EventEnergy",
    "NormalizationEnergy",
    "print_energy",
]

_UNKNOWN: Final = "unknown"
_PJ_PER_UJ: Final = 1e6
_CLOCKS: Final = (CLOCK, TRANSFORM_CLOCK)


def _name(table: EnergyTable) -> str:
    return table.name


@dataclass(frozen=True, kw_only=True)
class EventEnergy:
    """An event."""

    count: int | Literal["unknown"]
    """How often it happened."""
    pj_each: float | Literal["unknown"]
    """Picojoules of one."""
    pj: float | Literal["unknown"]
    """Picojoules of all."""
    source: str
    """Where the table has its number from."""
    normalization: bool
    """Whether it is one of the normalization unit."""


@dataclass(frozen=True)
class NormalizationEnergy:
    """What the normalization unit takes."""

    known_pj: float
    """What is known of its events."""
    adds: float | None
    """What it adds to all others, as a share; null: not known."""
    adds_on_chip: float | None
    """The same without the bus."""
    at_least: bool
    """Whether something of it is not known, and so these are the least."""


@dataclass(frozen=True)
class ClockEnergy:
    """What clock pins take."""

    pins_pj: float
    """Picojoules of the clock pins of all flip-flops, in every cycle."""
    gated_known_pj: float
    """What is known of all events, if each module had a clock gate that lets no edge pass in vain.
    """
    gated_adds_on_chip: float | None
    """What normalization adds then to all others without the bus, as a share; null: not known."""


@dataclass(frozen=True)
class EnergyReport(Record):
    """What a run did, and what that takes."""

    workload: str
    """What ran."""
    counts: Hidden[Mapping[str, int]]
    """How often each event happened; one that is not there is unknown."""
    table: Annotated[EnergyTable, As(_name)]
    """The table of energies."""
    schema: Literal["celosia.energy/1"] = "celosia.energy/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""

    def picojoules(self, event: str, *, gated: bool = False) -> float | None:
        """What the occurrences of `event` take; None if that is not known.

        `gated`: with a clock gate for each module.
        """
        entry, count = self.table.entries.get(event), self.counts.get(event)
        if count == 0 or (gated and event in _CLOCKS):
            return 0.0
        if count is None or entry is None or entry.pj is None:
            return None
        return count * (entry.pj + (entry.clock_pj if gated else 0.0))

    @Key
    def unknown(self) -> list[str]:
        """Events of which the energy is not known."""
        return [event for event in self.table.events if self.picojoules(event) is None]

    @Key
    def events(self) -> Mapping[str, EventEnergy]:
        """Each event by its name."""
        return {name: self._event(name) for name in self.table.events}

    @Key
    def all_known_pj(self) -> Annotated[float, Named("known_pj")]:
        """What is known, of all events."""
        return sum(self.known_pj(normalization=unit) for unit in (False, True))

    @Key
    def normalization(self) -> NormalizationEnergy:
        """The part of the normalization unit."""
        return NormalizationEnergy(
            self.known_pj(normalization=True),
            self.normalization_adds(bus=True),
            self.normalization_adds(bus=False),
            any(self.table.events[name].normalization for name in self.unknown),
        )

    @Key
    def clock(self) -> ClockEnergy | None:
        """Clock pins, without clock gates and with them; null: the table is not about them."""
        if CLOCK not in self.table.entries:
            return None
        return ClockEnergy(
            sum(self.picojoules(name) or 0.0 for name in _CLOCKS),
            sum(self.known_pj(normalization=unit, gated=True) for unit in (False, True)),
            self.normalization_adds(bus=False, gated=True),
        )

    def _event(self, name: str) -> EventEnergy:
        entry, pj = self.table.entries.get(name), self.picojoules(name)
        return EventEnergy(
            count=self.counts.get(name, _UNKNOWN),
            pj_each=_UNKNOWN if entry is None or entry.pj is None else entry.pj,
            pj=_UNKNOWN if pj is None else pj,
            source="" if entry is None else entry.source,
            normalization=self.table.events[name].normalization,
        )

    def known_pj(self, *, normalization: bool, bus: bool = True, gated: bool = False) -> float:
        """What is known, of the normalization unit's events or of all others."""
        return sum(
            self.picojoules(name, gated=gated) or 0.0
            for name, event in self.table.events.items()
            if event.normalization is normalization and (bus or name not in BUS)
        )

    def normalization_adds(self, *, bus: bool, gated: bool = False) -> float | None:
        """What the normalization unit adds to all others, with the bus or without, as a share.

        None where it is not known; where something of the unit alone is not known, at least this.
        """
        rest, events = self.known_pj(normalization=False, bus=bus, gated=gated), self.table.events
        open_rest = any(
            not events[name].normalization for name in self.unknown if bus or name not in BUS
        )
        if open_rest or not rest:
            return None
        return self.known_pj(normalization=True, gated=gated) / rest


def print_energy(console: Console, report: EnergyReport) -> None:
    """A report as a table."""
    title = escape(f"{report.workload}: energy by {report.table.name}")
    table = Table(title=title, title_justify="left")
    table.add_column("event")
    for head in ("count", "pJ each", "uJ", "share of what is known"):
        table.add_column(head, justify="right")
    table.add_column("source")
    for cells in _rows(report):
        table.add_row(*cells)
    console.print(table)
    console.print(_summary(report), markup=False)


def _rows(report: EnergyReport) -> Iterator[tuple[str, ...]]:
    total = sum(report.known_pj(normalization=unit) for unit in (False, True))
    for name in report.table.events:
        entry, count = report.table.entries.get(name), report.counts.get(name)
        pj = report.picojoules(name)
        yield (
            name,
            _UNKNOWN if count is None else f"{count:,}",
            _UNKNOWN if entry is None or entry.pj is None else f"{entry.pj:g}",
            _UNKNOWN if pj is None else f"{pj / _PJ_PER_UJ:,.2f}",
            "" if pj is None or not total else f"{pj / total:.1%}",
            escape(entry.source) if entry else "",
        )


def _summary(report: EnergyReport) -> str:
    total = sum(report.known_pj(normalization=unit) for unit in (False, True))
    parts = [f"{total / _PJ_PER_UJ:,.1f} uJ of what is known, by {report.table.name}."]
    if report.unknown:
        parts.append(f"Unknown: {', '.join(report.unknown)}.")
    if uncounted := [event for event in report.table.events if event not in report.counts]:
        parts.append(
            f"How often {len(uncounted)} of these happened is only known of a run with --profile: "
            "run it again with that option, and they are filled in."
        )
    least = any(report.table.events[name].normalization for name in report.unknown)
    for bus, of_what in ((True, ""), (False, " of what the chip alone takes")):
        adds = report.normalization_adds(bus=bus)
        share = "an unknown share" if adds is None else f"{'at least ' * least}{adds:.1%}"
        parts.append(f"Normalization adds {share}{of_what}.")
    if clock := report.clock:
        gated = clock.gated_adds_on_chip
        share = (
            "an unknown share" if gated is None else f"{'at least ' if least else ''}{gated:.1%}"
        )
        parts.append(
            f"Clock pins of all flip-flops in every cycle are {clock.pins_pj / _PJ_PER_UJ:,.1f} uJ "
            f"of it. With a clock gate for each module, all is "
            f"{clock.gated_known_pj / _PJ_PER_UJ:,.1f} uJ, and normalization adds {share} of what "
            "the chip alone takes."
        )
    return " ".join(parts)
