"""Bytes to a serial line."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["UartTransmitter"]


class UartTransmitter(wiring.Component):
    """Puts bytes on a line: a start bit (low), eight bits, the lowest first, a stop bit (high).

    The start bit begins `LATENCY` cycle after a byte was accepted.  Throughput: a byte in
    ``10 * divisor`` cycles; it is not ready in between.

    Parameters
    ----------
    divisor : int
        Cycles of a bit, at least 4.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes.
    tx : ``Out(1, init=1)``
        The line.
    """

    LATENCY = 1

    i: stream.Interface
    tx: Signal

    def __init__(self, divisor: int):
        if divisor < 4:
            raise ValueError(f"divisor: {divisor} is below 4")
        self.divisor = divisor
        super().__init__({
            "i": In(stream.Signature(8)),
            "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        rest = Signal(9, init=0x1FF)  # Bits to come behind the one on the line.
        left = Signal(range(10))  # How many.
        until = Signal(range(self.divisor))  # Cycles until this bit ends.
        m.d.comb += self.i.ready.eq((left == 0) & (until == 0))
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                self.tx.eq(0),
                rest.eq(Cat(self.i.payload, Const(1, 1))),
                left.eq(9),
                until.eq(self.divisor - 1),
            ]
        with m.Elif(until != 0):
            m.d.sync += until.eq(until - 1)
        with m.Elif(left != 0):
            m.d.sync += [
                Cat(self.tx, rest).eq(Cat(rest, Const(1, 1))),
                left.eq(left - 1),
                until.eq(self.divisor - 1),
            ]
        return m
