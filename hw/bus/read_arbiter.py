"""The arbiter of reads from memory, between loads and the ring."""

from typing import Annotated, Any

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import ReadPort, SharedReadPort
from celosia.hw.lib.component import Component
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.map import BusId

__all__ = ["ReadArbiter"]


class ReadArbiter(Component):
    """Lets loads and the ring share AR and R, by ID.

    Adds no cycle to either.  The ring goes first if it is urgent, else the loads, but an address on
    offer stands until it is accepted.  Beats may come in any order across IDs.  R is accepted when
    loads accept: the ring has room for all that it asked for, and never refuses a beat.  Nothing
    that memory signals in a cycle is signaled back in that cycle.

    Members
    -------
    load : ``In(ReadPort(config))``
        Reads of `BusId.DATA`.
    ring : ``In(ReadPort(config))``
        Reads of `BusId.RING`; its ``r.ready`` is not looked at.
    urgent : ``In(1)``
        The ring goes first.
    memory : ``Out(SharedReadPort(config))``
        Both.
    """

    load: Any
    ring: Any
    urgent: Annotated[Signal, In(1)]
    memory: Any

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "load": In(ReadPort(config)),
            "ring": In(ReadPort(config)),
            "memory": Out(SharedReadPort(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        load, ring, ar, r = self.load, self.ring, self.memory.ar, self.memory.r
        load_held = Signal()  # It was on offer in the cycle before.
        ring_held = Signal()
        ring_goes = Signal()
        m.d.comb += [
            ring_goes.eq(ring.ar.valid & ~load_held & (self.urgent | ring_held | ~load.ar.valid)),
            ar.valid.eq(load.ar.valid | ring_goes),
            ar.p.id.eq(Mux(ring_goes, BusId.RING, BusId.DATA)),
            ar.p.request.eq(Mux(ring_goes, ring.ar.p, load.ar.p)),
            load.ar.ready.eq(ar.ready & ~ring_goes),
            ring.ar.ready.eq(ar.ready & ring_goes),
        ]
        m.d.sync += [
            load_held.eq(load.ar.valid & ~ring_goes & ~ar.ready),
            ring_held.eq(ring_goes & ~ar.ready),
        ]

        ring_comes = r.p.id == BusId.RING
        m.d.comb += [
            r.ready.eq(load.r.ready),
            load.r.valid.eq(r.valid & ~ring_comes),
            load.r.p.eq(r.p.beat),
            ring.r.valid.eq(r.valid & ring_comes & r.ready),
            ring.r.p.eq(r.p.beat),
        ]
        return m
