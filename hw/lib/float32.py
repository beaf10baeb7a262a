"""float32 as its fields, and rounding to nearest: what everything that scales has in common."""

from amaranth import Cat, Const, Mux, Value

from celosia.isa.numerics.float32 import MANTISSA_BITS

__all__ = [
    "EXPONENT_BIAS",
    "FRACTION_BITS",
    "Float32",
    "round_leading",
    "round_off",
    "split_leading",
]

FRACTION_BITS = MANTISSA_BITS - 1
EXPONENT_BIAS = 127


class Float32:
    """The fields of the float32 whose 32 bits are `bits`.

    Members
    -------
    negative : Value
        Its sign.
    exponent : Value
        The biased exponent, 8 bits.
    fraction : Value
        All that stands behind the point, 23 bits.
    mantissa : Value
        The hidden bit, as it is in a normal number, and the fraction: the upper `mantissa_bits`.
    nan : Value
        It is not a number.
    infinite : Value
        It is an infinity.
    """

    def __init__(self, bits: Value, mantissa_bits: int = MANTISSA_BITS):
        self.negative = bits[-1]
        self.exponent = bits[FRACTION_BITS:-1]
        self.fraction = bits[:FRACTION_BITS]
        self.mantissa = Cat(self.fraction[MANTISSA_BITS - mantissa_bits :], Const(1, 1))
        self.nan = self.exponent.all() & self.fraction.any()
        self.infinite = self.exponent.all() & ~self.fraction.any()


def round_off(value: Value, bits: int) -> Value:
    """``value / 2^bits`` to nearest, ties to even: one bit wider than what is kept."""
    kept, half, rest = value[bits:], value[bits - 1], value[: bits - 1]
    return kept + (half & (rest.any() | kept[0]))


def split_leading(value: Value, bits: int) -> tuple[Value, Value]:
    """The `bits` bits from the highest one of `value` on, and whether rounding adds 1 to them.

    The highest one is in one of the two top bits, or `value` is 0.
    """
    dropped = len(value) - bits
    top = value[-1]
    kept = Mux(top, value[dropped:], value[dropped - 1 : -1])
    half = Mux(top, value[dropped - 1], value[dropped - 2])
    rest = value[: dropped - 2].any() | (top & value[dropped - 2])
    return kept, half & (rest | kept[0])


def round_leading(value: Value, bits: int) -> Value:
    """The `bits` bits from the highest one of `value` on, rounded: one bit wider than these.

    The highest one is in one of the two top bits, or `value` is 0.
    """
    kept, up = split_leading(value, bits)
    return kept + up
