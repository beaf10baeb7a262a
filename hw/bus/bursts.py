"""Cutting contiguous transfers into bursts that AXI4 and the limits allow."""

from typing import Annotated

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import PAGE_BYTES, Limits
from celosia.hw.lib.component import Component
from celosia.hw.lib.wide import wide_sum
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig

__all__ = ["Burst", "BurstSplitter", "Segment", "max_segment_bytes"]

ADDRESS_BITS = 64
PAGE_BITS = (PAGE_BYTES - 1).bit_length()
REQUEST_BITS = (MAX_REQUEST_BYTES - 1).bit_length()


def max_segment_bytes(config: AcceleratorConfig) -> int:
    """Most bytes of one segment: a full request, or a whole accumulator row if that is more."""
    return max(MAX_REQUEST_BYTES, config.accumulator_row_bytes)


class Segment(data.StructLayout):
    """Consecutive bytes in memory, at most `max_segment_bytes` of them."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(ADDRESS_BITS),
            "bytes": range(max_segment_bytes(config) + 1),
        })


class Burst(data.StructLayout):
    """A part of a segment that one AXI burst moves.

    A *chunk* is 64 bytes counted from the start of the segment (the last one may be shorter).  It
    is one burst, or two if a 4 KiB boundary lies inside.  Then the first burst ends with the last
    byte of a beat and the second one starts with the first byte of a beat: as beats, a chunk is
    always contiguous.
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(ADDRESS_BITS),
            "bytes": range(MAX_REQUEST_BYTES + 1),  # Useful ones, from `address` on.
            "beats_minus_1": range(MAX_REQUEST_BYTES // config.bus_bytes + 1),
            "permitted": 1,  # Every useful byte is within the limits.
            "first": 1,  # Of its segment.
            "last": 1,  # Of its segment.
            "chunk_first": 1,  # Of its chunk.
            "chunk_last": 1,  # Its chunk is the last one of the segment.
            "chunk_bytes": range(MAX_REQUEST_BYTES + 1),  # Of the chunk, while `chunk_first`.
        })


class BurstSplitter(Component):
    """Cuts segments into bursts.

    Bursts are cut every 64 bytes counted from the start of the segment, and at 4 KiB boundaries.
    A burst of a segment that runs past the last byte of the address space is not `permitted` from
    there on, whatever the limits.  A segment of no bytes becomes one burst of no bytes, whose
    `beats_minus_1` and `permitted` mean nothing.

    The first burst of a segment is on offer in the cycle after the segment was accepted; bursts
    leave one per cycle, and the next segment is accepted together with the last burst, so that
    segments of one burst each are cut at one per cycle.  Whatever else a user knows about a segment
    can be kept in registers that load when `segments` transfers: it then stands beside its bursts.

    Members
    -------
    segments : ``In(stream.Signature(Segment(config)))``
        What to move.
    limits : ``In(Limits())``
        Bytes that may be touched.
    bursts : ``Out(stream.Signature(Burst(config)))``
        The same bytes, in order.
    """

    LATENCY = 1

    segments: stream.Interface
    limits: Annotated[data.View, In(Limits())]
    bursts: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "segments": In(stream.Signature(Segment(config))),
            "bursts": Out(stream.Signature(Burst(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()

        valid = Signal()
        address = Signal(ADDRESS_BITS, reset_less=True)  # First byte of the burst on offer.
        left = Signal.like(self.segments.p.bytes, reset_less=True)  # Of the segment, from it on.
        chunk = Signal(range(MAX_REQUEST_BYTES + 1), reset_less=True)  # Of the chunk, from it on.
        final = Signal(reset_less=True)  # The chunk is the last one of the segment.
        first = Signal(reset_less=True)
        chunk_first = Signal(reset_less=True)
        wrapped = Signal(reset_less=True)  # The segment has run past the end of the address space.

        # A chunk is at most as long as the last 64 bytes of a page, so nothing else can cross.
        burst = self.bursts.p
        room = MAX_REQUEST_BYTES - address[:REQUEST_BITS]
        ends_page = address[REQUEST_BITS:PAGE_BITS].all()
        crosses, count = Signal(), Signal.like(burst.bytes)
        m.d.comb += self.bursts.valid.eq(valid)
        with m.If(valid):
            m.d.comb += [
                crosses.eq(ends_page & (chunk > room)),
                burst.address.eq(address),
                count.eq(Mux(crosses, room, chunk)),
                burst.bytes.eq(count),
                burst.beats_minus_1.eq(self._beats_minus_1(address, count)),
                burst.permitted.eq(~wrapped & _permitted(address, count, self.limits)),
                burst.first.eq(first),
                burst.last.eq(final & ~crosses),
                burst.chunk_first.eq(chunk_first),
                burst.chunk_last.eq(final),
                burst.chunk_bytes.eq(chunk),
            ]

        segment = self.segments.p
        load = Signal()
        m.d.comb += [
            self.segments.ready.eq(~valid | (self.bursts.ready & burst.last)),
            load.eq(self.segments.ready & self.segments.valid),
        ]
        with m.If(self.segments.ready):
            m.d.sync += valid.eq(self.segments.valid)
        with m.If(load):
            m.d.sync += [
                address.eq(segment.address),
                left.eq(segment.bytes),
                chunk.eq(_chunk_bytes(segment.bytes)),
                final.eq(segment.bytes <= MAX_REQUEST_BYTES),
                first.eq(1),
                chunk_first.eq(1),
                wrapped.eq(0),
            ]
        with m.Elif(valid & self.bursts.ready):
            left_next = (left - count)[: len(left)]
            in_page = (address[:PAGE_BITS] + count)[:PAGE_BITS]
            # Known before the sum in the page is: what reaches its end goes on in the next one.
            leaves = ends_page & (chunk >= room)
            pages = Cat(address[PAGE_BITS:], Const(0, 1))  # One bit more, for a carry out.
            page = Mux(leaves, wide_sum(pages, Const(1, 1), bits=len(pages)), pages)
            m.d.sync += [
                address.eq(Cat(in_page, page)),
                wrapped.eq(wrapped | page[-1]),
                left.eq(left_next),
                chunk.eq(Mux(crosses, chunk - count, _chunk_bytes(left_next))),
                final.eq(Mux(crosses, final, left_next <= MAX_REQUEST_BYTES)),
                first.eq(0),
                chunk_first.eq(~crosses),
            ]

        return m

    def _beats_minus_1(self, address: Value, count: Value) -> Value:
        offset_bits = (self.config.bus_bytes - 1).bit_length()
        return (address[:offset_bits] + count - 1) >> offset_bits


def _chunk_bytes(left: Value) -> Value:
    """The length of the chunk that starts where `left` bytes of the segment are left."""
    return Mux(left > MAX_REQUEST_BYTES, MAX_REQUEST_BYTES, left)


def _permitted(address: Value, count: Value, limits: data.View) -> Value:
    """Whether `count` bytes from `address` on, all in one page, are within the limits."""
    # No carry leaves the page, so the last byte needs no 64-bit adder.
    last = Cat((address[:PAGE_BITS] + count - 1)[:PAGE_BITS], address[PAGE_BITS:])
    return (address >= limits.base) & (last <= limits.limit)
