"""The numerics once more, one element at a time in Python's own integers and fractions.

Written from the formulas of `docs/numerics.md` and independent of NumPy, of
`celosia.isa.numerics` and of every simulator, so that any of them can be compared with it.  A row
is a sequence of integers; a mask is a sequence of truth values, true where a column takes part.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, isqrt

__all__ = [
    "LIMITS",
    "deferred_context",
    "deferred_softmax",
    "exponent",
    "float32",
    "gelu",
    "hardswish",
    "layernorm",
    "layernorm_statistics",
    "matmul",
    "multiply",
    "normalized",
    "requantize",
    "residual_add",
    "rotate",
    "round_float32",
    "silu",
    "softmax",
]

Row = Sequence[int]
Mask = Sequence[bool]

LIMITS = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "score": (-(2**23), 2**23 - 1),
    "int32": (-(2**31), 2**31 - 1),
}
_OVERFLOW = Fraction(2**25 - 1) * 2**103  # From here on, float32 rounds to infinity.


def _clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))


def float32(bits: int) -> Fraction | None:
    """The value of a float32's bits; None for infinities and NaN."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7F_FFFF
    if exponent == 0xFF:
        return None
    mantissa = fraction | 1 << 23 if exponent else fraction
    return (-1) ** sign * mantissa * Fraction(2) ** (max(exponent, 1) - 150)


def round_float32(value: Fraction) -> Fraction | None:
    """`value` to 24 significant bits, ties to even, subnormals kept; None for an infinity."""
    if abs(value) >= _OVERFLOW:
        return None
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 24
    exponent += abs(value) >= Fraction(2) ** (exponent + 24)
    exponent = max(exponent, -149)
    unit = Fraction(2) ** exponent
    return round(value / unit) * unit  # Python rounds fractions to even.


def requantize(x: int, bits: int, kind: str, zero_point: int = 0, *, rectify: bool = False) -> int:
    """`x` scaled by the float32 with these bits, rounded, moved by `zero_point` and saturated.

    With `rectify`, what is negative before it is moved counts as 0.
    """
    low, high = LIMITS[kind]
    scale, sign = float32(bits), -1 if bits >> 31 else 1
    if scale is None:
        is_nan = bool(bits & 0x7F_FFFF)
        scaled = 0 if is_nan or x == 0 else x * sign * 2**64
    else:
        operand = round_float32(Fraction(x))
        assert operand is not None
        product = round_float32(operand * scale)
        scaled = x * sign * 2**64 if product is None else round(product)
    kept = max(scaled, 0) if rectify else scaled
    return _clamp(kept + zero_point, low, high)


def exponent(distance: int) -> int:
    """`exp(distance / 1024)` on the scale of `exponent(0)`, for a distance of at most 0."""
    d = max(distance, -22009)
    z = (-d * 23630) >> 24
    r = d + z * 710
    return (((r + 2772) * r + 2927745) >> 6) >> z


def _exponents(scores: Row, mask: Mask | None) -> list[int]:
    visible = [True] * len(scores) if mask is None else mask
    peak = max((q for q, seen in zip(scores, visible, strict=True) if seen), default=0)
    return [exponent(q - peak) if seen else 0 for q, seen in zip(scores, visible, strict=True)]


def softmax(scores: Row, kind: str, mask: Mask | None = None) -> list[int]:
    """A row of probabilities of which `kind`'s largest number is 1."""
    top = LIMITS[kind][1]
    exponents = _exponents(scores, mask)
    reciprocal = 2**32 // max(sum(exponents), 1)
    return [min((e * reciprocal * top + 2**31) >> 32, top) for e in exponents]


def deferred_softmax(
    scores: Row, mask: Mask | None = None, *, dithered: bool = False
) -> tuple[list[int], int]:
    """Numerators, of which the largest is 255, and their sum (1 if there is none)."""
    unit = 255 * 2**24 // (2927745 >> 6)
    exponents = _exponents(scores, mask)
    halves = [dither(column) if dithered else 2**23 for column in range(len(exponents))]
    found = [min((e * unit + half) >> 24, 255) for e, half in zip(exponents, halves, strict=True)]
    return found, max(sum(found), 1)


def dither(column: int) -> int:
    """What rounds the numerator of a column: its last four bits, read backwards, and one half."""
    backwards = int(f"{column % 16:04b}"[::-1], 2)
    return int(Fraction(2 * backwards + 1, 32) * 2**24)


def deferred_context(accumulator: int, total: int) -> int:
    """A product of numerators and values over the sum of the numerators, times 2^16."""
    return (accumulator * (2**32 // total) + 2**15) >> 16


def gelu(q: int) -> int:
    """The raw GELU of a number with 10 fraction bits."""
    rest = 2562 - min(abs(q), 2562)
    y = 7261607 - rest * rest
    return q * (((-y if q < 0 else y) + 7261607) >> 9)


def silu(q: int) -> int:
    """The raw SiLU of a number with 10 fraction bits."""
    e = exponent(-abs(q))
    left, right = (
        floor(Fraction(2**16) / (1 + Fraction(1024 * k, 45746)) + Fraction(1, 2))
        for k in (e // 1024, e // 1024 + 1)
    )
    sigmoid = left - floor(Fraction((left - right) * (e % 1024), 1024) + Fraction(1, 2))
    return q * (sigmoid if q >= 0 else 2**16 - sigmoid)


def hardswish(q: int) -> int:
    """The raw HardSwish of a number with 10 fraction bits: 6 * 2^20 times the real one."""
    x = Fraction(q, 2**10)
    real = x * min(max(x + 3, Fraction(0)), Fraction(6)) / 6
    raw = real * 6 * 2**20
    assert raw.denominator == 1
    return int(raw)


def multiply(a: int, b: int, bits: int, kind: str, zero_point: int = 0) -> int:
    """The product of two int16, requantized."""
    return requantize(a * b, bits, kind, zero_point)


def rotate(row: Row, table: Row, bits: int, kind: str, zero_point: int = 0) -> list[int]:
    """Pairs of a row, half a row apart, turned by cosines and sines; then requantized."""
    half = len(row) // 2
    exact = [
        Fraction(row[i] * table[i] - row[i + half] * table[i + half], 1 << 15) for i in range(half)
    ] + [
        Fraction(row[i + half] * table[i] + row[i] * table[i + half], 1 << 15) for i in range(half)
    ]
    rounded = (floor(each + Fraction(1, 2)) for each in exact)
    return [
        requantize(min(max(each, -(1 << 15)), (1 << 15) - 1), bits, kind, zero_point)
        for each in rounded
    ]


def layernorm_statistics(row: Row, epsilon: int = 0, *, rms: bool = False) -> tuple[int, int]:
    """The rounded mean and the root of the sum of squared distances, from two passes.

    With `rms`, the mean counts as 0.
    """
    columns = len(row)
    mean = 0 if rms else (2 * sum(row) + columns) // (2 * columns)
    return mean, max(isqrt(sum((q - mean) ** 2 for q in row) + epsilon), 1)


def normalized(row: Row, epsilon: int = 0, *, rms: bool = False) -> list[int]:
    """Distances from the mean over the root, with 16 fraction bits."""
    mean, root = layernorm_statistics(row, epsilon, rms=rms)
    reciprocal = 2**31 // root
    return [((q - mean) * reciprocal + 2**14) >> 15 for q in row]


def layernorm(row: Row, gamma: Row, beta: Row, shift: int, kind: str) -> list[int]:
    """A normalized row times `gamma` plus `beta`, over ``2**shift``, halves rounded up."""
    half = 2**shift // 2
    return [
        _clamp((y * g + b + half) >> shift, *LIMITS[kind])
        for y, g, b in zip(normalized(row), gamma, beta, strict=True)
    ]


def residual_add(accumulator: int, accumulator_bits: int, x: int, x_bits: int) -> int:
    """Two scaled terms, each saturated to int16, and their saturated sum."""
    terms = requantize(accumulator, accumulator_bits, "int16"), requantize(x, x_bits, "int16")
    return _clamp(sum(terms), *LIMITS["int16"])


def matmul(a: Sequence[Row], b: Sequence[Row], bias: Row | None = None) -> list[list[int]]:
    """The product plus a bias per column, modulo 2^32 into int32."""
    columns = list(zip(*b, strict=True))
    offsets = [0] * len(columns) if bias is None else bias
    return [
        [
            (sum(x * y for x, y in zip(row, column, strict=True)) + offset + 2**31) % 2**32 - 2**31
            for column, offset in zip(columns, offsets, strict=True)
        ]
        for row in a
    ]
