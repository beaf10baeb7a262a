"""The rows of a store, as they stand in memory."""

from functools import partial
from typing import Annotated

from amaranth import Module, Signal, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bursts import Segment
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS, TAG_BITS, StoreOp
from celosia.hw.gemmini.fields import pixel_fields
from celosia.hw.gemmini.stores import PixelLines
from celosia.hw.lib.component import Component
from celosia.hw.lib.wide import wide_sum
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
            **pixel_fields(config),
        })


class StoreSegment(data.StructLayout):
    """A row in memory, and the operation that it belongs to."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "bytes": Segment(config).members["bytes"],
            "tag": unsigned(TAG_BITS),
            "last": 1,  # Of its operation.
        })


class StoreSegments(Component):
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
    row_read: Annotated[Signal, In(1)]
    segments: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._lines = PixelLines(config, DRAM_ADDRESS_BITS)
        super().__init__({
            "rows": In(stream.Signature(StoreRows(config))),
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
            self._lines.begin(m, rows)
        with m.Elif(accepted):
            add = partial(wide_sum, bits=DRAM_ADDRESS_BITS)
            m.d.sync += [rows_left.eq(rows_left - 1), address.eq(add(address, stride))]
            self._lines.advance(m, address, add)
        return m
