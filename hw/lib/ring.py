"""Values that wait for a pipeline of fixed length, without moving."""

from typing import Annotated, Any

from amaranth import Module, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component

__all__ = ["Ring"]


class Ring(Component):
    """Keeps values, in order, until they are taken.

    What travels beside a long pipeline would be copied in every cycle; here it is written once and
    read once.  Nobody looks whether there is room: no more than `depth` values may be put and not
    taken, and none may be taken in the cycle in which it is put.

    Parameters
    ----------
    shape : shape-like
        Shape of a value.
    depth : int
        How many values may wait; rounded up to a power of two.

    Members
    -------
    put : ``In(1)``
        There is a new `value`.
    value : ``In(shape)``
        What is put.
    take : ``In(1)``
        `oldest` is not needed from the next cycle on.
    oldest : ``Out(shape)``
        The value that was put first, of those that were not taken.
    """

    put: Annotated[Signal, In(1)]
    value: Any
    take: Annotated[Signal, In(1)]
    oldest: Any

    def __init__(self, shape: ShapeLike = 8, depth: int = 16):
        if depth < 2:
            raise ValueError(f"depth: {depth} is less than 2")
        self.shape = shape
        self.depth = 1 << (depth - 1).bit_length()
        super().__init__({
            "value": In(shape),
            "oldest": Out(shape),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self.shape, depth=self.depth, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        put_at, take_at = Signal(range(self.depth)), Signal(range(self.depth))
        m.d.comb += [
            write.en.eq(self.put),
            write.addr.eq(put_at),
            Value.cast(write.data).eq(Value.cast(self.value)),
            read.addr.eq(take_at),
            Value.cast(self.oldest).eq(Value.cast(read.data)),
        ]
        with m.If(self.put):
            m.d.sync += put_at.eq(put_at + 1)
        with m.If(self.take):
            m.d.sync += take_at.eq(take_at + 1)
        return m
