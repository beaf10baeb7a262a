"""The rows of a store, as they stand in memory."""

from amaranth import Cat, Module, Signal, Value, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bursts import Segment
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS, TAG_BITS, StoreOp
from celosia.hw.lib.fields import field_signals
from celosia.hw.store.drain import BUFFER_WORDS
from celosia.isa.config import AcceleratorConfig

__all__ = ["StoreRows", "StoreSegment", "StoreSegments"]


class StoreRows(data.StructLayout):
    """Rows in memory, all of the same length."""

    def __init__(self, config: AcceleratorConfig):
        op = StoreOp(config).members
        super().__init__({
            "address": op["address"],
            "stride": op["stride"],
            "rows": op["rows"],
            "bytes": Segment(config).members["bytes"],
            "tag": op["tag"],
            **(_pixels(config) if config.convolution else {}),
        })


def _pixels(config: AcceleratorConfig) -> dict:
    """Rows are pixels of an image, if `pools`."""
    op = StoreOp(config).members
    return {"pools": 1, "cols": unsigned(8), "row_stride": op["row_stride"]}


class StoreSegment(data.StructLayout):
    """A row in memory, and the operation that it belongs to."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "bytes": Segment(config).members["bytes"],
            "tag": unsigned(TAG_BITS),
            "last": 1,  # Of its operation.
        })


_LINE = data.StructLayout({
    "pools": 1,
    "address": unsigned(DRAM_ADDRESS_BITS),
    "stride": unsigned(40),
    "cols": unsigned(8),  # Pixels, less one.
    "left": unsigned(8),  # Pixels after this one.
})
"""A line of pixels."""


class StoreSegments(wiring.Component):
    """Walks the rows in memory of each store, one per cycle, as far as their bytes are on the way.

    A row is on offer only once all its local rows were read (``row_read``), so that a burst that
    has been issued never waits for a local memory.  The next operation is taken along with the
    last row of the one before.

    Members
    -------
    rows : ``In(stream.Signature(StoreRows(config)))``
        What to walk.
    row_read : ``In(1)``
        One more row was read.
    segments : ``Out(stream.Signature(StoreSegment(config)))``
        The rows, in order.
    """

    rows: stream.Interface
    row_read: Signal
    segments: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._line = field_signals(_LINE, "line")
        super().__init__({
            "rows": In(stream.Signature(StoreRows(config))),
            "row_read": In(1),
            "segments": Out(stream.Signature(StoreSegment(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        rows, segment = self.rows.p, self.segments.p
        active = Signal()
        read = Signal(range(BUFFER_WORDS + 1))  # Rows that were read and not accepted here.
        rows_left = Signal.like(rows.rows, reset_less=True)  # After the one on offer.
        address = Signal.like(rows.address, reset_less=True)
        stride = Signal.like(rows.stride, reset_less=True)
        count = Signal.like(rows.bytes, reset_less=True)
        tag = Signal.like(rows.tag, reset_less=True)

        accepted = self.segments.valid & self.segments.ready
        m.d.comb += [
            self.segments.valid.eq(active & (read != 0)),
            segment.address.eq(address),
            segment.bytes.eq(count),
            segment.tag.eq(tag),
            segment.last.eq(rows_left == 0),
            self.rows.ready.eq(~active | (accepted & segment.last)),
        ]
        m.d.sync += [
            Assert(
                ~self.row_read | (read != BUFFER_WORDS), "more rows read than there is room for"
            ),
            read.eq(read + self.row_read - accepted),
        ]
        with m.If(self.rows.ready):
            m.d.sync += active.eq(self.rows.valid)
        with m.If(self.rows.ready & self.rows.valid):
            m.d.sync += [
                rows_left.eq(rows.rows - 1),
                address.eq(rows.address),
                stride.eq(rows.stride),
                count.eq(rows.bytes),
                tag.eq(rows.tag),
            ]
        with m.Elif(accepted):
            m.d.sync += [rows_left.eq(rows_left - 1), address.eq(_sum(address, stride))]
            if self.config.convolution:
                self._next_line(m, address)
        if self.config.convolution:
            self._begin_line(m)
        return m

    def _begin_line(self, m: Module) -> None:
        rows, line = self.rows.p, self._line
        with m.If(self.rows.ready & self.rows.valid):
            m.d.sync += [
                line.pools.eq(rows.pools),
                line.address.eq(rows.address),
                line.stride.eq(rows.row_stride),
                line.cols.eq(rows.cols - 1),
                line.left.eq(rows.cols - 1),
            ]

    def _next_line(self, m: Module, address: Signal) -> None:
        """After a pixel: the next line of the image begins where it must."""
        line = self._line
        with m.If(line.pools):
            m.d.sync += line.left.eq(line.left - 1)
            with m.If(line.left == 0):
                start = _sum(line.address, line.stride)
                m.d.sync += [
                    address.eq(start),
                    line.address.eq(start),
                    line.left.eq(line.cols),
                ]


def _sum(address: Value, stride: Value) -> Value:
    """The next address.  In two halves, as a simulator has no cheap 65-bit sum."""
    half = len(stride)
    low = address[:half] + stride
    return Cat(low[:half], (address[half:] + low[half])[:half])
