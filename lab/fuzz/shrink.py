"""Making a failing case small."""

import time
from collections.abc import Callable
from dataclasses import replace

from celosia.isa.memory import MemoryTiming
from celosia.lab.fuzz.case import Case

__all__ = ["shrink"]


def shrink(case: Case, fails: Callable[[Case], bool], most: int = 300, seconds: float = 60) -> Case:
    """A case that fails, too, with few commands, in a plainer memory.

    That is what `most` tries find, or fewer: after so many `seconds`, no further one begins.
    """
    left, end = most, time.monotonic() + seconds

    def still(candidate: Case) -> bool:
        nonlocal left
        left = left - 1 if time.monotonic() < end else -1
        return left >= 0 and fails(candidate)

    case = _plainer(case, still)
    kept = list(range(len(case.recipe.middle)))
    size = max(1, len(kept) // 2)
    while left > 0:
        start, smaller = 0, False
        while start < len(kept) and left > 0:
            candidate = kept[:start] + kept[start + size :]
            if still(case.without(candidate)):
                kept, smaller = candidate, True
            else:
                start += size
        if size == 1 and not smaller:
            break
        size = max(1, size // 2)
    return case.without(kept)


def _plainer(case: Case, still: Callable[[Case], bool]) -> Case:
    """`case` without what makes memory or issue difficult, as far as it still fails."""
    plain = MemoryTiming()
    candidate = replace(case, issue="stream")
    if candidate != case and still(candidate):
        case = candidate
    for name in ("stall_percent", "channel_stalls", "reorder", "ready_after_valid"):
        timing = replace(case.timing, **{name: getattr(plain, name)})
        candidate = replace(case, timing=timing)
        if candidate != case and still(candidate):
            case = candidate
    return case
