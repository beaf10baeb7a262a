"""Tables of what an event takes, each entry with its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB, ForeignFileError, parse_toml, read_text
from celosia.sim.export.silicon.energy.events import EVENTS, Event
from celosia.sim.export.silicon.energy.unit_events import LANE_STEP, UNIT_EVENTS
from celosia.sim.support.problems import InputError

__all__ = ["DEFAULT_TABLE", "NAMED", "EnergyTable", "Entry", "load_table", "parse_table"]

UNKNOWN: Final = "unknown"
NAMED: Final[Mapping[str, Path]] = {"osu018": Path(__file__).with_name("osu018.toml")}
"""Tables that are part of this package."""

DEFAULT_TABLE: Final = """\
name = "45 nm, Horowitz 2014"

# M. Horowitz, Computing's energy problem (and what we can do about it), ISSCC 2014, figure 1.1.9:
# rough energies of a 45 nm process at 0.9 V.

[mac]
pj = 0.3
source = "multiply int8 0.2, add int32 0.1"

[bus_read_byte]
pj = 162.5
source = "DRAM, 64 bits: 1.3 to 2.6 nJ; the lower"

[bus_write_byte]
pj = 162.5
source = "as a read"

[scratchpad_read_byte]
pj = 2.5
source = "cache of 32 KB, 64 bits: 20 pJ; a bank has 64 KiB"

[scratchpad_write_byte]
pj = 2.5
source = "as a read"

[accumulator_read_byte]
pj = 2.5
source = "cache of 32 KB, 64 bits: 20 pJ; a bank has 32 KiB"

[accumulator_write_byte]
pj = 2.5
source = "as a read"

[parameter_read_byte]
pj = 1.25
source = "cache of 8 KB, 64 bits: 10 pJ"

[parameter_write_byte]
pj = 1.25
source = "as a read"

[transform_scratchpad_read_byte]
pj = 2.5
source = "as scratchpad_read_byte"

[transform_scratchpad_write_byte]
pj = 2.5
source = "as scratchpad_read_byte"

[transform_accumulator_read_byte]
pj = 2.5
source = "as accumulator_read_byte"

[transform_parameter_read_byte]
pj = 1.25
source = "as parameter_read_byte"

[lane_step]
pj = "unknown"
source = "nothing that is published is like a lane"
"""


@dataclass(frozen=True)
class Entry:
    """What an event takes."""

    pj: float | None
    """Picojoules; None: unknown."""
    source: str
    clock_pj: float = 0.0
    """Picojoules of clock pins beside, if each module had a clock gate."""


@dataclass(frozen=True)
class EnergyTable:
    """Entries by the names of events; one that is not there is unknown."""

    name: str
    entries: Mapping[str, Entry]

    @property
    def events(self) -> Mapping[str, Event]:
        """The events that it is about: those of all tables, and those of units that it has.

        A table that knows functions of the lanes apart need not know them together.
        """
        named = {name: event for name, event in UNIT_EVENTS.items() if name in self.entries}
        apart = any(name.startswith(f"{LANE_STEP}_") for name in named)
        return {
            name: event
            for name, event in {**EVENTS, **named}.items()
            if name != LANE_STEP or not apart or name in self.entries
        }


def load_table(path: str | None) -> EnergyTable:
    """The table that is called `path`, or in the TOML file, else the default.

    Raises `InputError`.
    """
    if path is None:
        return parse_table(DEFAULT_TABLE, "default table")
    if path in NAMED:
        return parse_table(read_text(NAMED[path], MIB), path)
    try:
        return parse_table(read_text(path, MIB), path)
    except ForeignFileError as error:
        raise InputError(str(error)) from None


def parse_table(text: str, place: str) -> EnergyTable:
    """The table that `text` means.  Raises `InputError` that names `place` and the rule."""
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None
    name = document.pop("name", None)
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{place}: name: {name!r} is no name of a table; figures bear it")
    return EnergyTable(name, {key: _entry(key, value, place) for key, value in document.items()})


def _entry(key: str, value: Any, place: str) -> Entry:
    known = {**EVENTS, **UNIT_EVENTS}
    if key not in known:
        raise InputError(f"{place}: {key}: there is no such event; there are {', '.join(known)}")
    if not isinstance(value, dict) or value.keys() - {"clock_pj"} != {"pj", "source"}:
        raise InputError(
            f"{place}: {key}: an entry has pj and source, may have clock_pj, and nothing else"
        )
    source, pj, clock_pj = value["source"], value["pj"], value.get("clock_pj", 0.0)
    if not isinstance(source, str) or not source.strip():
        raise InputError(f"{place}: {key}.source: {source!r} does not say where pj is from")
    if pj == UNKNOWN:
        return Entry(None, source)
    if not _is_energy(pj):
        raise InputError(f'{place}: {key}.pj: {pj!r} is neither a number from 0 on nor "{UNKNOWN}"')
    if not _is_energy(clock_pj):
        raise InputError(f"{place}: {key}.clock_pj: {clock_pj!r} is no number from 0 on")
    return Entry(float(pj), source, float(clock_pj))


def _is_energy(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value < float("inf")
