"""What ends a pass over a row: its mean, or a factor as float32."""

from typing import Annotated

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import enum
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.float32 import (
    EXPONENT_BIAS,
    FRACTION_BITS,
    Float32,
    round_leading,
    round_off,
)
from celosia.isa.numerics.float32 import MANTISSA_BITS

__all__ = ["FactorUnit", "Wanted"]

WORD_BITS = 32
QUOTIENT_POINT = 25
"""Fraction bits of the quotient of two mantissas: a mantissa and a bit to round by, at least."""
DIVIDEND_BITS = MANTISSA_BITS + QUOTIENT_POINT
EXPONENT = signed(11)

ONE_MANTISSA = 1 << FRACTION_BITS
PROBABILITY_MANTISSA, PROBABILITY_EXPONENT = 127 << 17, 6
INFINITE = 255


class Wanted(enum.Enum, shape=2):
    """What is made of a total."""

    MEAN = 0
    DEVIATION = 1
    PROBABILITY = 2


class _Step(enum.Enum, shape=3):
    IDLE = 0
    DIVIDE = 1
    ROOT = 2
    NORMALIZE = 3
    RECIPROCAL = 4
    PRODUCT = 5
    ROUND = 6


class FactorUnit(Component):
    """One divider and one root, a bit per cycle.

    ``start`` takes the operands while nothing runs; ``done`` comes with the result, within
    `MOST_CYCLES`.  The mean is `celosia.isa.numerics.truncated_mean`; the factors are
    `inverse_deviation` and `inverse_sum`, except that subnormal scales and factors may become 0,
    as they scale every integer to 0.

    Members
    -------
    start : ``In(1)``
        Begin.
    wanted : ``In(Wanted)``
        With what.
    total : ``In(signed(32))``
        The sum of a row.
    count : ``In(32)``
        How many elements the row has; not 0.
    scale : ``In(32)``
        The bits of a float32.
    done : ``Out(1)``
        `result` is there, for this cycle.
    result : ``Out(32)``
        The mean, or the bits of a float32.
    """

    MOST_CYCLES = 34 + 17 + 33 + 50 + 3

    start: Annotated[Signal, In(1)]
    wanted: Annotated[Signal, In(Wanted)]
    total: Annotated[Signal, In(signed(WORD_BITS))]
    count: Annotated[Signal, In(WORD_BITS)]
    scale: Annotated[Signal, In(WORD_BITS)]
    done: Annotated[Signal, Out(1)]
    result: Annotated[Signal, Out(WORD_BITS)]

    def elaborate(self, platform) -> Module:
        m, s = Module(), _State()
        ends = s.left == 0
        with m.Switch(s.step):
            with m.Case(_Step.IDLE), m.If(self.start):
                self._begin(m, s)
            with m.Case(_Step.DIVIDE):
                _divide(m, s)
                with m.If(ends):
                    m.d.sync += s.step.eq(_Step.ROOT)
                    with m.If(s.wanted == Wanted.MEAN):
                        m.d.sync += s.step.eq(_Step.ROUND)
            with m.Case(_Step.ROOT):
                self._root(m, s)
            with m.Case(_Step.NORMALIZE):
                self._normalize(m, s)
            with m.Case(_Step.RECIPROCAL):
                _divide(m, s)
                with m.If(ends):
                    m.d.sync += s.step.eq(_Step.PRODUCT)
            with m.Case(_Step.PRODUCT):
                self._product(m, s)
            with m.Case(_Step.ROUND):
                m.d.comb += self.done.eq(1)
                m.d.sync += s.step.eq(_Step.IDLE)
                mean = Mux(s.negative, -s.quotient, s.quotient)
                m.d.comb += self.result.eq(Mux(s.wanted == Wanted.MEAN, mean, _pack(s)))
        return m

    def _begin(self, m: Module, s: "_State") -> None:
        size = Mux(self.total < 0, -self.total, self.total)[:WORD_BITS]
        deviates = self.wanted == Wanted.DEVIATION
        m.d.sync += [
            s.wanted.eq(self.wanted),
            s.negative.eq((self.total < 0) & ~deviates),
            s.scale.eq(self.scale),
            s.infinite.eq(0),
            s.rest.eq(0),
            s.quotient.eq(0),
            s.divisor.eq(self.count),
            s.dividend.eq(Mux((self.total < 0) & deviates, 0, size) << DIVIDEND_BITS - WORD_BITS),
            s.left.eq(WORD_BITS - 1),
            s.step.eq(_Step.DIVIDE),
        ]
        with m.If(self.wanted == Wanted.PROBABILITY):
            m.d.sync += [
                s.size.eq(size),
                s.exponent.eq(WORD_BITS - 1),
                s.infinite.eq(size == 0),
                s.step.eq(Mux(size == 0, _Step.PRODUCT, _Step.NORMALIZE)),
            ]

    def _root(self, m: Module, s: "_State") -> None:
        """Digit by digit; the first cycle only takes the quotient over."""
        half = WORD_BITS // 2
        with m.If(~s.rooting):
            m.d.sync += [
                s.rooting.eq(1),
                s.dividend.eq(s.quotient << DIVIDEND_BITS - WORD_BITS),
                s.quotient.eq(0),
                s.rest.eq(0),
                s.left.eq(half - 1),
            ]
        with m.Else():
            rest = Cat(s.dividend[-2:], s.rest)[: WORD_BITS + 1]
            trial = Cat(Const(1, 2), s.quotient)[: WORD_BITS + 1]
            fits = rest >= trial
            root = Cat(fits, s.quotient)[:WORD_BITS]
            m.d.sync += [
                s.rest.eq(Mux(fits, rest - trial, rest)),
                s.quotient.eq(root),
                s.dividend.eq(s.dividend << 2),
                s.left.eq(s.left - 1),
            ]
            with m.If(s.left == 0):
                m.d.sync += [
                    s.rooting.eq(0),
                    s.size.eq(Mux(root == 0, 1, root)),
                    s.exponent.eq(WORD_BITS - 1),
                    s.step.eq(_Step.NORMALIZE),
                ]

    def _normalize(self, m: Module, s: "_State") -> None:
        """Turn the size into a float32, a bit per cycle; then begin the division."""
        with m.If(~s.size[-1]):
            m.d.sync += [s.size.eq(s.size << 1), s.exponent.eq(s.exponent - 1)]
        with m.Else():
            rounded = round_off(s.size, WORD_BITS - MANTISSA_BITS)
            carry = rounded[-1]
            deviates = s.wanted == Wanted.DEVIATION
            numerator = Mux(deviates, ONE_MANTISSA, PROBABILITY_MANTISSA)
            exponent = Mux(deviates, 0, PROBABILITY_EXPONENT)
            m.d.sync += [
                s.divisor.eq(Mux(carry, ONE_MANTISSA, rounded[:MANTISSA_BITS])),
                s.exponent.eq(exponent - s.exponent - carry),
                s.dividend.eq(numerator << QUOTIENT_POINT),
                s.quotient.eq(0),
                s.rest.eq(0),
                s.left.eq(DIVIDEND_BITS - 1),
                s.step.eq(_Step.RECIPROCAL),
            ]

    def _product(self, m: Module, s: "_State") -> None:
        """Round the quotient, and multiply by the scale."""
        quotient = Cat(s.rest.any(), s.quotient[: QUOTIENT_POINT + 1])
        large = quotient[-1]
        rounded = round_leading(quotient, MANTISSA_BITS)
        carry = rounded[-1]
        mantissa = Mux(carry, ONE_MANTISSA, rounded[:MANTISSA_BITS])
        scale = Float32(s.scale)
        m.d.sync += [
            s.product.eq(mantissa * scale.mantissa),
            s.exponent.eq(s.exponent - ~large + carry + scale.exponent - EXPONENT_BIAS),
            s.step.eq(_Step.ROUND),
        ]


class _State:
    """Registers of the factor unit."""

    def __init__(self) -> None:
        self.step, self.rooting = Signal(_Step), Signal()
        self.wanted = Signal(Wanted, reset_less=True)
        self.negative, self.infinite = Signal(reset_less=True), Signal(reset_less=True)
        self.scale = Signal(WORD_BITS, reset_less=True)
        self.dividend = Signal(DIVIDEND_BITS, reset_less=True)  # Its top bit is the next one.
        self.divisor = Signal(WORD_BITS, reset_less=True)
        self.rest = Signal(WORD_BITS + 1, reset_less=True)
        self.quotient = Signal(WORD_BITS, reset_less=True)
        self.left = Signal(range(DIVIDEND_BITS), reset_less=True)  # Steps after this one.
        self.size = Signal(WORD_BITS, reset_less=True)  # What is brought to float32.
        self.exponent = Signal(EXPONENT, reset_less=True)
        self.product = Signal(unsigned(2 * MANTISSA_BITS), reset_less=True)


def _divide(m: Module, s: _State) -> None:
    rest = Cat(s.dividend[-1], s.rest)[: WORD_BITS + 1]
    fits = rest >= s.divisor
    m.d.sync += [
        s.rest.eq(Mux(fits, rest - s.divisor, rest)),
        s.quotient.eq(Cat(fits, s.quotient)),
        s.dividend.eq(s.dividend << 1),
        s.left.eq(s.left - 1),
    ]


def _pack(s: _State) -> Value:
    """The float32 of the product, with its special cases."""
    rounded, scale = round_leading(s.product, MANTISSA_BITS), Float32(s.scale)
    exponent = s.exponent + s.product[-1] + rounded[-1] + EXPONENT_BIAS
    zero = (s.scale[:-1] == 0) & s.infinite
    nan = scale.nan | zero
    large = s.infinite | scale.infinite | (exponent >= INFINITE)
    small = (scale.exponent == 0) | (exponent <= 0)
    finite = Cat(Mux(rounded[-1], 0, rounded[:FRACTION_BITS]), exponent[:8])
    size = Mux(
        nan,
        (INFINITE << FRACTION_BITS) | 1,
        Mux(large, INFINITE << FRACTION_BITS, Mux(small, 0, finite)),
    )
    return Cat(size[: WORD_BITS - 1], s.negative ^ scale.negative)
