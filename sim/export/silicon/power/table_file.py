"""The table of what was measured, as `celosia energy --table` reads it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.functions.table import Function
from celosia.sim.export.silicon.area.units import NORMALIZATION, unit_of
from celosia.sim.export.silicon.energy.memories import FORMULA, access_pj
from celosia.sim.export.silicon.energy.table import Entry
from celosia.sim.export.silicon.energy.unit_events import (
    CLOCK,
    IDLE,
    TRANSFORM_CLOCK,
    TRANSFORM_IDLE,
    lane_step,
)
from celosia.sim.export.silicon.power import fit as fitting
from celosia.sim.export.silicon.power.events import GROUPS, OTHERS, SpentBy
from celosia.sim.export.silicon.power.fit import Window, fit
from celosia.sim.export.silicon.power.measure import Sample
from celosia.sim.export.silicon.power.netlist import GateNetlist

__all__ = [
    "PERIOD_NS",
    "EventEnergies",
    "Static",
    "entries_of",
    "memory_entries",
    "static_of",
    "table_text",
]

PERIOD_NS: Final = 7.5
"""The cycle that leakage is of."""
_BUS_PJ: Final = 162.5
_BUS: Final = "DRAM, 64 bits: 1.3 to 2.6 nJ (Horowitz, ISSCC 2014); the lower"


@dataclass(frozen=True)
class Static:
    """What modules take whatever happens, in a cycle."""

    clock_pj: float
    """Clock pins of all flip-flops."""
    leakage_pj: float
    flip_flops: int

    @classmethod
    def of(cls, netlists: Iterable[GateNetlist]) -> "Static":
        """The sum of `netlists`."""
        found = list(netlists)
        return cls(
            sum(each.clock_pj for each in found),
            sum(each.leakage_nw for each in found) * PERIOD_NS / 1e6,
            sum(each.flip_flops for each in found),
        )


def static_of(netlists: Mapping[str, GateNetlist]) -> tuple[Static, Static]:
    """What the modules take that are not of the normalization unit, and those that are."""
    own = {name for name in netlists if unit_of(name.partition(".")[2]) in NORMALIZATION}
    return (
        Static.of(netlist for name, netlist in netlists.items() if name not in own),
        Static.of(netlists[name] for name in own),
    )


@dataclass(frozen=True)
class EventEnergies:
    """Energies of a group's events, by all samples and by each set of them."""

    group: SpentBy
    all: Mapping[str, float]
    gated: Mapping[str, float]
    """Clock pins of modules whose clock has an ideal gate."""
    sets: Sequence[Mapping[str, float]]

    @classmethod
    def of(
        cls, group: SpentBy, sets: Sequence[Sequence[Sample]], beside: Mapping[str, Entry]
    ) -> "EventEnergies":
        """Fit the energies of `group` to `sets` of samples, without what is known `beside`."""

        def found(samples: Sequence[Sample], gated: bool) -> dict[str, float]:
            windows = [sample.of(group, gated) for sample in samples]
            if not gated:
                windows = [_without(window, group.beside, beside) for window in windows]
            return fit(windows, group.events, group.stages)

        together = [sample for each in sets for sample in each]
        return cls(
            group, found(together, False), found(together, True), [found(x, False) for x in sets]
        )

    def spread(self, event: str) -> float | None:
        """How far the sets are apart, of their mean; None: it happened in less than two."""
        seen = [each[event] for each in self.sets if event in each]
        mean = sum(seen) / len(seen) if seen else 0.0
        return (max(seen) - min(seen)) / mean if len(seen) > 1 and mean else None


def entries_of(
    sets: Sequence[Sequence[Sample]], statics: tuple[Static, Static], beside: Mapping[str, Entry]
) -> dict[str, Entry]:
    """The entries of the units; `beside` are those that operands of their own have told."""
    entries: dict[str, Entry] = {}
    idle, idle_clock = [0.0, 0.0], [0.0, 0.0]
    for group in (*GROUPS, OTHERS):
        found = EventEnergies.of(group, sets, beside)
        own = group.units <= NORMALIZATION and bool(group.units)
        idle[own] += found.all[fitting.IDLE]
        idle_clock[own] += found.gated[fitting.IDLE]
        for event in group.events:
            if event in found.all:
                entries[event] = _entry(found, event)
    steps = [entry for name, entry in entries.items() if name.startswith("lane_step_")]
    for function in Function:
        if steps and lane_step(function) not in entries:
            mean = sum(entry.pj or 0.0 for entry in steps) / len(steps)
            clock = sum(entry.clock_pj for entry in steps) / len(steps)
            source = "did not happen: the mean of the functions that did"
            entries[lane_step(function)] = Entry(mean, source, clock)
    entries |= beside
    names = ((IDLE, CLOCK), (TRANSFORM_IDLE, TRANSFORM_CLOCK))
    for number, ((cycle, clock), static) in enumerate(zip(names, statics, strict=True)):
        source = f"what is left in a cycle, and leakage of {PERIOD_NS:g} ns"
        pj = idle[number] + static.leakage_pj
        entries[cycle] = Entry(pj, source, idle_clock[number])
        source = f"clock pins of {static.flip_flops:,} flip-flops"
        entries[clock] = Entry(static.clock_pj, source)
    return entries


def _without(window: Window, events: Sequence[str], known: Mapping[str, Entry]) -> Window:
    spent = window.pj
    for event in events:
        spent = spent - window.events[event] * (known[event].pj or 0.0)
    return Window(window.events, spent)


def _entry(found: EventEnergies, event: str) -> Entry:
    spread = found.spread(event)
    apart = "in one set of windows" if spread is None else f"sets are {spread:.1%} apart"
    source = f"{found.group.meaning}: {apart}"
    return Entry(found.all[event], source, found.gated.get(event, 0.0))


def memory_entries(config: AcceleratorConfig, volts: float) -> dict[str, Entry]:
    """The entries of local memories, by the formula, and of the bus."""
    dim = config.dim
    shapes = {
        "scratchpad": (config.scratchpad_bank_rows, dim),
        "accumulator": (config.accumulator_bank_rows, dim * ACC_BYTES),
        "parameter": (config.parameter_rows, dim * ACC_BYTES),
    }
    found = {name: Entry(_BUS_PJ, _BUS) for name in ("bus_read_byte", "bus_write_byte")}
    for name, (rows, row_bytes) in shapes.items():
        for access in ("read", "write"):
            pj = access_pj(rows, 8 * row_bytes, volts, write=access == "write") / row_bytes
            entry = Entry(pj, f"{rows} rows of {row_bytes} bytes, {FORMULA}")
            found[f"{name}_{access}_byte"] = entry
            if (name, access) != ("accumulator", "write") and (name, access) != (
                "parameter",
                "write",
            ):
                found[f"transform_{name}_{access}_byte"] = entry
    return found


def table_text(name: str, head: Sequence[str], entries: Mapping[str, Entry]) -> str:
    """The table as TOML; `head` are lines of comments."""
    return "\n".join([f"name = {json.dumps(name)}", "", *_comments(head), *_sections(entries)])


def _comments(head: Sequence[str]) -> Iterator[str]:
    for line in head:
        yield f"# {line}".rstrip()


def _sections(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        yield f"\n[{name}]"
        yield f"pj = {entry.pj:.4g}"
        if entry.clock_pj:
            yield f"clock_pj = {entry.clock_pj:.4g}"
        yield f"source = {json.dumps(entry.source)}"
    yield ""
