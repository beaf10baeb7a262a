"""Layers that are alike, as one layer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from celosia.sim.profile.alike import blocks, kind_of_name, span_name
from celosia.sim.run.report import Measurement

__all__ = ["by_layer", "together"]


def together(parts: Sequence[Measurement]) -> list[list[Measurement]]:
    """`parts` in sections, with repeated ones of the same names and products added up.

    The sum of ``0.query`` to ``5.query`` is called ``0-5.query x6``.  A layer of which something is
    wrong, or did not come to its end, stays on its own.
    """
    return [
        [_sum(alike) for alike in zip(*times, strict=True)] if len(times) > 1 else times[0]
        for times in _repeated(parts)
    ]


def by_layer(parts: Sequence[Measurement]) -> list[list[Measurement]]:
    """`parts` in sections: each time of what repeats is one."""
    return [section for times in _repeated(parts) for section in times]


def _repeated(parts: Sequence[Measurement]) -> Iterator[list[list[Measurement]]]:
    """Sections, and each time that one repeats."""
    alone: list[Measurement] = []
    for block in blocks([_kind(*each) for each in enumerate(parts)]):
        starts = [block.start + time * block.size for time in range(block.count)]
        if block.count == 1:
            alone += parts[block.start : block.start + block.size]
            continue
        if alone:
            yield [alone]
            alone = []
        yield [list(parts[start : start + block.size]) for start in starts]
    if alone:
        yield [alone]


def _kind(number: int, part: Measurement) -> object:
    """What parts of layers that are alike have in common."""
    if part.mismatches or part.until_stopped:
        return number
    return kind_of_name(part.name), part.macs, part.cycles is None


def _sum(parts: Sequence[Measurement]) -> Measurement:
    counters: Counter[str] = Counter()
    for each in parts:
        counters.update(each.counters)
    return Measurement(
        name=span_name([each.name for each in parts]),
        macs=sum(each.macs for each in parts),
        cycles=_known(each.cycles for each in parts),
        predicted_cycles=_known(each.predicted_cycles for each in parts),
        mismatches=_known(each.mismatches for each in parts),
        elements_checked=sum(each.elements_checked for each in parts),
        dram_read_bytes=sum(each.dram_read_bytes for each in parts),
        dram_write_bytes=sum(each.dram_write_bytes for each in parts),
        commands=sum(each.commands for each in parts),
        counters=counters,
    )


def _known(values: Iterable[int | None]) -> int | None:
    """The sum; None if there is nothing to add."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
