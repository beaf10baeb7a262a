"""Sends the rows that leave the array to where they belong."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import ResultOp
from celosia.hw.gemmini.stationary import SumsStay
from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import tapped_delay
from celosia.hw.lib.fields import chunk_registers
from celosia.hw.memory.accumulator import ResultAddress
from celosia.hw.memory.ports import ScratchpadWrite
from celosia.isa.config import AcceleratorConfig

__all__ = ["ResultWriter"]

PRODUCTS = 8
"""Products whose rows may be in the array at once."""


class ResultWriter(Component):
    """Walks the rows of each product as they leave the array.

    A row that enters with `entered` is on ``sums`` exactly `latency` cycles later; its address goes
    to the accumulator one cycle before that, D is added, and it is never refused.  Rows for the
    scratchpad are saturated to int8 and written one cycle after they were on ``sums``.
    Where products may be output-stationary, all of this is a cycle later: a row of such a product
    is added to the row that stays here, and what leaves is the sum, shifted.
    Accepts a product per cycle, and up to `PRODUCTS` whose rows are still in the array.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.
    latency : int
        Cycles from `entered` to the row on ``sums``; at least 4.

    Members
    -------
    i : ``In(stream.Signature(ResultOp(config)))``
        Products in the order of their rows.
    entered : ``In(1)``
        A row is asked for that will enter the array.
    d_valid : ``In(1)``
        A row of D is on ``d``, for the next row that enters.
    d : ``In(ArrayLayout(signed(8), dim))``
        A row of D.
    sums : ``In(signed(partial_sum_bits)).array(dim)``
        Rows of A*W.
    address : ``Out(ResultAddress(config))``
        Accumulator row of the next cycle's elements.
    elements : ``Out(signed(32)).array(dim)``
        Rows of A*W + D.
    scratchpad : ``Out(stream.Signature(ScratchpadWrite(config), always_ready=True))``
        Rows for the scratchpad.
    done : ``Out(1)``
        The last row of a product is in its memory by the end of the next cycle.
    scratchpad_pending : ``Out(1)``
        Rows for the scratchpad are in the array or on their way.
    empty : ``Out(1)``
        No row is in the array or on its way.
    """

    i: stream.Interface
    entered: Annotated[Signal, In(1)]
    d_valid: Annotated[Signal, In(1)]
    d: data.View
    sums: list[Signal]
    address: data.View
    elements: list[Signal]
    scratchpad: stream.Interface
    done: Annotated[Signal, Out(1)]
    scratchpad_pending: Annotated[Signal, Out(1)]
    empty: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig, latency: int = 4):
        self.config = config
        self.latency = latency
        super().__init__({
            "i": In(stream.Signature(ResultOp(config))),
            "d": In(data.ArrayLayout(signed(8), config.dim)),
            "sums": In(signed(config.partial_sum_bits)).array(config.dim),
            "address": Out(ResultAddress(config)),
            "elements": Out(signed(32)).array(config.dim),
            "scratchpad": Out(stream.Signature(ScratchpadWrite(config), always_ready=True)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        dim = self.config.dim
        layout = ResultOp(self.config)
        m.submodules.products = products = SyncFIFO(width=layout.size, depth=PRODUCTS - 1)
        # The oldest one is in a register, and so is where its next row goes: banks are asked for
        # it, and who waits for a bank is who is issued next.
        product, walks, over = Signal(layout, reset_less=True), Signal(), Signal()
        m.d.comb += [
            products.w_data.eq(self.i.payload),
            products.w_en.eq(self.i.valid),
            self.i.ready.eq(products.w_rdy),
            products.r_en.eq(~walks | over),
        ]
        with m.If(products.r_en):
            m.d.sync += walks.eq(products.r_rdy)
        with m.If(products.r_en & products.r_rdy):
            m.d.sync += product.eq(products.r_data)

        # Two cycles before a row is on `sums`: its address, which goes into a register.
        coming = tapped_delay(m, self.entered, self.latency - 1, name="entered")[self.latency - 2]
        further, next_row, left = Signal(), Signal.like(product.row), Signal(16)
        place = Mux(further, next_row, product.row)
        last = Mux(further, left, product.rows) == 1
        due, later, finished = Signal(), Signal(reset_less=True), Signal()
        row, shown = Signal.like(place, reset_less=True), Signal(layout, reset_less=True)
        # A product without rows ends as soon as it is the oldest one.
        finishes = (coming & last) | (walks & (product.rows == 0))
        m.d.sync += [due.eq(coming), finished.eq(finishes)]
        with m.If(coming):
            m.d.sync += [
                further.eq(~last),
                next_row.eq(place + product.stride),
                left.eq(Mux(further, left, product.rows) - 1),
                later.eq(further),
                row.eq(place),
                shown.eq(product),
            ]
        done = Signal()
        needs_d, stay = due & shown.add_d, SumsStay(self.config)
        elements = stay.enter(m, due, later, shown, self.elements)
        ends, due, row, shown, held = stay.leave(m, finished, due, row, shown)
        busy = products.r_rdy | walks | finished | held
        m.d.sync += done.eq(ends)
        m.d.comb += [
            over.eq(finishes),
            self.done.eq(done),
            self.address.valid.eq(due & shown.to_accumulator),
            self.address.row.eq(row),
            self.address.accumulate.eq(shown.accumulate),
            self.address.mask.eq(shown.mask),
        ]

        # The row is on `sums`: add D.
        adds_d, d = self._d_rows(m, needs_d)
        for lane in range(dim):
            m.d.comb += elements[lane].eq(self.sums[lane])
        with m.If(adds_d):
            for lane in range(dim):
                m.d.comb += elements[lane].eq(self.sums[lane] + d[lane])

        s1_scratchpad = self._to_scratchpad(m, due & ~shown.to_accumulator, row, shown)
        m.d.comb += [
            self.scratchpad_pending.eq(self._pending(m, done & s1_scratchpad)),
            self.empty.eq(~busy & ~done),
        ]
        return m

    def _d_rows(self, m: Module, pop: Value) -> tuple[Value, data.View]:
        """Keep rows of D until their rows of A*W; `pop` asks for the next one, a cycle ahead.

        That one has been read by then, and goes into a register: behind it is a sum.
        """
        layout = data.ArrayLayout(signed(8), self.config.dim)
        depth = 1 << (self.latency + 3).bit_length()
        m.submodules.d_rows = memory = Memory(shape=unsigned(layout.size), depth=depth, init=[])
        read, write = memory.read_port(), memory.write_port()
        oldest, lately = Signal.like(read.addr), Signal()
        m.d.comb += [
            write.data.eq(self.d.as_value()),
            write.en.eq(self.d_valid),
            read.addr.eq(oldest + pop),
            read.en.eq(pop | lately),
        ]
        m.d.sync += lately.eq(self.d_valid)
        with m.If(self.d_valid):
            m.d.sync += write.addr.eq(write.addr + 1)
        adds, row = Signal(), Signal(layout, reset_less=True)
        m.d.sync += adds.eq(pop)
        with m.If(pop):
            m.d.sync += [oldest.eq(oldest + 1), row.eq(layout(read.data))]
        return adds, row

    def _to_scratchpad(self, m: Module, due: Value, row: Value, product: data.View) -> Value:
        """Saturate to int8; returns whether the row of the last cycle is for the scratchpad."""
        dim = self.config.dim
        out = self.scratchpad.p
        s1_due = Signal()
        s1_relu = Signal(reset_less=True)
        s1_row = Signal.like(out.row, reset_less=True)
        s1_mask = Signal(dim, reset_less=True)
        s2_valid = Signal()
        s2_row = Signal.like(out.row, reset_less=True)
        s2_mask = Signal(dim, reset_less=True)
        m.d.sync += [s1_due.eq(due), s2_valid.eq(s1_due)]
        with m.If(due):
            m.d.sync += [s1_row.eq(row), s1_mask.eq(product.mask), s1_relu.eq(product.relu)]
        m.d.comb += [self.scratchpad.valid.eq(s2_valid), out.row.eq(s2_row), out.mask.eq(s2_mask)]
        row_bits = Cat(_to_int8(element, s1_relu)[:8] for element in self.elements)
        chunks = chunk_registers(row_bits, "s2_elements")
        m.d.comb += out.data.eq(Cat(chunks))
        with m.If(s1_due):
            m.d.sync += Cat(chunks).eq(row_bits)
            m.d.sync += [s2_row.eq(s1_row), s2_mask.eq(s1_mask)]
        return s1_due

    def _pending(self, m: Module, finished: Value) -> Value:
        """Whether products for the scratchpad have been taken and have not finished."""
        count = Signal(range(PRODUCTS + 2))
        begun = self.i.valid & self.i.ready & ~self.i.p.to_accumulator & (self.i.p.rows != 0)
        with m.If(begun & ~finished):
            m.d.sync += count.eq(count + 1)
        with m.Elif(finished & ~begun):
            m.d.sync += count.eq(count - 1)
        return count != 0


def _to_int8(value: Value, relu: Value) -> Value:
    """`value` clamped to int8, or to 0..127."""
    low = Mux(relu, 0, -128)
    return Mux(value > 127, 127, Mux(value < low, low, value[:8].as_signed()))
