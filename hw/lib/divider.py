"""Division of unsigned integers, two bits of the quotient a cycle."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component

__all__ = ["DIVISOR_BITS", "Divider", "Division"]

DIVISOR_BITS = 32
DIGIT_BITS = 2


class Division(data.StructLayout):
    """``(carry * 2**32 + dividend) / divisor``, where `carry` is below the divisor."""

    def __init__(self) -> None:
        super().__init__({
            "carry": 1,
            "dividend": unsigned(DIVISOR_BITS),
            "divisor": unsigned(DIVISOR_BITS),
        })


class Divider(Component):
    """Divides, radix 4.

    The quotient is there `LATENCY` cycles after the request, in that cycle only, and the next
    request may be accepted in the same cycle: one division in `LATENCY` cycles.  A divisor of 0
    gives some quotient, after the same time.

    Members
    -------
    request : ``In(stream.Signature(Division()))``
        What to divide.
    done : ``Out(1)``
        There is a quotient in this cycle.
    quotient : ``Out(32)``
        The quotient, rounded down.
    """

    LATENCY = DIVISOR_BITS // DIGIT_BITS

    request: Annotated[stream.Interface, In(stream.Signature(Division()))]
    done: Annotated[Signal, Out(1)]
    quotient: Annotated[Signal, Out(unsigned(DIVISOR_BITS))]

    def elaborate(self, platform) -> Module:
        m = Module()
        running = Signal()
        left = Signal(range(self.LATENCY), reset_less=True)  # Steps after this one.
        last = Signal(reset_less=True)
        # Upper digits of the dividend that are not used yet, and below them those of the quotient.
        word = Signal(DIVISOR_BITS, reset_less=True)
        remainder = Signal(DIVISOR_BITS, reset_less=True)
        divisor = Signal(DIVISOR_BITS, reset_less=True)
        triple = Signal(DIVISOR_BITS + DIGIT_BITS, reset_less=True)

        partial = Cat(word[-DIGIT_BITS:], remainder)
        multiples: list[Value] = [divisor, divisor << 1, triple]
        digit, rest = Value.cast(0), partial
        for multiple, number in zip(multiples, (1, 2, 3), strict=True):
            fits = partial >= multiple
            digit, rest = Mux(fits, number, digit), Mux(fits, partial - multiple, rest)
        following = Cat(digit[:DIGIT_BITS], word[:-DIGIT_BITS])
        request, accepted = self.request.p, Signal()
        m.d.comb += [
            self.done.eq(running & last),
            self.quotient.eq(following),
            self.request.ready.eq(~running | last),
            accepted.eq(self.request.valid & self.request.ready),
        ]
        with m.If(running):
            m.d.sync += [
                word.eq(following),
                remainder.eq(rest[:DIVISOR_BITS]),
                left.eq(left - 1),
                last.eq(left == 1),
            ]
        with m.If(self.request.ready):
            m.d.sync += running.eq(accepted)
        with m.If(accepted):
            m.d.sync += [
                word.eq(request.dividend),
                remainder.eq(request.carry),
                divisor.eq(request.divisor),
                triple.eq(request.divisor + (request.divisor << 1)),
                left.eq(self.LATENCY - 1),
                last.eq(0),
            ]
        return m
