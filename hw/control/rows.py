"""Streams the rows of A (and D) of each product into the array."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.compute.control import RowControl
from celosia.hw.control.ops import ExecuteOp, ResultOp
from celosia.hw.control.weights import prefix_mask
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["RowStreamer"]


class RowStreamer(wiring.Component):
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
        A row waits for its bank, or it is D's turn.
    waits_weights : ``Out(1)``
        All rows are sent, but the product's weights are still being read.
    empty : ``Out(1)``
        No product is held.
    """

    i: stream.Interface
    results: stream.Interface
    read: RowReadInterface
    control: data.View
    wave: Signal
    swapped: Signal
    transposer_ready: Signal
    transposer_taken: Signal
    reads_done: Signal
    padding: Signal
    waits_bank: Signal
    waits_weights: Signal
    empty: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        row = row_shape(config.scratchpad_rows)
        super().__init__({
            "i": In(stream.Signature(ExecuteOp(config))),
            "results": Out(stream.Signature(ResultOp(config))),
            "read": Out(RowRead(row, data.ArrayLayout(unsigned(8), config.dim))),
            "control": Out(RowControl(config)),
            "wave": In(1),
            "swapped": Out(1),
            "transposer_ready": In(1),
            "transposer_taken": Out(1),
            "reads_done": Out(1),
            "padding": Out(1),
            "waits_bank": Out(1),
            "waits_weights": Out(1),
            "empty": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        op, valid = Signal(ExecuteOp(self.config), reset_less=True), Signal()
        rows = Signal(16)  # Rows not yet sent; 0 once the last one is.
        swap = Signal()  # The weights have not been swapped in yet.
        sent, leaves = Signal(), Signal()

        # Take the next product together with its place among the results.
        take = Signal()
        m.d.comb += [
            self.results.valid.eq(self.i.valid & (~valid | leaves)),
            self.i.ready.eq((~valid | leaves) & self.results.ready),
            take.eq(self.i.valid & self.i.ready),
        ]
        self._describe_results(m)
        with m.If(take | leaves):
            m.d.sync += valid.eq(take)

        a_row, a_left = Signal.like(op.a_row, reset_less=True), Signal(16, reset_less=True)
        d_row, d_left = Signal.like(op.d_row, reset_less=True), Signal(16, reset_less=True)
        d_turn = Signal(reset_less=True)  # The next row needs its row of D first.
        a_mask = Signal(self.config.dim, reset_less=True)
        d_mask = Signal.like(a_mask)
        own_wave = Signal()  # The product's own weights are still being read.

        # The turn of this cycle: D's, A's, or (a product without rows) only the swap.
        live = a_left != 0
        busy = valid & (rows != 0)
        d_reads, d_moves, moves = Signal(), Signal(), Signal()
        a_reads = busy & ~d_turn & live & ~op.a_transpose
        m.d.comb += [
            d_reads.eq(busy & d_turn & (d_left != 0)),
            self.read.valid.eq(d_reads | a_reads),
            self.read.row.eq(Mux(d_turn, d_row, a_row)),
            d_moves.eq(busy & d_turn & (~d_reads | self.read.ready)),
            moves.eq(
                busy
                & ~d_turn
                & (~a_reads | self.read.ready)
                & (~op.a_transpose | ~live | self.transposer_ready)
            ),
            sent.eq(rows == 0),
            leaves.eq(valid & ~own_wave & ((rows == 1) & moves | sent & ~swap)),
        ]
        no_rows = valid & sent & swap
        with m.If(moves):
            m.d.sync += [rows.eq(rows - 1), a_row.eq(a_row + op.a_stride), d_turn.eq(op.d_valid)]
            with m.If(live):
                m.d.sync += a_left.eq(a_left - 1)
        with m.If(d_moves):
            m.d.sync += [d_row.eq(d_row + 1), d_turn.eq(0)]
            with m.If(d_reads):
                m.d.sync += d_left.eq(d_left - 1)
        with m.If(moves | no_rows):
            m.d.sync += swap.eq(0)
        with m.If(~self.wave):
            m.d.sync += own_wave.eq(0)
        with m.If(take):
            new = self.i.p
            m.d.sync += [
                op.eq(new),
                rows.eq(new.c_rows),
                swap.eq(new.load_weights),
                own_wave.eq(new.load_weights & self.wave),
                a_row.eq(new.a_row),
                a_left.eq(Mux(new.a_zero, 0, new.a_rows)),
                d_row.eq(new.d_row),
                d_left.eq(new.d_rows),
                d_turn.eq(new.d_valid),
                a_mask.eq(prefix_mask(self.config.dim, new.a_cols)),
                d_mask.eq(prefix_mask(self.config.dim, new.d_cols)),
            ]

        first_column = Signal()  # The next row out of the transposer is the first one.
        from_transposer = op.a_transpose & live
        with m.If(take):
            m.d.sync += first_column.eq(1)
        with m.Elif(moves):
            m.d.sync += first_column.eq(0)
        m.d.comb += [
            self.control.valid.eq(moves),
            self.control.swap.eq(swap & (moves | no_rows)),
            self.swapped.eq(self.control.swap),
            self.control.mask.eq(Mux(live, a_mask, 0)),
            self.control.is_unsigned.eq(op.a_unsigned),
            self.control.from_transposer.eq(from_transposer & moves),
            self.control.turn.eq(from_transposer & moves & first_column),
            self.control.d_valid.eq(d_moves),
            self.control.d_mask.eq(Mux(d_left != 0, d_mask, 0)),
            self.transposer_taken.eq(from_transposer & moves & ((a_left == 1) | (rows == 1))),
            self.reads_done.eq(leaves),
            self.padding.eq(~live),
            self.waits_bank.eq(busy & ~moves & (d_turn | a_reads)),
            self.waits_weights.eq(valid & ~busy),
            self.empty.eq(~valid),
        ]
        return m

    def _describe_results(self, m: Module) -> None:
        new, result = self.i.p, self.results.p
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
