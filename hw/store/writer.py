"""The write side of the memory port."""

from typing import Annotated, Any

from amaranth import Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bursts import Burst, BurstSplitter
from celosia.hw.bus.bus import RESPONSE_OKAY, AddressRequest, Fault, Limits, WritePort
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS, TAG_BITS
from celosia.hw.lib.component import Component
from celosia.hw.lib.queue import Queue
from celosia.hw.store.drain import StoreWord
from celosia.hw.store.pack import PackBurst, Packer
from celosia.hw.store.segments import StoreSegment
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.registers.errors import Cause

__all__ = ["Writer"]

ADDRESS_QUEUE = 2
"""Bursts whose address waits for AW: as many as it takes to issue one per cycle."""

PACK_QUEUE = 8
"""Bursts whose address is issued and whose data is not made yet; it bridges a slow AW channel."""


class _Pending(data.StructLayout):
    """A burst without a response."""

    def __init__(self) -> None:
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "tag": unsigned(TAG_BITS),
            "last": 1,  # Of its operation.
        })


_OF_BURSTS = ("address", "bytes", "beats_minus_1", "permitted", "last")


class _CutBurst(data.StructLayout):
    """A burst that is not issued, with what is known of its segment."""

    def __init__(self, config: AcceleratorConfig):
        burst = Burst(config).members
        super().__init__({
            **{name: burst[name] for name in _OF_BURSTS},
            "origin": range(config.bus_bytes),  # The segment's first byte, in its beat.
            "tag": unsigned(TAG_BITS),
            "op_last": 1,  # The last burst of its operation.
        })


class Writer(Component):
    """Writes segments to memory.

    A segment becomes the bursts of `BurstSplitter`; each of them goes into a register, with whether
    it is permitted.  From there it is issued, at most one per cycle, when fewer than
    ``write_requests`` are in flight: its address is on offer on AW in the cycle after, and its
    first beat on W `DATA_LATENCY` cycles later, if its bytes are there.  Beats follow each
    other at one per cycle, over bursts and segments.  No beat comes before its address; else AW and
    W wait for nothing of each other but their queues.

    A burst outside the limits is not issued; it, or a response other than OKAY, is a fault (the
    first one only).  After a fault, and under ``halt``, nothing is issued any more.  Bursts that
    are in flight get their beats and responses; the rest stays where it is, until a reset.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``bus_bits`` and ``write_requests``.

    Members
    -------
    segments : ``In(stream.Signature(StoreSegment(config)))``
        What to write.
    words : ``In(stream.Signature(StoreWord(config)))``
        Its bytes.  Those of a segment that was accepted must come.
    port : ``Out(WritePort(config))``
        The memory.
    limits : ``In(Limits())``
        Bytes that may be written.
    halt : ``In(1)``
        Another unit failed.
    fault : ``Out(Fault())``
        A failed burst; one cycle after it was found.
    stopped : ``Out(1)``
        Nothing is issued any more.
    done : ``Out(1)``
        The last response of an operation was accepted in the cycle before, and all were OKAY.
    in_flight : ``Out(1)``
        There is a burst without a response.
    write_bytes : ``Out(unsigned(8))``
        Bytes of the burst whose address is accepted in this cycle.
    issued : ``Out(1)``
        The last burst of an operation is issued.
    unsent : ``Out(1)``
        There is a burst whose last beat was not accepted.
    no_credit : ``Out(1)``
        A burst waits for one in flight to end.
    """

    DATA_LATENCY = Packer.LATENCY

    segments: stream.Interface
    words: stream.Interface
    port: Any
    limits: Annotated[data.View, In(Limits())]
    halt: Annotated[Signal, In(1)]
    fault: Annotated[data.View, Out(Fault())]
    stopped: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    in_flight: Annotated[Signal, Out(1)]
    write_bytes: Annotated[Signal, Out(unsigned(8))]
    issued: Annotated[Signal, Out(1)]
    unsent: Annotated[Signal, Out(1)]
    no_credit: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "segments": In(stream.Signature(StoreSegment(config))),
            "words": In(stream.Signature(StoreWord(config))),
            "port": Out(WritePort(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self.config)
        m.submodules.packer = packer = Packer(self.config)
        # An entry per burst in flight, whose number it so bounds.
        m.submodules.pending = pending = Queue(_Pending(), depth=self.config.write_requests)
        connect(m, flipped(self.words), packer.words)
        connect(m, packer.beats, flipped(self.port.w))

        issue, waiting = Signal(), Signal()
        burst = self._cut(m, splitter, waiting, issue)
        addresses = self._address(m, burst, issue)
        packs = self._pack(m, packer, burst, issue)
        room = addresses.i.ready & packs.i.ready & pending.i.ready
        m.d.comb += [
            issue.eq(waiting & burst.permitted & room & ~self.stopped),
            pending.i.valid.eq(issue),
            pending.i.p.address.eq(burst.address),
            pending.i.p.tag.eq(burst.tag),
            pending.i.p.last.eq(burst.op_last),
            pending.o.ready.eq(self.port.b.valid),
            self.port.b.ready.eq(1),
            self.in_flight.eq(pending.o.valid),
        ]
        # No beat before its address is on offer, which it is not behind another one.
        count = Signal(range(PACK_QUEUE + 1))  # Entries of `packs`.
        packed = packer.bursts.valid & packer.bursts.ready
        with m.If(issue != packed):
            m.d.sync += count.eq(Mux(issue, count + 1, count - 1))
        m.d.comb += [
            packer.bursts.valid.eq(packs.o.valid & (addresses.i.ready | (count != 1))),
            packs.o.ready.eq(packed),
        ]
        unsent = Signal(range(self.config.write_requests + 1))
        ends = self.port.w.valid & self.port.w.ready & self.port.w.p.last
        with m.If(issue != ends):
            m.d.sync += unsent.eq(Mux(issue, unsent + 1, unsent - 1))
        m.d.comb += [
            self.issued.eq(issue & burst.op_last),
            self.unsent.eq(unsent != 0),
            self.no_credit.eq(waiting & ~pending.i.ready),
        ]
        self._report(m, pending.o.p, waiting & ~burst.permitted, burst.address, burst.tag)
        return m

    def _cut(self, m: Module, splitter: BurstSplitter, waiting: Signal, issue: Value) -> data.View:
        """Cut segments, and return the register of the burst that is next, while `waiting`."""
        segment, cut = self.segments.p, splitter.bursts.p
        origin = Signal(range(self.config.bus_bytes), reset_less=True)  # Of the segment being cut.
        tag = Signal(TAG_BITS, reset_less=True)
        last = Signal(reset_less=True)
        m.d.comb += [
            splitter.limits.eq(self.limits),
            splitter.segments.valid.eq(self.segments.valid),
            splitter.segments.p.address.eq(segment.address),
            splitter.segments.p.bytes.eq(segment.bytes),
            self.segments.ready.eq(splitter.segments.ready),
            splitter.bursts.ready.eq(~waiting | issue),
        ]
        with m.If(self.segments.valid & self.segments.ready):
            m.d.sync += [origin.eq(segment.address), tag.eq(segment.tag), last.eq(segment.last)]

        burst = Signal(_CutBurst(self.config), reset_less=True)
        with m.If(splitter.bursts.ready):
            m.d.sync += waiting.eq(splitter.bursts.valid)
        with m.If(splitter.bursts.ready & splitter.bursts.valid):
            m.d.sync += [burst[name].eq(cut[name]) for name in _OF_BURSTS]
            m.d.sync += [
                burst.origin.eq(origin),
                burst.tag.eq(tag),
                burst.op_last.eq(last & cut.last),
            ]
        return burst

    def _address(self, m: Module, burst: data.View, issue: Value) -> Queue:
        """The queue of addresses, of which `burst` is the next one when `issue`."""
        layout = data.StructLayout({
            "request": AddressRequest(),
            "bytes": range(MAX_REQUEST_BYTES + 1),
        })
        m.submodules.addresses = queue = Queue(layout, depth=ADDRESS_QUEUE)
        m.d.comb += [
            queue.i.valid.eq(issue),
            queue.i.p.request.address.eq(burst.address),
            queue.i.p.request.beats_minus_1.eq(burst.beats_minus_1),
            queue.i.p.bytes.eq(burst.bytes),
            self.port.aw.valid.eq(queue.o.valid),
            self.port.aw.p.eq(queue.o.p.request),
            queue.o.ready.eq(self.port.aw.ready),
            self.write_bytes.eq(Mux(queue.o.valid & queue.o.ready, queue.o.p.bytes, 0)),
        ]
        return queue

    def _pack(self, m: Module, packer: Packer, burst: data.View, issue: Value):
        """The queue of what the packer makes, of which `burst` is the next one when `issue`."""
        m.submodules.packs = queue = Queue(PackBurst(self.config), depth=PACK_QUEUE)
        entry = queue.i.p
        m.d.comb += [
            queue.i.valid.eq(issue),
            entry.origin.eq(burst.origin),
            entry.first.eq(burst.address),
            entry.last.eq(burst.address[: len(entry.last)] + burst.bytes - 1),
            entry.beats_minus_1.eq(burst.beats_minus_1),
            entry.last_in_segment.eq(burst.last),
            packer.bursts.p.eq(queue.o.p),
        ]
        return queue

    def _report(
        self, m: Module, answered: data.View, forbidden: Value, address: Value, tag: Value
    ) -> None:
        """Tell operations that are done, and the first fault."""
        stopped = Signal()  # Also when `halt` is gone.
        bad = self.port.b.valid & (self.port.b.p.response != RESPONSE_OKAY)
        found = Signal()
        m.d.comb += [
            self.stopped.eq(stopped | self.halt),
            found.eq((bad | forbidden) & ~self.stopped),
        ]
        m.d.sync += [
            stopped.eq(self.stopped | found),
            self.done.eq(self.port.b.valid & ~bad & answered.last & ~self.stopped),
            self.fault.valid.eq(found),
        ]
        with m.If(found):
            m.d.sync += [
                self.fault.cause.eq(Mux(bad, Cause.WRITE_RESPONSE, Cause.WRITE_LIMIT)),
                self.fault.address.eq(Mux(bad, answered.address, address)),
                self.fault.tag.eq(Mux(bad, answered.tag, tag)),
            ]
