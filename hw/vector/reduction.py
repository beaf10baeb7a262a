"""What is found of whole rows: the largest element, and sums."""

from collections.abc import Callable
from functools import reduce
from typing import Annotated, Any

from amaranth import Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.stages import Stages
from celosia.hw.lib.wide import wide_sum
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowRead, RowReadInterface
from celosia.hw.vector.polynomial import COUNTED_BITS, SQUARE_BITS
from celosia.hw.vector.scaler import ELEMENT_BITS
from celosia.hw.vector.steps import RowSpan
from celosia.isa.config import AcceleratorConfig

__all__ = ["MaximumReduction", "MaximumWrite", "RowSums", "SumReduction", "SumsWrite"]

SQUARES_BITS = 48
SMALLEST = Const(-1 << ELEMENT_BITS - 1, signed(ELEMENT_BITS))


class MaximumWrite(data.StructLayout):
    """The largest element of a row, for its slot."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,
            "slot": row_shape(config.statistics_rows),
            "maximum": signed(ELEMENT_BITS),
        })


class RowSums(data.StructLayout):
    """The sums of a row's elements and, if they are counted, of their squares.  Both wrap."""

    def __init__(self) -> None:
        super().__init__({"total": signed(32), "squares": unsigned(SQUARES_BITS)})


class SumsWrite(data.StructLayout):
    """The sums of a row, for its slot."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,
            "squared": 1,  # Squares were counted; else the slot's remain.
            "finish": 1,  # The row is complete.
            "slot": row_shape(config.statistics_rows),
            "sums": RowSums(),
        })


class MaximumReduction(Component):
    """Finds the largest visible element of rows that come in steps.

    The slot is written `latency` cycles after a row's last step: 1 + log4 of ``dim``, rounded up.
    One step per cycle, without stalls; a row's steps follow each other, with or without gaps.
    Invisible elements count as the smallest int32.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``statistics_rows``.

    State
    -----
    The largest element of the row under way.

    Members
    -------
    start : ``In(1)``
        There is a step in this cycle.
    span : ``In(RowSpan(config))``
        Where in its row it is.
    kept : ``In(signed(32))``
        The slot's maximum, where a row begins and does not `start`.
    visible : ``In(dim)``
        Elements that count.
    elements : ``In(signed(32)).array(dim)``
        The elements.
    write : ``Out(MaximumWrite(config))``
        What the slot becomes.
    """

    start: Annotated[Signal, In(1)]
    span: data.View
    kept: Annotated[Signal, In(signed(ELEMENT_BITS))]
    visible: Signal
    elements: list[Signal]
    write: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.latency = 1 + _depth(config.dim)
        super().__init__({
            "span": In(RowSpan(config)),
            "visible": In(config.dim),
            "elements": In(signed(ELEMENT_BITS)).array(config.dim),
            "write": Out(MaximumWrite(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.latency, free=True)
        spans = stages.line("span", self.span)
        kept = stages.line("kept", self.kept)
        last = self.latency - 1

        # Stages up to the one before the last: a quarter of what counts in each.
        shown = [
            Mux(self.visible[lane], element, SMALLEST)[:ELEMENT_BITS].as_signed()
            for lane, element in enumerate(self.elements)
        ]
        found = _tree(stages, "larger", shown, last, _largest)

        # The last stage: steps of a row.
        span = spans[last]
        largest = Signal(signed(ELEMENT_BITS), reset_less=True)
        begun = Mux(span.start, found, _larger(found, kept[last]))
        largest_now = Mux(span.first, begun, _larger(found, largest))
        with m.If(stages.valid[last]):
            m.d.sync += largest.eq(largest_now)
        m.d.comb += [
            self.write.valid.eq(stages.valid[-1] & spans[last + 1].last),
            self.write.slot.eq(spans[last + 1].slot),
            self.write.maximum.eq(largest),
        ]
        return m


class SumReduction(Component):
    """Adds up the visible elements of rows that come in parts, and their squares.

    The slot is written `latency` cycles after a row's last part: 1 + log4 of the lanes, rounded up
    and at least 2.  One part per cycle, without stalls; a row's parts follow each other, with or
    without gaps, and all of them are `squared` or none is.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes`` and ``statistics_rows``.

    State
    -----
    The sums of the row under way.

    Members
    -------
    start : ``In(1)``
        There is a part in this cycle.
    span : ``In(RowSpan(config))``
        Where in its row it is.
    squared : ``In(1)``
        Squares count, too.
    visible : ``In(lanes)``
        Elements that count.
    elements : ``In(signed(17)).array(lanes)``
        The elements.
    squares : ``In(unsigned(31)).array(lanes)``
        Their squares.
    kept : ``Out(RowRead(slot, RowSums()))``
        Reads the sums that a row goes on from; never waits.
    write : ``Out(SumsWrite(config))``
        What the slot becomes.
    """

    start: Annotated[Signal, In(1)]
    span: data.View
    squared: Annotated[Signal, In(1)]
    visible: Signal
    elements: list[Signal]
    squares: list[Signal]
    kept: RowReadInterface
    write: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.latency = 1 + max(LOCAL_READ_LATENCY, _depth(config.lanes))
        super().__init__({
            "span": In(RowSpan(config)),
            "visible": In(config.lanes),
            "elements": In(signed(COUNTED_BITS)).array(config.lanes),
            "squares": In(unsigned(SQUARE_BITS)).array(config.lanes),
            "kept": Out(RowRead(row_shape(config.statistics_rows), RowSums())),
            "write": Out(SumsWrite(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.latency, free=True)
        spans = stages.line("span", self.span)
        squaring = stages.branch("squaring", self.squared)
        last = self.latency - 1
        asked = last - LOCAL_READ_LATENCY
        continues = spans[asked].first & ~spans[asked].start
        m.d.comb += [
            self.kept.valid.eq(stages.valid[asked] & continues),
            self.kept.row.eq(spans[asked].slot),
            self.write.valid.eq(stages.valid[-1] & spans[last + 1].last),
            self.write.squared.eq(squaring.valid[-1]),
            self.write.finish.eq(spans[last + 1].finish),
            self.write.slot.eq(spans[last + 1].slot),
        ]
        for name, elements, adding in (
            ("total", self.elements, stages),
            ("squares", self.squares, squaring),
        ):
            # The sum of four of what counts in each stage.
            shown = [Mux(self.visible[lane], element, 0) for lane, element in enumerate(elements)]
            found = _tree(adding, name, shown, last, sum)
            # The last stage: parts of a row.
            result = self.write.sums[name]
            total = Signal(result.shape(), name=f"row_{name}", reset_less=True)
            begun = Mux(spans[last].start, 0, self.kept.data[name])
            begun = Mux(spans[last].first, begun, total)
            with m.If(adding.valid[last]):
                m.d.sync += total.eq(wide_sum(begun, found, bits=len(total)))
            m.d.comb += result.eq(total)
        return m


def _depth(elements: int) -> int:
    """Stages of a tree that reduces so many elements to one, four to one in each stage."""
    return max(1, -(-(elements - 1).bit_length() // 2))


def _tree(
    stages: Stages, name: str, values: list[Value], depth: int, join: Callable[[list[Value]], Any]
) -> Value:
    """What `join` makes of all `values`, of four at once in each of so many stages."""
    for stage in range(1, depth + 1):
        groups = [values[first : first + 4] for first in range(0, len(values), 4)]
        values = [
            stages.register(stage, f"{name}_{index}", join(group))
            for index, group in enumerate(groups)
        ]
    (value,) = values
    return value


def _largest(values: list[Value]) -> Value:
    while len(values) > 1:
        values = [reduce(_larger, values[first : first + 2]) for first in range(0, len(values), 2)]
    return values[0]


def _larger(one: Value, other: Value) -> Value:
    return Mux(one > other, one, other)
