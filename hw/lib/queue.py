"""A queue that costs a simulation next to nothing while it rests."""

from amaranth import Module, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["Queue"]


class Queue(wiring.Component):
    """First in, first out.

    An entry is on offer in the cycle after it was accepted; one comes in and one goes out per
    cycle.  Neither side sees the other's handshake in the same cycle.

    Parameters
    ----------
    shape : shape-like
        Shape of an entry.
    depth : int
        Entries that fit, a power of two.

    Members
    -------
    i : ``In(stream.Signature(shape))``
        Entries.
    o : ``Out(stream.Signature(shape))``
        The same, in order.
    """

    LATENCY = 1

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape: ShapeLike = 8, depth: int = 4):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth: {depth} is not a power of two of at least 2")
        self.shape = shape
        self.depth = depth
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self.shape, depth=self.depth, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")

        # One bit more than an address, which tells full from empty.
        written = Signal(range(2 * self.depth))
        taken = Signal(range(2 * self.depth))
        accepts = Signal()
        m.d.comb += [
            self.i.ready.eq((written ^ taken) != self.depth),
            self.o.valid.eq(written != taken),
            accepts.eq(self.i.valid & self.i.ready),
            write.en.eq(accepts),
            write.addr.eq(written[:-1]),
            Value.cast(write.data).eq(Value.cast(self.i.p)),
            read.addr.eq(taken[:-1]),
            Value.cast(self.o.p).eq(Value.cast(read.data)),
        ]
        with m.If(accepts):
            m.d.sync += written.eq(written + 1)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += taken.eq(taken + 1)
        return m
