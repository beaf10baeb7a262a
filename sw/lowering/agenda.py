"""What may be written later, between products: drains of the accumulator, and normalizations.

Drains keep their order, and so do normalizations; a normalization comes behind all drains that were
put down before it, because it needs their sums.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows

__all__ = ["Agenda", "Item"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Item:
    """A drain or a normalization that is to be written."""

    write: Callable[[], None]
    results: tuple[View, ...]
    """The views that it stores."""
    clock: int
    """The time before which it is not written, unless it must be."""
    drains: LocalRows | None = None
    """The sums that it drains; None: it is a normalization."""
    slots: range = range(0)
    """The statistics that it uses."""
    settling: int | None = None
    """A normalization with this one comes so long behind a drain, and no other one between."""


class Agenda:
    """Items in the order in which they were put down."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._drained: int | None = None
        """When the last drain was written; None: a normalization came behind it."""

    def add(self, item: Item) -> None:
        """Put `item` on the agenda, behind all others."""
        self._items.append(item)

    def write_due(self, clock: int) -> None:
        """Write the first drain whose time has come, or else the first normalization."""
        drains = [item for item in self._items if item.drains is not None]
        for first in (drains[:1], self._items[:1]):
            if first and self._is_due(first[0], clock):
                self._write(first[0])
                self._drained = None if first[0].drains is None else clock
                return

    def _is_due(self, item: Item, clock: int) -> bool:
        if item.settling is not None:
            return self._drained is not None and self._drained + item.settling <= clock
        return item.clock <= clock

    def write_all(self) -> None:
        """Write all items."""
        self._write_up_to(self._items)

    def write_normalizations(self) -> None:
        """Write all normalizations."""
        self._write_up_to([item for item in self._items if item.drains is None])

    def write_results(self, view: View) -> None:
        """Write what stores elements of `view`."""
        self._write_up_to([
            item for item in self._items if any(view.meets(result) for result in item.results)
        ])

    def write_drains(self, rows: LocalRows) -> None:
        """Write what drains any of `rows` of the accumulator."""
        self._write_up_to(self._drains(rows))

    def awaits(self, rows: LocalRows) -> bool:
        """Whether any of `rows` of the accumulator is still to be drained."""
        return bool(self._drains(rows))

    def write_statistics(self, slots: range) -> None:
        """Write what uses statistics in any of `slots`."""
        self._write_up_to([item for item in self._items if _meet(item.slots, slots)])

    def _drains(self, rows: LocalRows) -> list[Item]:
        return [
            item
            for item in self._items
            if item.drains is not None and item.drains.row < rows.end and rows.row < item.drains.end
        ]

    def _write_up_to(self, items: Iterable[Item]) -> None:
        for item in list(items):
            if item in self._items:
                self._write(item)

    def _write(self, item: Item) -> None:
        """Write `item`, and before it what has to be before it."""
        place = self._items.index(item)
        earlier = [
            other
            for other in self._items[:place]
            if other.drains is not None or item.drains is None
        ]
        for each in (*earlier, item):
            self._items.remove(each)
            each.write()


def _meet(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
