"""The stores that each load of a program waits for, as a number of stores from the first on."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from celosia.sw.ir.program import Load, Store, Written
from celosia.sw.scheduling.stored import Stored

__all__ = ["with_waits"]

_SETTLED: Final = 2048
"""Cycles behind its expected end after which a store is over."""


def with_waits(
    ops: Sequence[Written],
    times: Sequence[tuple[int, int]] | None = None,
    settled: int = _SETTLED,
    *,
    again: bool = False,
    moving: Collection[str] = (),
) -> Iterator[Written]:
    """`ops` in order; each load waits for all stores of what it reads elements of.

    With `times`, when each operation is expected to begin and to end, a load that must wait for
    more stores than those before it waits for all that are over since `settled` cycles as well, so
    that those behind it need not: each wait is a command.  What was not over then is waited for
    `again` as soon as it is, if loads far behind need it: not in the middle of what repeats until
    these come.  Of the tensors `moving`, a load may read what any store has written
    (`Graph.moving`).
    """
    needs = list(_needs(ops, moving))
    needed = sorted({need for need in needs if need})
    over: list[int] = []
    """When each store is over, and all before it."""
    awaited, later = 0, None
    for written, need, (begin, end) in zip(ops, needs, times or [(0, 0)] * len(ops), strict=True):
        if isinstance(written.op, Store):
            over.append(max([end, *over[-1:]]))
        if not isinstance(written.op, Load):
            yield written
            continue
        after, settles = need, bisect_right(over, begin - settled)
        if after > awaited:
            later = begin + settled + settled // 2 if again else None
            awaited = after = max(after, settles)
        elif later is not None and begin >= later and _any_between(needed, awaited, settles):
            later, awaited = None, settles
            after = settles
        same = after == written.op.after
        yield written if same else replace(written, op=replace(written.op, after=after))


def _needs(ops: Sequence[Written], moving: Collection[str]) -> Iterator[int]:
    """The stores that each operation comes behind, as their number: 0 for all but loads."""
    stored, stores = Stored(moving), 0
    for written in ops:
        need = 0
        match written.op:
            case Store(view):
                stores += 1
                stored.add(view, stores)
            case Load(view):
                need = stored.latest(view)
        yield need


def _any_between(numbers: Sequence[int], low: int, high: int) -> bool:
    """Whether one of the sorted `numbers` is more than `low` and not more than `high`."""
    return bisect_right(numbers, low) < bisect_right(numbers, high)
