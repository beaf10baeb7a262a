"""A table on a terminal of what owned the cycles of each unit."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.table import Table
from rich.text import Text

from celosia.isa.registers.events import TABLES, Owner
from celosia.isa.registers.events import Table as Unit
from celosia.sim.run.report import Measurement

__all__ = ["owner_table"]

_BAR_CELLS: Final = 12
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_SMALLEST: Final = 0.01
"""The share of the cycles below which owners of the array are one line together."""
_MOST: Final = 5
"""Owners of the array that have a line of their own."""
_MOST_WAITS: Final = 3
"""Owners of another unit that are named in its line."""


def owner_table(part: Measurement, *, every: bool = False) -> Table:
    """What owned each unit's cycles, in numbers, shares and bars; of a stopped run, until then.

    The largest owners of the array, and a line for each other unit; with `every`, all of them.
    """
    counters = part.counters or part.until_stopped
    table = Table(title="Owners of the cycles: the array, then other units", title_justify="left")
    table.add_column("owner", no_wrap=True)
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("meaning", overflow="fold", style="dim")
    if not every:
        _add_summary(table, counters)
        return table
    for unit in TABLES:
        table.add_section()
        table.add_row(f"[bold]{unit.unit}[/]")
        for owner in unit.owners:
            if count := counters.get(owner.name, 0):
                table.add_row(*_cells(owner.name, count, counters, owner.doc))
    return table


def _add_summary(table: Table, counters: Mapping[str, int]) -> None:
    array, *others = TABLES
    order = _largest(array, counters)
    shown = [owner for owner in order[:_MOST] if _share(owner, counters) >= _SMALLEST]
    for owner in shown:
        table.add_row(*_line(owner.name, counters[owner.name], counters, owner.doc))
    if rest := order[len(shown) :]:
        cycles = sum(counters[owner.name] for owner in rest)
        table.add_row(*_line(f"{len(rest)} more", cycles, counters, "--owners shows them."))
    table.add_section()
    for unit in others:
        work = [owner for owner in unit.owners if owner.group in unit.work]
        cycles = sum(counters.get(owner.name, 0) for owner in work)
        table.add_row(*_line(unit.unit, cycles, counters, ", ".join(_waits(unit, counters))))


def _waits(unit: Unit, counters: Mapping[str, int]) -> Iterator[str]:
    """What a unit did beside its work, the most first."""
    waits = [owner for owner in _largest(unit, counters) if owner.group not in unit.work]
    for owner in waits[:_MOST_WAITS]:
        if (share := _share(owner, counters)) >= _SMALLEST:
            yield f"{owner.name} {share:.1%}"


def _largest(unit: Unit, counters: Mapping[str, int]) -> list[Owner]:
    """The owners of a unit that have cycles, the largest first."""
    present = [owner for owner in unit.owners if counters.get(owner.name, 0)]
    return sorted(present, key=lambda owner: -counters[owner.name])


def _share(owner: Owner, counters: Mapping[str, int]) -> float:
    return counters[owner.name] / max(1, counters.get("cycles", 0))


def _line(name: str, count: int, counters: Mapping[str, int], text: str) -> tuple[str | Text, ...]:
    """Cells of a row that is one line, whatever the width of the terminal."""
    *cells, text = _cells(name, count, counters, text)
    return *cells, Text(text, overflow="ellipsis", no_wrap=True)


def _cells(name: str, count: int, counters: Mapping[str, int], text: str) -> tuple[str, ...]:
    share = count / max(1, counters.get("cycles", 0))
    return name, f"{count:,}", f"{share:.1%}", _bar(share), text


def _bar(share: float) -> str:
    """A bar that is full for 1, in eighths of a cell."""
    eighths = round(share * _BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
