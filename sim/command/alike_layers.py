"""Layers that are alike, as one layer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from celosia.sim.run.report import Measurement

__all__ = ["layer_of", "together"]


def layer_of(part: Measurement) -> str:
    """The number of the layer that a group of operators belongs to; empty if it has none."""
    layer, dot, _ = part.name.partition(".")
    return layer if dot and layer.isdecimal() else ""


def together(parts: Iterable[Measurement]) -> list[Measurement]:
    """`parts`, with consecutive layers of the same operators and products added up.

    The sum of ``0.query`` to ``5.query`` is called ``0-5.query``.  A layer of which something is
    wrong, or did not come to its end, stays on its own.
    """
    layers = [list(layer) for _, layer in groupby(parts, layer_of)]
    shown: list[Measurement] = []
    for _, alike in groupby(enumerate(layers), lambda each: _kind(*each)):
        shown += _added_up([layer for _, layer in alike])
    return shown


def _kind(number: int, layer: Sequence[Measurement]) -> object:
    """What layers that are alike have in common."""
    single = not layer_of(layer[0]) or any(each.mismatches or each.until_stopped for each in layer)
    kind = tuple((_operator(each), each.macs) for each in layer)
    return (number, kind) if single else kind


def _added_up(layers: Sequence[Sequence[Measurement]]) -> Iterator[Measurement]:
    if len(layers) == 1:
        yield from layers[0]
        return
    span = f"{layer_of(layers[0][0])}-{layer_of(layers[-1][0])}"
    for parts in zip(*layers, strict=True):
        counters: Counter[str] = Counter()
        for each in parts:
            counters.update(each.counters)
        yield Measurement(
            name=f"{span}.{_operator(parts[0])}",
            macs=sum(each.macs for each in parts),
            cycles=_sum(each.cycles for each in parts),
            predicted_cycles=_sum(each.predicted_cycles for each in parts),
            mismatches=0,
            elements_checked=sum(each.elements_checked for each in parts),
            dram_read_bytes=sum(each.dram_read_bytes for each in parts),
            dram_write_bytes=sum(each.dram_write_bytes for each in parts),
            commands=sum(each.commands for each in parts),
            counters=counters,
        )


def _operator(part: Measurement) -> str:
    return part.name.partition(".")[2]


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None if there is nothing to add."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
