"""The bits of a float32."""

from typing import Final

__all__ = ["INFINITY", "MANTISSA_BITS", "SIGN", "is_long"]

MANTISSA_BITS: Final = 24
"""Bits of the mantissa, the hidden one included."""
INFINITY: Final = 0x7F80_0000
"""The bits of infinity: positive numbers have smaller ones, all others larger ones."""
SIGN: Final = 1 << 31
"""The bit that is set in what is negative."""


def is_long(bits: int, mantissa_bits: int) -> bool:
    """Whether bits of the mantissa are set behind the first `mantissa_bits`.

    >>> is_long(0x3F80_8000, 8), is_long(0x3F80_8000, 9)
    (True, False)
    """
    return bits & (1 << MANTISSA_BITS - mantissa_bits) - 1 != 0
