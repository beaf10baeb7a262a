"""A queue in a memory that is read with a clock, where what is decided by stands in registers."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["EarlyQueue"]


class EarlyQueue(wiring.Component):
    """First in, first out.

    An entry is on offer `LATENCY` cycles after it was accepted; one comes in and one goes out per
    cycle.  Neither side sees the other's handshake in the same cycle.

    The entry on offer is what a memory has read, which takes a good part of a cycle to come out,
    but for the fields of `early`: they stand in registers.

    Parameters
    ----------
    shape : :class:`amaranth.lib.data.StructLayout`
        Shape of an entry.
    early : sequence of str
        Names of fields; there may be none.
    depth : int
        Entries that fit, one of them on offer: at least 2.

    Members
    -------
    i : ``In(stream.Signature(shape))``
        Entries.
    o : ``Out(stream.Signature(shape))``
        The same, in order.
    held : ``Out(1)``
        There is an entry, on offer or on its way there.
    """

    LATENCY = 2

    i: stream.Interface
    o: stream.Interface
    held: Signal

    def __init__(self, shape: data.StructLayout, early: Sequence[str] = (), depth: int = 5):
        if depth < 2:
            raise ValueError(f"depth: {depth} is less than 2")
        if unknown := [name for name in early if name not in shape.members]:
            raise ValueError(f"early: {unknown[0]} is not a field of the entries")
        self.shape = shape
        self.early = early
        self.depth = depth
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
            "held": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        room = self.depth - 1  # Entries that are not on offer.
        written = Signal(range(room))
        read = Signal(range(room))
        level = Signal(range(room + 1))
        accepts, loads = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(level != room),
            accepts.eq(self.i.valid & self.i.ready),
            loads.eq((level != 0) & (~self.o.valid | self.o.ready)),
            self.held.eq((level != 0) | self.o.valid),
        ]
        with m.If(accepts):
            m.d.sync += written.eq(_after(written, room))
        with m.If(loads):
            m.d.sync += [read.eq(_after(read, room)), self.o.valid.eq(1)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(accepts != loads):
            m.d.sync += level.eq(Mux(accepts, level + 1, level - 1))

        late = [name for name in self.shape.members if name not in self.early]
        for name, fields in (("storage", late), ("early", self.early)):
            if not fields:
                continue
            entry, offer = (Cat(port.p[each] for each in fields) for port in (self.i, self.o))
            memory = Memory(shape=unsigned(len(entry)), depth=room, init=[])
            m.submodules[name] = memory
            write = memory.write_port()
            m.d.comb += [write.en.eq(accepts), write.addr.eq(written), write.data.eq(entry)]
            if fields is late:
                port = memory.read_port(domain="sync")
                m.d.comb += [port.en.eq(loads), offer.eq(port.data)]
            else:
                port = memory.read_port(domain="comb")
                head = Signal(len(entry), name="head", reset_less=True)
                with m.If(loads):
                    m.d.sync += head.eq(port.data)
                m.d.comb += offer.eq(head)
            m.d.comb += port.addr.eq(read)
        return m


def _after(place: Signal, room: int) -> Value:
    """The place after `place`, of as many as there is `room` for."""
    return Mux(place == room - 1, 0, place + 1) if room & (room - 1) else place + 1
