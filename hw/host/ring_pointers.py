"""Where the host and the accelerator stand in the ring."""

from typing import Annotated

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import Fault
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS
from celosia.hw.lib.component import Component
from celosia.hw.lib.layouts import Completed
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId

__all__ = ["ENTRY_NUMBER_BITS", "RingPointers", "RingRun"]

ENTRY_NUMBER_BITS = 32


class RingRun(data.StructLayout):
    """Entries that follow each other in memory, at least one."""

    def __init__(self) -> None:
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS + 1),  # One bit more: past the end of memory.
            "entries": unsigned(ENTRY_NUMBER_BITS),
        })


class RingPointers(Component):
    """Walks the ring from doorbell to doorbell, and counts what has finished.

    The doorbell samples the tail; entries up to it are asked for in runs that end there or at the
    end of the ring, the first one on offer two cycles after the doorbell.  If head or tail are not
    below the size then, it is a fault instead.

    Outlives the reset of the fetcher: `clear` makes everything up to the tail forgotten.

    Members
    -------
    base : ``In(64)``
        Address of entry 0.
    size : ``In(32)``
        Entries of the ring.
    tail : ``In(32)``
        The entry that the host fills next.
    doorbell : ``In(1)``
        Go on up to the tail.
    enable : ``In(1)``
        Ask for entries, and count completions.
    clear : ``In(1)``
        Forget everything before the tail.
    accepted : ``In(1)``
        The command at the head is accepted.
    completed : ``In(Completed())``
        Commands that end.
    gained : ``In(1)``
        A command goes out that is not the last one that an entry stands for.
    runs : ``Out(stream.Signature(RingRun()))``
        What to fetch.
    head : ``Out(32)``
        The entry whose command is accepted next.
    completions : ``Out(32)``
        Entries that have ended.
    empty : ``Out(1)``
        The head is the tail.
    pending : ``Out(1)``
        Commands are left before the last doorbell's tail, or there is a fault.
    fault : ``Out(Fault())``
        A pointer was out of range.
    """

    base: Annotated[Signal, In(DRAM_ADDRESS_BITS)]
    size: Annotated[Signal, In(ENTRY_NUMBER_BITS)]
    tail: Annotated[Signal, In(ENTRY_NUMBER_BITS)]
    doorbell: Annotated[Signal, In(1)]
    enable: Annotated[Signal, In(1)]
    clear: Annotated[Signal, In(1)]
    accepted: Annotated[Signal, In(1)]
    completed: Annotated[data.View, In(Completed())]
    gained: Annotated[Signal, In(1)]
    runs: Annotated[stream.Interface, Out(stream.Signature(RingRun()))]
    head: Annotated[Signal, Out(ENTRY_NUMBER_BITS)]
    completions: Annotated[Signal, Out(ENTRY_NUMBER_BITS)]
    empty: Annotated[Signal, Out(1)]
    pending: Annotated[Signal, Out(1)]
    fault: Annotated[data.View, Out(Fault())]

    def elaborate(self, platform) -> Module:
        m = Module()
        stop = Signal(ENTRY_NUMBER_BITS)  # The tail of the last doorbell.
        ahead = Signal(ENTRY_NUMBER_BITS)  # The first entry that is in no run yet.
        more = Signal(ENTRY_NUMBER_BITS)  # Ends that are yet to come and do not count.
        wrong = Signal()  # In the cycle before, a pointer was out of range.
        m.d.comb += [
            self.empty.eq(self.head == self.tail),
            self.pending.eq((self.enable & (self.head != stop)) | wrong),
        ]
        m.d.sync += wrong.eq(0)
        with m.If(self.doorbell):
            with m.If((self.tail < self.size) & (self.head < self.size)):
                m.d.sync += stop.eq(self.tail)
            with m.Else():
                m.d.sync += wrong.eq(1)
        with m.If(wrong):
            m.d.comb += [
                self.fault.valid.eq(1),
                self.fault.cause.eq(Cause.RING_RANGE),
                self.fault.id.eq(BusId.RING),
            ]
        with m.If(self.accepted):
            next_head = self.head + 1
            m.d.sync += self.head.eq(Mux(next_head == self.size, 0, next_head))
        self._run(m, ahead, stop)

        with m.If(self.enable & (self.completed.as_value().any() | self.gained)):
            self._count(m, more)
        with m.If(self.clear):
            m.d.sync += [pointer.eq(self.tail) for pointer in (self.head, stop, ahead)]
            m.d.sync += more.eq(0)
            m.d.sync += self.runs.valid.eq(0)
        return m

    def _count(self, m: Module, more: Signal) -> None:
        """An entry that stands for many commands counts with one of them."""
        ended = Signal(range(len(self.completed.as_value()) + 1))
        uncounted = more + self.gained
        m.d.comb += ended.eq(sum(self.completed[name] for name, _ in Completed()))
        with m.If(uncounted < ended):
            m.d.sync += [self.completions.eq(self.completions + ended - uncounted), more.eq(0)]
        with m.Else():
            m.d.sync += more.eq(uncounted - ended)

    def _run(self, m: Module, ahead: Signal, stop: Signal) -> None:
        """Offer what is between `ahead` and `stop`, or the end of the ring."""
        run = self.runs.p
        with m.If(self.runs.valid & self.runs.ready):
            m.d.sync += self.runs.valid.eq(0)
        with m.Elif(~self.runs.valid & self.enable & (ahead != stop)):
            entries = Mux(stop > ahead, stop, self.size) - ahead
            m.d.sync += [
                self.runs.valid.eq(1),
                run.address.eq(self.base + ahead * RING_ENTRY.size),
                run.entries.eq(entries),
                ahead.eq(Mux(stop > ahead, stop, 0)),
            ]
