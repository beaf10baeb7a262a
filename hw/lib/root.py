"""The integer square root, one bit a cycle."""

from typing import Annotated

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.isa.numerics import ISQRT_BITS

__all__ = ["ROOT_BITS", "Root"]

ROOT_BITS = ISQRT_BITS // 2


class Root(Component):
    """The largest integer whose square is at most a number: `celosia.isa.numerics.isqrt`.

    The root is on offer `LATENCY` cycles after its number was accepted, and the next number is
    accepted in the cycle in which the root is taken: one root in `LATENCY` cycles.

    Members
    -------
    i : ``In(stream.Signature(48))``
        Numbers.
    o : ``Out(stream.Signature(24))``
        Their roots.
    """

    LATENCY = ROOT_BITS + 1

    i: Annotated[stream.Interface, In(stream.Signature(unsigned(ISQRT_BITS)))]
    o: Annotated[stream.Interface, Out(stream.Signature(unsigned(ROOT_BITS)))]

    def elaborate(self, platform) -> Module:
        m = Module()
        running = Signal()
        left = Signal(range(ROOT_BITS), reset_less=True)  # Steps after this one.
        number = Signal(ISQRT_BITS, reset_less=True)  # Bits that are not used yet, from the top.
        root = Signal(ROOT_BITS, reset_less=True)
        # What the root leaves of the bits used: at most twice the root.
        remainder = Signal(ROOT_BITS + 1, reset_less=True)

        partial = Cat(number[-2:], remainder)
        trial = Cat(Const(1, 2), root)
        fits = partial >= trial
        accepted = Signal()
        m.d.comb += [
            self.i.ready.eq(~running & (~self.o.valid | self.o.ready)),
            accepted.eq(self.i.valid & self.i.ready),
            self.o.p.eq(root),
        ]
        with m.If(running):
            m.d.sync += [
                number.eq(number << 2),
                root.eq(Cat(fits, root)),
                remainder.eq(Mux(fits, partial - trial, partial)),
                left.eq(left - 1),
            ]
            with m.If(left == 0):
                m.d.sync += [running.eq(0), self.o.valid.eq(1)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(accepted):
            m.d.sync += [
                number.eq(self.i.p),
                root.eq(0),
                remainder.eq(0),
                left.eq(ROOT_BITS - 1),
                running.eq(1),
            ]
        return m
