"""Bytes from a serial line."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["UartReceiver"]


class UartReceiver(wiring.Component):
    """Takes bytes off a line: a start bit (low), eight bits, the lowest first, a stop bit (high).

    A byte is on offer for one cycle, `LATENCY` cycles after the middle of its stop bit has come in.
    Throughput: a byte in ``10 * divisor`` cycles; it never stalls, and a byte that nobody looks at
    is lost.  One without a stop bit is dropped.

    Parameters
    ----------
    divisor : int
        Cycles of a bit, at least 4.

    Members
    -------
    rx : ``In(1, init=1)``
        The line, asynchronous.
    o : ``Out(stream.Signature(8, always_ready=True))``
        Bytes.
    """

    LATENCY = 3
    """Two cycles to synchronize the line, one to take the byte."""

    rx: Signal
    o: stream.Interface

    def __init__(self, divisor: int):
        if divisor < 4:
            raise ValueError(f"divisor: {divisor} is below 4")
        self.divisor = divisor
        super().__init__({
            "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
            "o": Out(stream.Signature(8, always_ready=True)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        busy = Signal()
        until = Signal(range(self.divisor))  # Cycles until the middle of the next bit.
        bits = Signal(9, reset_less=True)  # The last that came, the start bit among them.
        left = Signal(range(10))  # Bits to come, the stop bit included.

        m.d.sync += self.o.valid.eq(0)
        with m.If(~busy):
            # Where the line is low, this is the first cycle of a start bit.
            m.d.sync += [busy.eq(~line), until.eq(self.divisor // 2 - 1), left.eq(9)]
        with m.Elif(until != 0):
            m.d.sync += until.eq(until - 1)
        with m.Else():
            m.d.sync += [
                bits.eq(Cat(bits[1:], line)),
                until.eq(self.divisor - 1),
                left.eq(left - 1),
            ]
            with m.If((left == 9) & line):  # Too short for a start bit.
                m.d.sync += busy.eq(0)
            with m.If(left == 0):
                m.d.sync += [busy.eq(0), self.o.valid.eq(line), self.o.payload.eq(bits[1:])]
        return m
