"""Reads commands from memory."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bursts import BurstSplitter
from celosia.hw.bus.bus import RESPONSE_OKAY, AddressRequest, Fault, Limits, ReadPort
from celosia.hw.bus.window import CheckedBeat
from celosia.hw.host.ring_gear import RingGear
from celosia.hw.host.ring_pointers import RingRun
from celosia.hw.lib.layouts import COMMAND
from celosia.hw.lib.queue import Queue
from celosia.hw.lib.sleep import Sleeping
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId

__all__ = ["RingFetcher"]

PREFETCH_BYTES = 2048
"""Room for beats that were asked for.  The ring's beats also wait for those of loads, which may be
as many."""

URGENT_BYTES = 512
"""Bytes of the ring, asked for and not used, up to which it goes before loads: a command every two
cycles at a latency of 40.  From rest no more is asked for, so that the first loads of a program do
not wait for commands that come much later."""

GROWTH = 4
"""Beats that are used for each one more that is asked for ahead: a power of two."""

REQUEST_BITS = (MAX_REQUEST_BYTES - 1).bit_length()

RUNS = 4
"""Runs that may be in flight."""


class RingFetcher(Sleeping):
    """Fetches the entries of runs, in order, ahead of their use.

    Bursts end at multiples of 64 bytes, and only what there is room for is asked for, so that no
    beat ever waits.  The address of a run's first burst is on offer `LATENCY` cycles after the run
    was accepted.  Sustains a command every two cycles where a beat has 128 bits or more, and what
    the bus carries elsewhere, as long as what it asks for ahead covers the latency of memory: from
    rest `URGENT_BYTES`, and by `GROWTH` more and more up to `PREFETCH_BYTES` as commands are used.

    What is wrong with an entry is a fault when it is its turn: all commands before it have been
    accepted, and are over.  No burst follows one that is outside the limits.  After a fault, or
    under ``halt``, no burst is begun any more; those in flight are answered.  Only a reset ends
    this.

    Members
    -------
    runs : ``In(stream.Signature(RingRun()))``
        What to fetch.
    limits : ``In(Limits())``
        Bytes that may be read.
    port : ``Out(ReadPort(config))``
        The memory.
    commands : ``Out(stream.Signature(COMMAND))``
        The entries.
    core_busy : ``In(1)``
        Commands are not over yet.
    halt : ``In(1)``
        Begin nothing.
    fault : ``Out(Fault())``
        What is wrong with the next entry.
    in_flight : ``Out(1)``
        A burst is on offer or not answered.
    urgent : ``Out(1)``
        Commands may run out: the address on offer should go before others.
    """

    LATENCY = 3

    runs: Annotated[stream.Interface, In(stream.Signature(RingRun()))]
    limits: Annotated[data.View, In(Limits())]
    port: Any
    commands: Annotated[stream.Interface, Out(stream.Signature(COMMAND))]
    core_busy: Annotated[Signal, In(1)]
    halt: Annotated[Signal, In(1)]
    fault: Annotated[data.View, Out(Fault())]
    in_flight: Annotated[Signal, Out(1)]
    urgent: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({"port": Out(ReadPort(config))})

    def build(self, m: Module, outer: Module) -> Value:
        self._room = PREFETCH_BYTES // self.config.bus_bytes
        self._first = URGENT_BYTES // self.config.bus_bytes
        # Beats that may be asked for and not used at a time; and those of them that are.
        self._window = Signal(range(self._room + 1), init=self._first)
        self._owed = Signal(range(self._room + 1))
        m.submodules.splitter = splitter = BurstSplitter(self.config)
        m.submodules.gear = gear = RingGear(self.config)
        m.submodules.gear_runs = gear_runs = Queue(RingRun(), RUNS)
        connect(m, gear_runs.o, gear.runs)
        m.d.comb += [
            self.commands.payload.eq(gear.commands.payload),
            self.commands.valid.eq(gear.commands.valid & ~self.halt),
            gear.commands.ready.eq(self.commands.ready & ~self.halt),
            gear_runs.i.p.eq(self.runs.p),
            splitter.limits.eq(self.limits),
        ]
        beyond = self._walk(m, splitter, gear_runs)
        requested = self._request(m, splitter)
        self._receive(m, gear, requested)

        # A burst outside the limits is never taken: once all before it have come, the words that
        # are missing are its own.
        forbidden = Mux(splitter.bursts.valid, ~splitter.bursts.p.permitted, beyond)
        refused = gear.starved & forbidden & (self._owed == 0)
        with m.If((refused | (gear.cause != Cause.NONE)) & ~self.core_busy):
            m.d.comb += [
                self.fault.valid.eq(1),
                self.fault.cause.eq(Mux(refused, Cause.READ_LIMIT, gear.cause)),
                self.fault.address.eq(gear.address),
                self.fault.id.eq(BusId.RING),
            ]
        streams = (self.runs, gear_runs.o, splitter.segments, splitter.bursts, self.port.ar)
        streams = (*streams, gear.beats, self.commands)
        moves = Cat(stream.valid & stream.ready for stream in streams).any()
        return moves | self.port.r.valid | gear.drops

    def _walk(self, m: Module, splitter: BurstSplitter, gear_runs: Queue) -> Value:
        """Cut runs at multiples of 64 bytes; returns whether one runs past the end of memory."""
        run, segment = self.runs.p, splitter.segments.p
        active = Signal()
        address = Signal.like(run.address, reset_less=True)
        left = Signal(range(RING_ENTRY.size << len(run.entries)), reset_less=True)
        beyond, count = Signal(), Signal.like(segment.bytes)
        with m.If(active):
            room = MAX_REQUEST_BYTES - address[:REQUEST_BITS]
            m.d.comb += [
                beyond.eq(address[-1]),
                count.eq(Mux(left > room, room, left)),
                splitter.segments.valid.eq(~beyond),
                segment.address.eq(address),
                segment.bytes.eq(count),
            ]
            with m.If(splitter.segments.valid & splitter.segments.ready):
                m.d.sync += [
                    address.eq(address + count),
                    left.eq(left - count),
                    active.eq(left != count),
                ]
        m.d.comb += [
            self.runs.ready.eq(~active & gear_runs.i.ready),
            gear_runs.i.valid.eq(self.runs.valid & ~active),
        ]
        with m.If(self.runs.valid & self.runs.ready):
            m.d.sync += [
                active.eq(1),
                address.eq(run.address),
                left.eq(run.entries * RING_ENTRY.size),
            ]
        return beyond

    def _request(self, m: Module, splitter: BurstSplitter) -> Signal:
        """Offer addresses of bursts that there is room for; returns the beats of a new one."""
        # What is in here is offered, come what may.
        m.submodules.addresses = addresses = Queue(AddressRequest(), 2)
        connect(m, addresses.o, flipped(self.port.ar))
        with m.If(addresses.o.valid):
            m.d.comb += self.urgent.eq(self._owed <= self._first)
        bursts, burst = splitter.bursts, splitter.bursts.p
        beats, begun = Signal(range(self._room + 1)), Signal()
        with m.If(bursts.valid & ~self.halt):
            m.d.comb += begun.eq(
                burst.permitted
                & addresses.i.ready
                & (self._owed + burst.beats_minus_1 < self._window)
            )
        with m.If(begun):
            m.d.comb += beats.eq(burst.beats_minus_1 + 1)
        m.d.comb += [
            bursts.ready.eq(begun),
            addresses.i.valid.eq(begun),
            addresses.i.p.address.eq(burst.address),
            addresses.i.p.beats_minus_1.eq(burst.beats_minus_1),
        ]
        return beats

    def _receive(self, m: Module, gear: RingGear, requested: Signal) -> None:
        """Keep beats until they are used."""
        m.submodules.beats = queue = Queue(CheckedBeat(self.config), self._room, clocked=True)
        connect(m, queue.o, gear.beats)
        arrives, leaves = Signal(), Signal()
        response = self.port.r
        m.d.comb += [
            response.ready.eq(1),
            queue.i.valid.eq(response.valid),
            queue.i.p.data.eq(response.p.data),
            queue.i.p.bad.eq(response.p.response != RESPONSE_OKAY),
            arrives.eq(response.valid),
            leaves.eq(queue.o.valid & queue.o.ready),
        ]
        flying = Signal.like(requested)  # Beats that were asked for and have not arrived.
        with m.If((requested != 0) | leaves):
            m.d.sync += self._owed.eq(self._owed + requested - leaves)
        used = Signal(range(GROWTH))  # Beats since the window grew.
        with m.If(leaves):
            m.d.sync += used.eq(used + 1)
        with m.If(leaves & (used == GROWTH - 1) & (self._window != self._room)):
            m.d.sync += self._window.eq(self._window + 1)
        with m.Elif(self.runs.valid & self.runs.ready & (self._owed == 0)):
            m.d.sync += self._window.eq(self._first)
        with m.If((requested != 0) | arrives):
            m.d.sync += flying.eq(flying + requested - arrives)
        m.d.comb += self.in_flight.eq(flying != 0)
