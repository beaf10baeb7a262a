"""Streams the rows of A (and D) of each product into the array."""

from typing import Annotated

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import ExecuteOp, ResultOp
from celosia.hw.execute.control import RowControl
from celosia.hw.execute.weights import prefix_mask
from celosia.hw.gemmini.fields import resident_fields
from celosia.hw.lib.component import Component
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["RowStreamer"]


class RowStreamer(Component):
    """Takes products whose weights are on their way and sends their rows, one per cycle.

    A row of A waits while its scratchpad bank is taken.  Rows beyond those of A are zeros.  With D,
    each row takes two cycles: first D's, then A's.  A transposed A comes from the transposer.
    The next product begins in the cycle after the last row.  A product is held until its own
    weights have been read; then `reads_done` pulses.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    i : ``In(stream.Signature(ExecuteOp(config)))``
        Products whose weights are on their way.
    results : ``Out(stream.Signature(ResultOp(config)))``
        One for each product, before its first row.
    read : ``Out(RowRead(row, elements))``
        The operands port of the scratchpad.
    control : ``Out(RowControl(config))``
        In the cycle of `read`.
    wave : ``In(1)``
        A wave of weights is being read, and not for the last cycle.
    swapped : ``Out(1)``
        `control.swap`.
    transposer_ready : ``In(1)``
        A transposed A stands in the transposer.
    transposer_taken : ``Out(1)``
        Its last row leaves.
    reads_done : ``Out(1)``
        The product will read the scratchpad no more.
    padding : ``Out(1)``
        The row that enters is one of zeros.
    waits_bank : ``Out(1)``
        A row waits for its bank.
    waits_weights : ``Out(1)``
        All rows are sent, but the product's weights are still being read.
    empty : ``Out(1)``
        No product is held.
    """

    i: stream.Interface
    results: stream.Interface
    read: RowReadInterface
    control: data.View
    wave: Annotated[Signal, In(1)]
    swapped: Annotated[Signal, Out(1)]
    transposer_ready: Annotated[Signal, In(1)]
    transposer_taken: Annotated[Signal, Out(1)]
    reads_done: Annotated[Signal, Out(1)]
    padding: Annotated[Signal, Out(1)]
    waits_bank: Annotated[Signal, Out(1)]
    waits_weights: Annotated[Signal, Out(1)]
    empty: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        row = row_shape(config.scratchpad_rows)
        super().__init__({
            "i": In(stream.Signature(ExecuteOp(config))),
            "results": Out(stream.Signature(ResultOp(config))),
            "read": Out(RowRead(row, data.ArrayLayout(unsigned(8), config.dim))),
            "control": Out(RowControl(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        s = _State(self.config)
        # Take the next product together with its place among the results.
        m.d.comb += [
            self.results.valid.eq(self.i.valid & (~s.valid | s.leaves)),
            self.i.ready.eq((~s.valid | s.leaves) & self.results.ready),
            s.take.eq(self.i.valid & self.i.ready),
        ]
        self._describe_results(m)

        # The turn of this cycle: D's, A's, or (a product without rows) only the swap.
        d_reads = Signal()
        a_reads = s.busy & ~s.d_turn & s.live & ~s.op.a_transpose
        m.d.comb += [
            s.live.eq(s.a_left != 0),
            s.busy.eq(s.valid & (s.rows != 0)),
            d_reads.eq(s.busy & s.d_turn & (s.d_left != 0)),
            self.read.valid.eq(d_reads | a_reads),
            self.read.row.eq(Mux(s.d_turn, s.d_row, s.a_row)),
            s.d_moves.eq(s.busy & s.d_turn & (~d_reads | self.read.ready)),
            s.moves.eq(
                s.busy
                & ~s.d_turn
                & (~a_reads | self.read.ready)
                & (~s.op.a_transpose | ~s.live | self.transposer_ready)
            ),
            s.swaps.eq(s.swap & (s.moves | (s.valid & (s.rows == 0)))),
            s.leaves.eq(
                s.valid & ~s.own_wave & ((s.rows == 1) & s.moves | (s.rows == 0) & ~s.swap)
            ),
            self.waits_bank.eq(self.read.valid & ~self.read.ready),
        ]
        with m.If(s.d_moves & d_reads):
            m.d.sync += s.d_left.eq(s.d_left - 1)
        self._advance(m, s)
        self._control(m, s)
        return m

    def _advance(self, m: Module, s: "_State") -> None:
        """The registers: after a row, and with a new product."""
        with m.If(s.take | s.leaves):
            m.d.sync += s.valid.eq(s.take)
        with m.If(s.moves):
            m.d.sync += [
                s.rows.eq(s.rows - 1),
                s.a_row.eq(s.a_row + s.op.a_stride),
                s.d_turn.eq(s.op.d_valid),
                s.first_column.eq(0),
            ]
            with m.If(s.live):
                m.d.sync += s.a_left.eq(s.a_left - 1)
        with m.If(s.d_moves):
            m.d.sync += [s.d_row.eq(s.d_row + 1), s.d_turn.eq(0)]
        with m.If(s.swaps):
            m.d.sync += s.swap.eq(0)
        with m.If(~self.wave):
            m.d.sync += s.own_wave.eq(0)
        with m.If(s.take):
            new = self.i.p
            m.d.sync += [
                s.op.eq(new),
                s.rows.eq(new.c_rows),
                s.swap.eq(new.load_weights),
                s.own_wave.eq(new.load_weights & self.wave),
                s.a_row.eq(new.a_row),
                s.a_left.eq(Mux(new.a_zero, 0, new.a_rows)),
                s.d_row.eq(new.d_row),
                s.d_left.eq(new.d_rows),
                s.d_turn.eq(new.d_valid),
                s.a_mask.eq(prefix_mask(self.config.dim, new.a_cols)),
                s.d_mask.eq(prefix_mask(self.config.dim, new.d_cols)),
                s.first_column.eq(1),
            ]

    def _control(self, m: Module, s: "_State") -> None:
        from_transposer = s.op.a_transpose & s.live & s.moves
        last = (s.a_left == 1) | (s.rows == 1)
        m.d.comb += [
            self.control.valid.eq(s.moves),
            self.control.swap.eq(s.swaps),
            self.swapped.eq(s.swaps),
            self.control.mask.eq(Mux(s.live, s.a_mask, 0)),
            self.control.is_unsigned.eq(s.op.a_unsigned),
            self.control.from_transposer.eq(from_transposer),
            self.control.turn.eq(from_transposer & s.first_column),
            self.control.d_valid.eq(s.d_moves),
            self.control.d_mask.eq(Mux(s.d_left != 0, s.d_mask, 0)),
            self.transposer_taken.eq(from_transposer & last),
            self.reads_done.eq(s.leaves),
            self.padding.eq(~s.live),
            self.waits_weights.eq(s.valid & ~s.busy),
            self.empty.eq(~s.valid),
        ]

    def _describe_results(self, m: Module) -> None:
        new, result = self.i.p, self.results.p
        with m.If(self.results.valid):
            m.d.comb += [
                result.row.eq(new.c_row),
                result.rows.eq(new.c_rows),
                result.stride.eq(new.c_stride),
                result.mask.eq(prefix_mask(self.config.dim, new.c_cols)),
                result.to_accumulator.eq(new.c_accumulator),
                result.accumulate.eq(new.accumulate),
                result.relu.eq(new.relu),
                result.add_d.eq(new.d_valid),
            ]
            m.d.comb += [result[name].eq(new[name]) for name in resident_fields(self.config)]


class _State:
    """The product that is held, and how far it has come."""

    def __init__(self, config: AcceleratorConfig):
        self.valid = Signal()
        self.op = Signal(ExecuteOp(config), reset_less=True)
        self.rows = Signal(16)  # Rows not yet sent; 0 once the last one is.
        self.swap = Signal()  # The weights have not been swapped in yet.
        self.own_wave = Signal()  # The product's own weights are still being read.
        self.a_row = Signal.like(self.op.a_row, name="a_row", reset_less=True)
        self.a_left = Signal(16, reset_less=True)
        self.a_mask = Signal(config.dim, reset_less=True)
        self.d_row = Signal.like(self.op.d_row, name="d_row", reset_less=True)
        self.d_left = Signal(16, reset_less=True)
        self.d_mask = Signal(config.dim, reset_less=True)
        self.d_turn = Signal(reset_less=True)  # The next row needs its row of D first.
        self.first_column = Signal()  # The next row out of the transposer is the first one.
        # What happens in this cycle.
        self.take, self.leaves = Signal(), Signal()
        self.live, self.busy = Signal(), Signal()
        self.moves, self.d_moves, self.swaps = Signal(), Signal(), Signal()
