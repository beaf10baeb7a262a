"""The stores that each load of a program waits for, as a number of stores from the first on."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import Load, Store, Written

__all__ = ["with_waits"]

_SETTLED: Final = 2048
"""Cycles behind its expected end after which a store is over."""


def with_waits(
    ops: Sequence[Written],
    times: Sequence[tuple[int, int]] | None = None,
    settled: int = _SETTLED,
) -> Iterator[Written]:
    """`ops` in order; each load waits for all stores of what it reads elements of.

    With `times`, when each operation is expected to begin and to end, a load that must wait for
    more stores than those before it waits for all that are over since `settled` cycles as well, so
    that those behind it need not: each wait is a command.
    """
    stored: dict[str, list[tuple[View, int]]] = {}
    over: list[int] = []
    """When each store is over, and all before it."""
    awaited = 0
    for written, (begin, end) in zip(ops, times or [(0, 0)] * len(ops), strict=True):
        match written.op:
            case Store(view):
                over.append(max([end, *over[-1:]]))
                stored.setdefault(view.tensor, []).append((view, len(over)))
                yield written
            case Load(view) as load:
                numbers = (n for other, n in stored.get(view.tensor, ()) if other.meets(view))
                after = max(numbers, default=0)
                if after > awaited:
                    awaited = after = max(after, bisect_right(over, begin - settled))
                yield replace(written, op=replace(load, after=after))
            case _:
                yield written
