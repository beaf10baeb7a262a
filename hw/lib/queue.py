"""A queue that costs a simulation next to nothing while it rests."""

from amaranth import Module, Mux, Signal, Value
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
    clocked : bool
        Keep them in a memory that is read with a clock, block RAM on an FPGA: for many entries.

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

    def __init__(self, shape: ShapeLike = 8, depth: int = 4, clocked: bool = False):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth: {depth} is not a power of two of at least 2")
        self.shape = shape
        self.depth = depth
        self.clocked = clocked
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self.shape, depth=self.depth, init=[])
        write = memory.write_port()

        # One bit more than an address, which tells full from empty.
        written = Signal(range(2 * self.depth))
        taken = Signal(range(2 * self.depth))
        accepts, leaves = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq((written ^ taken) != self.depth),
            self.o.valid.eq(written != taken),
            accepts.eq(self.i.valid & self.i.ready),
            leaves.eq(self.o.valid & self.o.ready),
            write.en.eq(accepts),
            write.addr.eq(written[:-1]),
            Value.cast(write.data).eq(Value.cast(self.i.p)),
        ]
        with m.If(accepts):
            m.d.sync += written.eq(written + 1)
        with m.If(leaves):
            m.d.sync += taken.eq(taken + 1)

        if not self.clocked:
            read = memory.read_port(domain="comb")
            m.d.comb += [
                read.addr.eq(taken[:-1]),
                Value.cast(self.o.p).eq(Value.cast(read.data)),
            ]
            return m
        # The entry on offer in the next cycle is read in this one, unless it only comes now.
        read = memory.read_port()
        oldest = Signal.like(taken)
        comes = Signal()
        newest = Signal.like(Value.cast(self.i.p), reset_less=True)
        fresh = Signal(reset_less=True)  # What is on offer is in `newest`.
        m.d.comb += [
            oldest.eq(Mux(leaves, taken + 1, taken)),
            comes.eq(accepts & (written == oldest)),
            read.en.eq(leaves),
            read.addr.eq(oldest[:-1]),
            Value.cast(self.o.p).eq(Mux(fresh, newest, Value.cast(read.data))),
        ]
        with m.If(comes):
            m.d.sync += [newest.eq(Value.cast(self.i.p)), fresh.eq(1)]
        with m.Elif(leaves):
            m.d.sync += fresh.eq(0)
        return m
