"""Reads from memory: addresses out, beats in, and what is to be done with them."""

from typing import Annotated, Any

from amaranth import Assert, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bursts import Burst, BurstSplitter
from celosia.hw.bus.bus import RESPONSE_OKAY, Limits, ReadPort
from celosia.hw.bus.window import CheckedBeat
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS, local_row_bits
from celosia.hw.lib.component import Component
from celosia.hw.lib.queue import Queue
from celosia.hw.load.controller import LoadSegment
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.registers.errors import Cause

__all__ = ["READ_BYTES_BITS", "ReadError", "Reader", "Run"]

READ_BYTES_BITS = 8

PAUSE_BITS = 6
"""Width, in bits, of the longest pause between beats that is told from the latency of memory."""


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


class _Request(data.StructLayout):
    """A burst that is to be read."""

    def __init__(self, config: AcceleratorConfig):
        burst = Burst(config)
        fields = ("address", "beats_minus_1", "bytes", "permitted")
        super().__init__({name: burst.members[name] for name in fields})


class _Pending(data.StructLayout):
    """A burst in flight."""

    def __init__(self) -> None:
        super().__init__({"address": unsigned(DRAM_ADDRESS_BITS), "throttled": 1})


class ReadError(data.StructLayout):
    """The first error in the order of the bursts, and the first address of its burst."""

    def __init__(self) -> None:
        super().__init__({"cause": Cause, "address": unsigned(DRAM_ADDRESS_BITS)})


class Reader(Component):
    """Reads segments in bursts, several of them in flight.

    Says in `runs` which bytes the beats hold, not later than the beats arrive.  A segment that is
    zero is not read and has no beats.  An address is on offer `LATENCY` cycles after its segment
    was accepted, and one leaves per cycle, as long as fewer than ``config.read_requests`` bursts
    are in flight: between their address and their last beat.  Nothing that the memory signals in a
    cycle is seen in that cycle by ``segments``, ``runs`` or what is signaled to the memory.

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
    pauses : ``Out(1)``
        Memory pauses between beats: inside of a burst, or behind one no longer than it did inside.
    outstanding : ``Out(1)``
        A burst is in flight whose address was accepted.
    throttled : ``Out(1)``
        The oldest burst's address was held back, because too many were in flight.
    read_bytes : ``Out(unsigned(READ_BYTES_BITS))``
        Useful bytes of the burst whose address is accepted in this cycle.
    """

    LATENCY = 2

    segments: stream.Interface
    limits: Annotated[data.View, In(Limits())]
    stop: Annotated[Signal, In(1)]
    port: Any
    runs: stream.Interface
    beats: stream.Interface
    failed: Annotated[Signal, Out(1)]
    error: Annotated[data.View, Out(ReadError())]
    in_flight: Annotated[Signal, Out(1)]
    pauses: Annotated[Signal, Out(1)]
    outstanding: Annotated[Signal, Out(1)]
    throttled: Annotated[Signal, Out(1)]
    read_bytes: Annotated[Signal, Out(unsigned(READ_BYTES_BITS))]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "segments": In(stream.Signature(LoadSegment(config))),
            "port": Out(ReadPort(config)),
            "runs": Out(stream.Signature(Run(config))),
            "beats": Out(stream.Signature(CheckedBeat(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self.config)
        # Two requests, so that neither side waits for the other's handshake in the same cycle.
        m.submodules.requests = requests = Queue(_Request(self.config), 2)
        # The bursts in flight, for error reports; and their number.
        depth = self.config.read_requests
        m.submodules.pending = pending = Queue(_Pending(), depth)
        # Twice as many, since a run stays longer than its bursts are in flight.
        m.submodules.queue = queue = Queue(Run(self.config), 2 * depth)
        wiring.connect(m, queue.o, wiring.flipped(self.runs))

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

        # A burst becomes a run, or a part of one, and a request, if there is anything to read.
        m.d.comb += [
            splitter.bursts.ready.eq(queue.i.ready & (zero | requests.i.ready)),
            queue.i.valid.eq(splitter.bursts.valid & burst.chunk_first & (zero | requests.i.ready)),
            requests.i.valid.eq(splitter.bursts.valid & ~zero & queue.i.ready),
        ]
        with m.If(splitter.bursts.valid):
            run = queue.i.p
            m.d.comb += [
                run.offset.eq(burst.address[: len(run.offset)]),
                run.bytes.eq(burst.chunk_bytes),
                run.row.eq(row),
                run.zero.eq(zero),
                run.first.eq(burst.first),
                run.last.eq(burst.chunk_last),
                run.op_last.eq(op_last & burst.chunk_last),
            ]
            m.d.comb += [
                requests.i.p[name].eq(burst[name])
                for name in ("address", "beats_minus_1", "bytes", "permitted")
            ]

        forbidden = self._request(m, requests, pending)
        self._respond(m, pending, forbidden, requests.o.p.address)
        return m

    def _request(self, m: Module, requests: Queue, pending: Queue) -> Value:
        """Offer the addresses of `requests`; returns whether the one on offer is forbidden."""
        port, request = self.port.ar, requests.o.p
        held = Signal(name="ar_held")  # The address on offer was so before, and must stand.
        sent, forbidden = Signal(), Signal()
        throttled = Signal()  # The address on offer had to wait for a burst to end.
        may_start = ~self.stop & ~self.failed
        m.d.comb += [
            port.valid.eq(
                requests.o.valid & request.permitted & pending.i.ready & (held | may_start)
            ),
            port.p.address.eq(request.address),
            port.p.beats_minus_1.eq(request.beats_minus_1),
            sent.eq(port.valid & port.ready),
            forbidden.eq(requests.o.valid & ~request.permitted & may_start),
            requests.o.ready.eq(sent | forbidden),
            pending.i.valid.eq(sent),
            pending.i.p.address.eq(request.address),
            pending.i.p.throttled.eq(throttled),
            self.throttled.eq(pending.o.p.throttled),
            self.outstanding.eq(pending.o.valid),
            self.in_flight.eq(pending.o.valid | held),
            self.read_bytes.eq(Mux(sent, request.bytes, 0)),
        ]
        m.d.sync += held.eq(port.valid & ~port.ready)
        with m.If(requests.o.valid & ~pending.i.ready):
            m.d.sync += throttled.eq(1)
        with m.Elif(sent):
            m.d.sync += throttled.eq(0)
        return forbidden

    def _respond(self, m: Module, pending: Queue, forbidden: Value, address: Value) -> None:
        """Pass beats on, and keep the first error."""
        response = self.port.r
        # A bad beat, in the place of a burst that was forbidden: it is yet to come, or on offer.
        error_beat_due, error_beat = Signal(), Signal()
        m.d.comb += [
            error_beat.eq(error_beat_due & ~pending.o.valid),
            self.beats.valid.eq(response.valid | error_beat),
            response.ready.eq(self.beats.ready),
            pending.o.ready.eq(response.valid & response.ready & response.p.last),
        ]
        with m.If(self.beats.valid):
            m.d.comb += [
                self.beats.p.data.eq(response.p.data),
                self.beats.p.bad.eq((response.p.response != RESPONSE_OKAY) | error_beat),
            ]
        with m.If(error_beat & self.beats.ready):
            m.d.sync += error_beat_due.eq(0)

        m.d.sync += Assert(~response.valid | pending.o.valid, "a beat that nobody asked for")
        self._pause(m, pending.o.valid)

        # Bursts in flight come before a forbidden one, so that their errors take precedence.
        refused = Signal()
        with m.If(forbidden):
            m.d.sync += [
                error_beat_due.eq(1),
                self.failed.eq(1),
                self.error.cause.eq(Cause.READ_LIMIT),
                self.error.address.eq(address),
            ]
        with m.If(response.valid & response.ready & self.beats.p.bad & ~refused):
            m.d.sync += [
                refused.eq(1),
                self.failed.eq(1),
                self.error.cause.eq(Cause.READ_RESPONSE),
                self.error.address.eq(pending.o.p.address),
            ]

    def _pause(self, m: Module, waiting: Value) -> None:
        """Tell pauses of a memory that is slow from those of one that has not begun."""
        response = self.port.r
        in_burst = Signal()  # The burst has had a beat.
        pause, last_pause = Signal(PAUSE_BITS), Signal(PAUSE_BITS)
        m.d.comb += self.pauses.eq(waiting & (in_burst | (pause < last_pause)))
        with m.If(response.valid & response.ready):
            m.d.sync += [in_burst.eq(~response.p.last), pause.eq(0)]
            with m.If(in_burst):
                m.d.sync += last_pause.eq(pause)
        with m.Elif(waiting & ~response.valid & ~pause.all()):
            m.d.sync += pause.eq(pause + 1)
