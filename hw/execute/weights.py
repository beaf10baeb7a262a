"""Brings the weights of each product to the array, one wave ahead of its rows."""

from typing import Annotated

from amaranth import Module, Mux, Signal, Value, ValueLike, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import ExecuteOp
from celosia.hw.execute.control import WeightControl
from celosia.hw.gemmini.stationary import where_sums_stay
from celosia.hw.lib.component import Component
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType

__all__ = ["WeightLoader", "prefix_mask"]


class WeightLoader(Component):
    """Takes products in order and passes each on as soon as its weights are on their way.

    Two products are held: one whose operand may be filling the transposer, and one whose weights
    wait to enter the array.  Rows move in *slots* of ``dim`` cycles, during which the weights port
    of the scratchpad is read without a pause.  In a slot a tile enters the array (from the
    scratchpad, or, transposed, from the transposer), or a tile fills the transposer, or one leaves
    the transposer while the next fills it.

    An output-stationary product may have two transposed operands: its weights fill the transposer
    first, and A does while they leave it.

    A row of int4 weights is read twice in a slot: its second line comes dim/2 cycles later.  With
    ``int4_pairs`` both come at once, and the slot has dim/2 cycles, unless the transposer is on
    their way.

    A product takes max(dim, rows of A, 4) cycles if operands do not wait; one with pairs of lines
    max(dim/2, rows of A, 4).  Without `load_weights` it passes through.  No slot starts while a
    product that writes the scratchpad is on its way: its results and the rows of the slot could
    meet in a bank, and neither waits.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    i : ``In(stream.Signature(ExecuteOp(config)))``
        Products whose hazards are resolved.
    o : ``Out(stream.Signature(ExecuteOp(config)))``
        Products whose wave of weights, if any, has started at least one cycle ago.
    read : ``Out(RowRead(row, elements))``
        The weights port of the scratchpad; must be granted.
    control : ``Out(WeightControl(config))``
        In the cycle of `read`.
    swapped : ``In(1)``
        The first row for the weights that moved in is asked for in this cycle.
    transposer_taken : ``In(1)``
        The last row of a transposed A leaves the transposer in this cycle.
    transposer_ready : ``Out(1)``
        A transposed A stands in the transposer.
    hold : ``In(1)``
        Start no slot.
    wave : ``Out(1)``
        A wave of weights is being read, and not for the last cycle.
    working : ``Out(1)``
        A product is held whose weights are on their way.
    waiting : ``Out(1)``
        A product is held whose wave is kept back by `hold`.
    empty : ``Out(1)``
        No product is held.
    """

    i: stream.Interface
    o: stream.Interface
    read: RowReadInterface
    control: data.View
    swapped: Annotated[Signal, In(1)]
    transposer_taken: Annotated[Signal, In(1)]
    transposer_ready: Annotated[Signal, Out(1)]
    hold: Annotated[Signal, In(1)]
    wave: Annotated[Signal, Out(1)]
    working: Annotated[Signal, Out(1)]
    waiting: Annotated[Signal, Out(1)]
    empty: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        op = stream.Signature(ExecuteOp(config))
        elements = data.ArrayLayout(unsigned(8), config.dim)
        super().__init__({
            "i": In(op),
            "o": Out(op),
            "read": Out(RowRead(row_shape(config.scratchpad_rows), elements)),
            "control": Out(WeightControl(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        s = _State(self.config)
        boundary = Signal()  # A slot may begin: none is active, or the last cycle of one.
        shadow_free, last_step = self._pace(m, s, boundary)
        transposed = s.wave.w_transpose & ~s.wave.w_zero
        leaves = Signal()  # A tile begins to leave the transposer.
        begins = s.begin_fill | s.again  # A tile begins to fill it.
        m.d.comb += [
            s.first.eq(s.step == 0),
            s.last.eq(s.step == last_step),
            boundary.eq(~s.active | s.last),
            s.wave_due.eq(s.wave_valid & s.wave.load_weights & ~s.wave_started),
            s.emit.eq(boundary & s.wave_due & shadow_free & ~self.hold),
            leaves.eq(s.emit & transposed),
            s.begin_fill.eq(
                (boundary & ~s.again)
                & (s.fill_valid & _fills(s.fill) & ~s.fill_begun)
                & ~self.hold  # Its reads, like those of a wave, never wait.
                & (leaves | ~s.full)
                & ~(s.emit & ~transposed & ~s.wave.w_zero)  # The port is taken.
                & (s.emit | ~s.wave_due)  # Not in the way of a wave that starts soon.
            ),
        ]
        # Weights that leave may make room for their own product's A.
        again = where_sums_stay(self.config, leaves & _fills_with_a(s.wave))
        m.d.comb += s.again.eq(again)
        with m.If(s.active):
            m.d.sync += s.step.eq(s.step + 1)
        with m.If(self.transposer_taken):
            m.d.sync += s.full.eq(0)
        with m.If(boundary):
            m.d.sync += [
                s.active.eq(s.emit | s.begin_fill),
                s.step.eq(0),
                s.emits.eq(s.emit),
                s.fills.eq(begins),
            ]
            with m.If(s.begin_fill | leaves):
                m.d.sync += s.full.eq(begins)
        self._move(m, s)
        self._read(m, s)
        m.d.comb += [
            self.transposer_ready.eq(s.full & ~(s.active & s.fills)),
            self.wave.eq(s.active & s.emits & ~s.last),
            self.working.eq(s.wave_valid | (s.fill_valid & _fills(s.fill))),
            self.waiting.eq(s.wave_due & shadow_free & self.hold),
            self.empty.eq(~s.fill_valid & ~s.wave_valid),
        ]
        return m

    def _move(self, m: Module, s: "_State") -> None:
        """Products move on."""
        fill_moves, wave_moves = Signal(), Signal()
        filled = ~_fills(s.fill) | s.fill_begun
        m.d.comb += [
            fill_moves.eq(s.fill_valid & (~s.wave_valid | wave_moves) & filled),
            self.o.valid.eq(s.wave_valid & (~s.wave.load_weights | s.wave_started)),
            self.o.payload.eq(s.wave),
            wave_moves.eq(self.o.valid & self.o.ready),
            self.i.ready.eq(~s.fill_valid | fill_moves),
        ]
        with m.If(self.i.ready):
            m.d.sync += s.fill_valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += s.fill.eq(self.i.payload)
        with m.If(fill_moves | wave_moves):
            m.d.sync += s.wave_valid.eq(fill_moves)
        with m.If(fill_moves):
            m.d.sync += [s.wave.eq(s.fill), s.fill_begun.eq(0)]
        with m.Elif(s.begin_fill):
            m.d.sync += s.fill_begun.eq(1)
        with m.If(wave_moves):
            m.d.sync += s.wave_started.eq(0)
        with m.Elif(s.active & s.emits & s.first):
            m.d.sync += s.wave_started.eq(1)

    def _pace(self, m: Module, s: "_State", boundary: Value) -> tuple[Value, ValueLike]:
        """Whether the wave that is due may begin in the next cycle; the last step of the slot."""
        dim, taken = self.config.dim, s.active & s.emits & s.first
        free = self._shadow(m, taken, dim)
        if not self.config.int4_pairs:
            return free, dim - 1
        half, wave, pairs = dim // 2, s.wave, Signal()
        m.d.comb += pairs.eq(wave.w_int4 & ~wave.w_transpose & ~wave.w_zero)
        with m.If(boundary):
            m.d.sync += s.pairs.eq(s.emit & pairs)
        soon = self._shadow(m, taken, half)
        return Mux(pairs, soon, free), Mux(s.pairs, half - 1, dim - 1)

    def _shadow(self, m: Module, taken, columns: int) -> Signal:
        """Whether shadow registers of so many columns may be written from two cycles on."""
        free = Signal(init=1)
        left = Signal(range(max(columns - 3, 2)))  # Cycles until the swap has passed the last one.
        with m.If(left == 1):
            m.d.sync += free.eq(1)
        with m.If(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.If(self.swapped):
            if columns <= 4:
                m.d.sync += free.eq(1)
            else:
                m.d.sync += left.eq(columns - 4)
        with m.If(taken):
            m.d.sync += free.eq(0)
            if self.config.int4_pairs:  # The swap before may still be on its way.
                m.d.sync += left.eq(0)
        return free

    def _read(self, m: Module, s: "_State") -> None:
        """The port's addresses, and the masks that go with them."""
        dim, row_shape_ = self.config.dim, self.read.row.shape()
        row, stride = Signal(row_shape_, reset_less=True), Signal(16, reset_less=True)
        rows = Signal(range(dim + 1), reset_less=True)  # Rows of the slot that exist.
        w_rows, w_mask = Signal(range(dim + 1)), Signal(dim, reset_less=True)
        fill_mask, transposed = Signal(dim, reset_less=True), Signal(reset_less=True)
        half = WeightType.INT4.tile_rows(dim)
        int4 = Signal(reset_less=True)
        turns = int4 & (s.step == half - 1)  # To the first row again.
        with m.If(s.active):
            m.d.sync += row.eq(row + Mux(turns, (1 - half) % (1 << len(row)), stride))
        fill, wave = s.fill, s.wave
        fills_a = fill.a_transpose & ~where_sums_stay(self.config, _fills_with_weights(fill))
        with m.If(s.begin_fill):
            m.d.sync += [
                row.eq(Mux(fills_a, fill.a_row, fill.w_row)),
                stride.eq(Mux(fills_a, fill.a_stride, 1)),
                rows.eq(Mux(fills_a, fill.a_cols, fill.w_cols)),
                int4.eq(fill.w_int4 & ~fills_a),
                fill_mask.eq(
                    prefix_mask(dim, Mux(fills_a, fill.a_rows[: rows.shape().width], fill.w_rows))
                ),
            ]
        with m.If(s.again):
            m.d.sync += [
                row.eq(wave.a_row),
                stride.eq(wave.a_stride),
                rows.eq(wave.a_cols),
                int4.eq(0),
                fill_mask.eq(prefix_mask(dim, wave.a_rows[: rows.shape().width])),
            ]
        with m.If(s.emit):
            m.d.sync += [
                transposed.eq(wave.w_transpose & ~wave.w_zero),
                w_mask.eq(Mux(wave.w_zero, 0, prefix_mask(dim, wave.w_cols))),
                w_rows.eq(Mux(wave.w_zero, 0, wave.w_rows)),
            ]
            with m.If(~wave.w_zero & ~wave.w_transpose):
                m.d.sync += [row.eq(wave.w_row), stride.eq(1), rows.eq(wave.w_rows)]
                m.d.sync += int4.eq(wave.w_int4)
        reading = s.fills | (s.emits & ~transposed & (w_rows != 0))
        live = s.active & (s.step < rows)
        m.d.comb += [
            self.read.valid.eq(live & reading),
            self.read.row.eq(row),
            self.control.start.eq(s.active & s.emits & s.first),
            self.control.mask.eq(Mux(s.step < w_rows, w_mask, 0)),
            self.control.int4.eq(int4),
            self.control.high.eq(s.step >= half),
            self.control.from_transposer.eq(transposed),
            self.control.shift.eq(s.active & (s.fills | (s.emits & transposed))),
            self.control.turn.eq(s.active & s.emits & transposed & s.first),
            self.control.fill_mask.eq(Mux(live & s.fills, fill_mask, 0)),
        ]
        if self.config.int4_pairs:
            m.d.comb += [
                self.control.pair.eq(s.active & s.pairs),
                self.control.second.eq(s.pairs & ((s.step | half) < w_rows)),
            ]


class _State:
    """The two products that are held, and the slot that moves rows."""

    def __init__(self, config: AcceleratorConfig):
        self.fill, self.fill_valid = Signal(ExecuteOp(config), reset_less=True), Signal()
        self.fill_begun = Signal()  # The product's operand is in the transposer, or on its way.
        self.wave, self.wave_valid = Signal(ExecuteOp(config), reset_less=True), Signal()
        self.wave_started = Signal()  # Row 0 of the product's weights has been read.
        self.active, self.emits, self.fills = Signal(), Signal(), Signal()  # A slot; what moves.
        self.step = Signal(range(config.dim))
        self.pairs = Signal()  # The rows of the slot have pairs of lines.
        self.full = Signal()  # A tile in the transposer, or on its way, has not begun to leave.
        # What happens in this cycle.
        self.first, self.last = Signal(), Signal()
        self.wave_due, self.emit, self.begin_fill = Signal(), Signal(), Signal()
        self.again = Signal()  # The A of the product whose weights leave fills the transposer.


def _fills(op):
    """Whether an operand of `op` passes the transposer."""
    return _fills_with_weights(op) | _fills_with_a(op)


def _fills_with_weights(op):
    return op.load_weights & op.w_transpose & ~op.w_zero


def _fills_with_a(op):
    rows = (op.c_rows != 0) & (op.a_rows != 0)  # Rows that will leave the transposer.
    return op.a_transpose & ~op.a_zero & rows


def prefix_mask(width: int, count):
    """A mask of the first `count` of `width` bits."""
    return ((1 << count) - 1)[:width]
