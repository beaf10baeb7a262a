"""Max-pooling of rows that leave."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.fields import chunk_registers
from celosia.isa.config import AcceleratorConfig

__all__ = ["Pool", "PoolRow"]

ELEMENT_BITS = 8


class PoolRow(data.StructLayout):
    """What a row is good for."""

    def __init__(self) -> None:
        super().__init__({
            "pools": 1,  # It belongs to a window; else it leaves as it is.
            "first": 1,  # Of its window.
            "blank": 1,  # It counts as zeros.
            "last": 1,  # Of its window: the maximum leaves.
        })


class Pool(Component):
    """Keeps the maximum of the rows of a window, element by element.

    A row is announced with ``next_arrives`` in the cycle before it is on ``row``; ``result`` is
    there with it and stands until the next row.  Sustains a row per cycle.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    next_arrives : ``In(1)``
        There is a new row in the next cycle.
    next_row : ``In(PoolRow())``
        What it is good for.
    next_leaves : ``Out(1)``
        It will not only be kept.
    row : ``In(ArrayLayout(signed(8), dim))``
        The row.
    result : ``Out(ArrayLayout(signed(8), dim))``
        The maximum up to this row; a row without a window as it is.
    """

    next_arrives: Annotated[Signal, In(1)]
    next_row: Annotated[data.View, In(PoolRow())]
    next_leaves: Annotated[Signal, Out(1)]
    row: data.View
    result: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        super().__init__({
            "row": In(elements),
            "result": Out(elements),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        marks, arrived = Signal(PoolRow(), reset_less=True), Signal()
        kept = Cat(chunk_registers(self.result.as_value(), "kept"))
        m.d.sync += arrived.eq(self.next_arrives & self.next_row.pools)
        with m.If(self.next_arrives):
            m.d.sync += marks.eq(self.next_row)
        m.d.comb += [
            self.next_leaves.eq(~self.next_row.pools | self.next_row.last),
            self.result.eq(self.row),
        ]
        with m.If(marks.pools):
            for lane in range(self.config.dim):
                best = kept.word_select(lane, ELEMENT_BITS).as_signed()
                element = Mux(marks.blank, 0, self.row[lane])
                larger = Mux(marks.first | (element > best), element, best)
                m.d.comb += self.result[lane].eq(larger)
        with m.If(arrived):
            m.d.sync += kept.eq(self.result)
        return m
