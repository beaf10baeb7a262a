"""Loads that wait for stores: counters of finished stores, and a gate before the load path."""

from typing import Annotated

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import LoadOp
from celosia.hw.lib.component import Component
from celosia.hw.store.path import max_stores
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.tokens import COUNT_BITS, TOKEN_BITS, TOKENS

__all__ = ["Signalling", "TokenReport", "Tokens"]


class Signalling(data.StructLayout):
    """What a store does when it has finished."""

    def __init__(self) -> None:
        super().__init__({"signal": 1, "token": unsigned(TOKEN_BITS)})


class TokenReport(data.StructLayout):
    """The token that a load waits for; the other fields mean nothing unless it `waits`."""

    def __init__(self) -> None:
        super().__init__({
            "waits": 1,
            "token": unsigned(TOKEN_BITS),
            "count": unsigned(COUNT_BITS),  # Stores that it waits for.
            "finished": unsigned(COUNT_BITS),  # Stores that have finished.
        })


class Tokens(Component):
    """Counts finished stores, and holds loads back until there are enough of them.

    Loads pass in the cycle in which they are on offer, in order.  One with ``wait`` passes as soon
    as counter ``wait_token`` is at least ``wait_count``: `LATENCY` cycles after the ``done`` that
    makes it so.  Until then it stands, and with it those behind it; nobody else waits.  Counters
    wrap after 32 bits.

    Stores end in the order in which they start.  What each one counts for is kept in between.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies the number of stores that can be under way.

    State
    -----
    `counters`: stores that have finished, by token, each of 32 bits; one that no store has added to
    since the last ``clear`` holds anything, and stands for 0.

    Members
    -------
    i : ``In(stream.Signature(LoadOp(config)))``
        Loads whose hazards have been resolved.  An offer may be withdrawn for good; its payload
        then stands, for ``report``.
    o : ``Out(stream.Signature(LoadOp(config)))``
        The same.
    started : ``In(1)``
        A store starts.
    starting : ``In(Signalling())``
        What it counts for.
    done : ``In(1)``
        The oldest store has finished: its writes are in memory.
    clear : ``In(1)``
        Set all counters to 0.  Only while no store is under way.
    report : ``Out(TokenReport())``
        For what a load has waited in the cycle before, also if its offer has been withdrawn since.
    """

    LATENCY = 1

    i: stream.Interface
    o: stream.Interface
    started: Annotated[Signal, In(1)]
    starting: Annotated[data.View, In(Signalling())]
    done: Annotated[Signal, In(1)]
    clear: Annotated[Signal, In(1)]
    report: Annotated[data.View, Out(TokenReport())]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.counters = Memory(shape=unsigned(COUNT_BITS), depth=TOKENS, init=[])
        super().__init__({
            "i": In(stream.Signature(LoadOp(config))),
            "o": Out(stream.Signature(LoadOp(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.counters = counters = self.counters
        write = counters.write_port()
        old, awaited = counters.read_port(domain="comb"), counters.read_port(domain="comb")
        known = Signal(TOKENS)  # The others are 0, whatever the memory says.

        # Stores: one finishes per cycle, at most.
        ended = self._ending(m)
        m.d.comb += [old.addr.eq(ended.token), write.addr.eq(ended.token)]
        with m.If(self.done & ended.signal):
            again = known.bit_select(ended.token, 1)
            m.d.comb += [write.en.eq(1), write.data.eq(Mux(again, old.data + 1, 1))]
            m.d.sync += known.eq(known | (1 << ended.token))
        with m.If(self.clear):
            m.d.sync += known.eq(0)

        # Loads.
        load, report = self.i.p, self.report
        some, holds = known.bit_select(load.wait_token, 1), Signal()
        m.d.comb += awaited.addr.eq(load.wait_token)
        with m.If(self.i.valid & load.wait):
            with m.If(some):
                m.d.comb += holds.eq(awaited.data < load.wait_count)
            with m.Else():
                m.d.comb += holds.eq(load.wait_count != 0)
        m.d.comb += [
            self.o.p.eq(load),
            self.o.valid.eq(self.i.valid & ~holds),
            self.i.ready.eq(self.o.ready & ~holds),
        ]
        with m.If(self.i.valid):
            m.d.sync += report.waits.eq(holds)
        with m.If(report.waits):  # Before the first load, its fields are not known.
            m.d.comb += [
                report.token.eq(load.wait_token),
                report.count.eq(load.wait_count),
                report.finished.eq(Mux(some, awaited.data, 0)),
            ]
        return m

    def _ending(self, m: Module) -> data.View:
        """What the store that finishes next counts for."""
        depth = 1 << (max_stores(self.config) - 1).bit_length()
        m.submodules.stores = stores = Memory(shape=Signalling(), depth=depth, init=[])
        write, read = stores.write_port(), stores.read_port(domain="comb")
        started, ended = Signal(range(depth)), Signal(range(depth))
        m.d.comb += [
            write.addr.eq(started),
            write.data.eq(self.starting),
            write.en.eq(self.started),
            read.addr.eq(ended),
        ]
        with m.If(self.started):
            m.d.sync += started.eq(started + 1)
        with m.If(self.done):
            m.d.sync += ended.eq(ended + 1)
        return read.data
