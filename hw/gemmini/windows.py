"""Execution of a pooling MVOUT: the local rows under each window, one after the other."""

from collections.abc import Mapping
from typing import Any

from amaranth import Module, Signal, Value, signed
from amaranth.hdl import Assert
from amaranth.lib import stream, wiring

from celosia.hw.gemmini.fields import POOLING, kept_fields
from celosia.hw.lib.fields import field_signals, leaves
from celosia.isa.config import AcceleratorConfig

__all__ = ["PoolWalker", "PoolingController"]

POSITION = signed(11)
"""The shape of a row or column number in the image or beside it: from -3 to 255*3 + 3."""


class PoolWalker(wiring.Component):
    """Walks the windows of a pooling store, pixel by pixel of what leaves.

    Takes an operation (of at least one pixel and one column), then emits the positions of its
    windows, row by row, one per cycle while ``reads`` accepts: *size* squared for each pixel.
    Positions beside the image are `blank`, and their row is any.  The first one is on offer in the
    cycle after the operation was taken, and the next operation is taken in the cycle in which the
    last one is accepted.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies the sizes of the local memories.
    ports : Mapping[str, Member]
        The ports of a walker of stores.

    Members
    -------
    op : ``In(stream.Signature(StoreOp(config)))``
        Pooling operations whose hazards have been resolved.
    reads : ``Out(stream.Signature(StoreRead(config)))``
        Positions, as local rows.
    """

    op: stream.Interface
    reads: stream.Interface

    def __init__(self, config: AcceleratorConfig, ports: Mapping[str, wiring.Member]):
        self.config = config
        super().__init__(dict(ports))

    def elaborate(self, platform) -> Module:
        m = Module()
        op, read, s = self.op.p, self.reads.p, _State(self.config, self.op.p.shape().members)
        end_of_row, end = s.cols_left == 0, (s.cols_left == 0) & (s.rows_left == 0)
        last_of_line = s.pixels_left == 0
        m.d.comb += [
            self.reads.valid.eq(s.active),
            self.op.ready.eq(~s.active | (self.reads.ready & read.last)),
            read.row.eq(s.line + s.x),
            read.pools.eq(1),
            read.first.eq(s.first),
            read.blank.eq(_beside(s.y, s.op.image_rows) | _beside(s.x, s.op.image_cols)),
            read.last_in_row.eq(end),
            read.last.eq(end & last_of_line & (s.lines_left == 0)),
        ]
        m.d.comb += [read[name].eq(register) for name, register in s.constant.items()]

        with m.If(self.op.ready):
            m.d.sync += s.active.eq(self.op.valid)
        with m.If(self.op.ready & self.op.valid):
            self._begin(m, s, op)
        with m.Elif(self.reads.ready):
            m.d.sync += s.first.eq(end)
            with m.If(~end_of_row):
                m.d.sync += [s.x.eq(s.x + 1), s.cols_left.eq(s.cols_left - 1)]
            with m.Elif(~end):
                m.d.sync += [
                    s.x.eq(s.left),
                    s.y.eq(s.y + 1),
                    s.line.eq(s.line + s.op.image_cols),
                    s.cols_left.eq(s.op.size - 1),
                    s.rows_left.eq(s.rows_left - 1),
                ]
            with m.Else():
                m.d.sync += [s.cols_left.eq(s.op.size - 1), s.rows_left.eq(s.op.size - 1)]
                self._next_window(m, s, last_of_line)
        return m

    def _begin(self, m: Module, s: "_State", op) -> None:
        pooling = op.pooling
        line = Signal.like(s.line, name="first_line")
        m.d.comb += line.eq(op.row - pooling.top * pooling.image_cols)
        m.d.sync += [register.eq(op[name]) for name, register in s.constant.items()]
        m.d.sync += [
            register.eq(pooling[name])
            for register, (name, _) in zip(leaves(s.op), pooling.shape(), strict=True)
        ]
        m.d.sync += [
            Assert((pooling.rows != 0) & (pooling.cols != 0), "a store of no pixels"),
            Assert((pooling.size != 0) & (op.cols != 0), "a window of nothing"),
            s.first.eq(1),
            *(x.eq(-pooling.left) for x in (s.x, s.left)),
            *(y.eq(-pooling.top) for y in (s.y, s.top)),
            *(row.eq(line) for row in (s.line, s.top_line)),
            s.jump.eq(pooling.stride * pooling.image_cols),
            s.cols_left.eq(pooling.size - 1),
            s.rows_left.eq(pooling.size - 1),
            s.pixels_left.eq(pooling.cols - 1),
            s.lines_left.eq(pooling.rows - 1),
        ]

    def _next_window(self, m: Module, s: "_State", last_of_line: Value) -> None:
        with m.If(~last_of_line):
            m.d.sync += [
                *(x.eq(s.left + s.op.stride) for x in (s.x, s.left)),
                s.y.eq(s.top),
                s.line.eq(s.top_line),
                s.pixels_left.eq(s.pixels_left - 1),
            ]
        with m.Else():
            m.d.sync += [
                *(x.eq(-s.op.left) for x in (s.x, s.left)),
                *(y.eq(s.top + s.op.stride) for y in (s.y, s.top)),
                *(row.eq(s.top_line + s.jump) for row in (s.line, s.top_line)),
                s.pixels_left.eq(s.op.cols - 1),
                s.lines_left.eq(s.lines_left - 1),
            ]


class _State:
    """The operation, and the position in it."""

    def __init__(self, config: AcceleratorConfig, members: Mapping[str, Any]):
        self.active = Signal()
        names = ["space", "bias", "relu", "scale", "bias_row", *kept_fields(config)]
        self.constant = {name: Signal(members[name], name=name, reset_less=True) for name in names}
        self.op = field_signals(POOLING, "pooling")
        self.first = Signal(reset_less=True)  # Of its window.
        self.x, self.y = (Signal(POSITION, name=name, reset_less=True) for name in "xy")
        self.line = Signal(members["row"], reset_less=True)  # The row of column 0 of the image.
        # Where the window begins.
        self.left = Signal(POSITION, name="window_left", reset_less=True)
        self.top = Signal(POSITION, name="window_top", reset_less=True)
        self.top_line = Signal(members["row"], reset_less=True)
        self.jump = Signal(10, reset_less=True)  # Rows from one line of windows to the next.
        # After this one: in the window, and windows.
        self.cols_left, self.rows_left = (Signal(2, name=f"{n}_left") for n in ("cols", "rows"))
        self.pixels_left, self.lines_left = (
            Signal(8, name=f"{n}_left") for n in ("pixels", "lines")
        )


def _beside(position: Value, extent: Value) -> Value:
    """Whether `position` is not in the image."""
    return (position < 0) | (position >= extent)


class PoolingController(wiring.Component):
    """A walker of rows, and `PoolWalker` for windows.

    Each works as if it were alone; where they take turns, a cycle is lost.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and the sizes of the local memories.
    rows : Component
        The walker of stores that do not pool, a `StoreController`.

    Members
    -------
    op : ``In(stream.Signature(StoreOp(config)))``
        Operations whose hazards have been resolved.
    reads : ``Out(stream.Signature(StoreRead(config)))``
        Local rows, in the order in which they are needed.
    """

    op: stream.Interface
    reads: stream.Interface

    def __init__(self, config: AcceleratorConfig, rows: wiring.Component):
        self.config = config
        self._rows: Any = rows
        super().__init__(dict(rows.signature.members))

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.rows = rows = self._rows
        m.submodules.windows = windows = PoolWalker(self.config, self.signature.members)
        pools = self.op.p.pools
        for walker, other, mine in ((rows, windows, ~pools), (windows, rows, pools)):
            m.d.comb += walker.op.payload.eq(self.op.payload)
            with m.If(mine & ~other.reads.valid):
                m.d.comb += [
                    walker.op.valid.eq(self.op.valid),
                    self.op.ready.eq(walker.op.ready),
                ]
            m.d.comb += walker.reads.ready.eq(self.reads.ready)
            with m.If(walker.reads.valid):
                m.d.comb += [
                    self.reads.valid.eq(1),
                    self.reads.payload.eq(walker.reads.payload),
                ]
        return m
