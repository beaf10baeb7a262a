"""Reads from memory: addresses out, beats in, and what is to be done with them."""

from typing import Any

from amaranth import Assert, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from celosia.hw.control.load import LoadSegment
from celosia.hw.control.ops import DRAM_ADDRESS_BITS, local_row_bits
from celosia.hw.dma.bursts import BurstSplitter
from celosia.hw.dma.bus import RESPONSE_OKAY, Limits, ReadPort
from celosia.hw.dma.window import ENTRIES, CheckedBeat
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.errors import Cause

__all__ = ["READ_BYTES_BITS", "ReadError", "Reader", "Run"]

READ_BYTES_BITS = 8


class Run(data.StructLayout):
    """Consecutive bytes in consecutive beats: 64 bytes of a segment, or what is left of it.

    If a 4 KiB boundary lies inside, two bursts fetch it; its beats are consecutive all the same.
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "offset": range(config.bus_bytes),  # Of the first byte in its beat.
            "bytes": range(MAX_REQUEST_BYTES + 1),
            "row": unsigned(local_row_bits(config)),  # Of the segment.
            "zero": 1,  # There are no beats; the bytes are 0.
            "first": 1,  # Of its segment.
            "last": 1,  # Of its segment.
            "op_last": 1,  # Of its load.
        })


class ReadError(data.StructLayout):
    """The first error in the order of the bursts, and the first address of its burst."""

    def __init__(self) -> None:
        super().__init__({"cause": Cause, "address": unsigned(DRAM_ADDRESS_BITS)})


class Reader(wiring.Component):
    """Reads segments in bursts, several of them in flight.

    Says in `runs` which bytes the beats hold, not later than the beats arrive.  A segment that is
    zero is not read and has no beats.  An address is on offer `LATENCY` cycles after its segment
    was accepted, and one leaves per cycle, as long as fewer than ``config.read_requests`` bursts
    are in flight: from the offer of their address to their last beat.

    A burst that is not within the limits is not read.  In its place, after the beats of all bursts
    before it, comes one bad beat.  A beat with an error response is bad, too.  With the first error
    (or `stop`) no new address is offered; an address on offer stands until it is accepted, and
    beats of bursts in flight pass on.  Only a reset ends this.

    Members
    -------
    segments : ``In(stream.Signature(LoadSegment(config)))``
        What to read.
    limits : ``In(Limits())``
        Bytes that may be read.
    stop : ``In(1)``
        Offer no new address.
    port : ``Out(ReadPort(config))``
        The memory.
    runs : ``Out(stream.Signature(Run(config)))``
        What the beats hold, in order.
    beats : ``Out(stream.Signature(CheckedBeat(config)))``
        The beats.
    failed : ``Out(1)``
        There was an error.
    error : ``Out(ReadError())``
        Which, while `failed`; final when its bad beat has left.
    in_flight : ``Out(1)``
        A burst is in flight.
    no_credit : ``Out(1)``
        A burst waits for one in flight to end.
    read_bytes : ``Out(unsigned(READ_BYTES_BITS))``
        Useful bytes of the burst whose address is accepted in this cycle.
    """

    LATENCY = 2

    segments: stream.Interface
    limits: data.View
    stop: Signal
    port: Any
    runs: stream.Interface
    beats: stream.Interface
    failed: Signal
    error: data.View
    in_flight: Signal
    no_credit: Signal
    read_bytes: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "segments": In(stream.Signature(LoadSegment(config))),
            "limits": In(Limits()),
            "stop": In(1),
            "port": Out(ReadPort(config)),
            "runs": Out(stream.Signature(Run(config))),
            "beats": Out(stream.Signature(CheckedBeat(config))),
            "failed": Out(1),
            "error": Out(ReadError()),
            "in_flight": Out(1),
            "no_credit": Out(1),
            "read_bytes": Out(unsigned(READ_BYTES_BITS)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self.config)
        # A run leaves the queue after its beats: up to `ENTRIES` of them are no longer in flight.
        run_bits = Value.cast(self.runs.p).shape().width
        depth = self.config.read_requests + ENTRIES
        m.submodules.queue = queue = SyncFIFO(width=run_bits, depth=depth)
        # The addresses of the bursts in flight, for error reports; and their number.
        depth = self.config.read_requests
        m.submodules.pending = pending = SyncFIFO(width=DRAM_ADDRESS_BITS, depth=depth)

        segment, burst = self.segments.p, splitter.bursts.p
        row = Signal.like(segment.row, reset_less=True)  # Of the segment that is being cut.
        zero = Signal(reset_less=True)
        op_last = Signal(reset_less=True)
        m.d.comb += [
            splitter.limits.eq(self.limits),
            splitter.segments.p.address.eq(segment.address),
            splitter.segments.p.bytes.eq(segment.bytes),
            splitter.segments.valid.eq(self.segments.valid),
            self.segments.ready.eq(splitter.segments.ready),
        ]
        with m.If(self.segments.valid & self.segments.ready):
            m.d.sync += [row.eq(segment.row), zero.eq(segment.zero), op_last.eq(segment.last)]

        # What becomes of the burst on offer: it is read, it is outside, or (zero) it is only noted.
        free = Signal()
        issue = splitter.bursts.valid & splitter.bursts.ready
        read = issue & ~zero & burst.inside
        outside = issue & ~zero & ~burst.inside
        m.d.comb += splitter.bursts.ready.eq(
            queue.w_rdy & (zero | (free & pending.w_rdy)) & ~self.stop & ~self.failed
        )
        m.d.comb += self.no_credit.eq(splitter.bursts.valid & ~zero & ~pending.w_rdy)

        run = Signal.like(self.runs.p)
        m.d.comb += [
            run.offset.eq(burst.address[: len(run.offset)]),
            run.bytes.eq(burst.chunk_bytes),
            run.row.eq(row),
            run.zero.eq(zero),
            run.first.eq(burst.first),
            run.last.eq(burst.chunk_last),
            run.op_last.eq(op_last & burst.chunk_last),
            queue.w_data.eq(run),
            queue.w_en.eq(issue & burst.chunk_first),
            Value.cast(self.runs.p).eq(queue.r_data),
            self.runs.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.runs.ready),
        ]

        self._request(m, burst, read, free)
        self._respond(m, pending, outside, burst.address)
        m.d.comb += [
            pending.w_data.eq(burst.address),
            pending.w_en.eq(read),
            self.in_flight.eq(pending.r_rdy),
        ]
        return m

    def _request(self, m: Module, burst: data.View, read: Value, free: Signal) -> None:
        """Offer the address of `burst` when `read`; `free`: this is possible."""
        request = self.port.ar
        valid = Signal(name="ar_valid")
        address = Signal(DRAM_ADDRESS_BITS, name="ar_address", reset_less=True)
        beats_minus_1 = Signal.like(burst.beats_minus_1, name="ar_beats_minus_1", reset_less=True)
        useful = Signal.like(burst.bytes, name="ar_bytes", reset_less=True)

        m.d.comb += [
            free.eq(~valid | request.ready),
            request.valid.eq(valid),
            request.p.address.eq(address),
            request.p.beats_minus_1.eq(beats_minus_1),
            self.read_bytes.eq(Mux(valid & request.ready, useful, 0)),
        ]
        with m.If(free):
            m.d.sync += valid.eq(read)
        with m.If(read):
            m.d.sync += [
                address.eq(burst.address),
                beats_minus_1.eq(burst.beats_minus_1),
                useful.eq(burst.bytes),
            ]

    def _respond(self, m: Module, pending: SyncFIFO, outside: Value, address: Value) -> None:
        """Pass beats on, and keep the first error."""
        response = self.port.r
        owed = Signal()  # A bad beat, in the place of the burst that was outside.
        place = Signal()
        m.d.comb += [
            place.eq(owed & ~pending.r_rdy),
            self.beats.p.data.eq(response.p.data),
            self.beats.p.bad.eq((response.p.response != RESPONSE_OKAY) | place),
            self.beats.valid.eq(response.valid | place),
            response.ready.eq(self.beats.ready),
            pending.r_en.eq(response.valid & response.ready & response.p.last),
        ]
        with m.If(place & self.beats.ready):
            m.d.sync += owed.eq(0)

        m.d.sync += Assert(~response.valid | pending.r_rdy, "a beat that nobody asked for")

        # Bursts in flight come before one that was outside, so that their errors take precedence.
        refused = Signal()
        with m.If(outside):
            m.d.sync += [
                owed.eq(1),
                self.failed.eq(1),
                self.error.cause.eq(Cause.READ_LIMIT),
                self.error.address.eq(address),
            ]
        with m.If(response.valid & response.ready & self.beats.p.bad & ~refused):
            m.d.sync += [
                refused.eq(1),
                self.failed.eq(1),
                self.error.cause.eq(Cause.READ_RESPONSE),
                self.error.address.eq(pending.r_data),
            ]
