"""Local addresses: rows of the scratchpad and of the accumulator, as instructions name them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = [
    "ACCUMULATE_BIT",
    "ACCUMULATOR_BIT",
    "FULL_BIT",
    "GARBAGE",
    "LOCAL_ADDRESS_BITS",
    "NORM_BITS",
    "NORM_LOW",
    "ROW_BITS",
    "LocalAddress",
]

LOCAL_ADDRESS_BITS: Final = 32
ACCUMULATOR_BIT: Final = 31
ACCUMULATE_BIT: Final = 30
FULL_BIT: Final = 29
NORM_LOW: Final = 26
NORM_BITS: Final = 3
ROW_BITS: Final = 26

_ROW_LIMIT: Final = 1 << ROW_BITS
_KEPT: Final = 1 << 14
"""Words whose addresses are kept: a program names the same few thousand rows, over and over."""
_NORM_LIMIT: Final = 1 << NORM_BITS

GARBAGE: Final = 0xFFFF_FFFF
"""The local address that stands for no data as an operand, and for no write as a destination."""


@dataclass(frozen=True, kw_only=True)
class LocalAddress:
    """A row of the scratchpad or of the accumulator, and how it is accessed (Gemmini's format)."""

    row: int
    """Row number, counted over all banks."""
    accumulator: bool = False
    """The row is in the accumulator (int32), not in the scratchpad (int8)."""
    accumulate: bool = False
    """A write into the accumulator adds to what is there."""
    full: bool = False
    """MVOUT from the accumulator writes unscaled int32."""
    norm: int = 0
    """Normalization command of an MVOUT."""

    def __post_init__(self) -> None:
        if not 0 <= self.row < _ROW_LIMIT:
            raise ValueError(f"local address row: {self.row} is not in 0..{_ROW_LIMIT - 1}")
        if not 0 <= self.norm < _NORM_LIMIT:
            raise ValueError(f"local address norm: {self.norm} is not in 0..{_NORM_LIMIT - 1}")

    def encode(self) -> int:
        """The 32-bit word."""
        return (
            self.accumulator << ACCUMULATOR_BIT
            | self.accumulate << ACCUMULATE_BIT
            | self.full << FULL_BIT
            | self.norm << NORM_LOW
            | self.row
        )

    @staticmethod
    def is_garbage(word: int) -> bool:
        """Whether `word` is the garbage address: all bits set, the normalization bits ignored."""
        return word | ((1 << NORM_BITS) - 1) << NORM_LOW == GARBAGE

    @staticmethod
    @lru_cache(maxsize=_KEPT)
    def decode(word: int) -> "LocalAddress":
        """The inverse of `encode`.  `word` must not be garbage."""
        return LocalAddress(
            row=word & ((1 << ROW_BITS) - 1),
            accumulator=bool(word >> ACCUMULATOR_BIT & 1),
            accumulate=bool(word >> ACCUMULATE_BIT & 1),
            full=bool(word >> FULL_BIT & 1),
            norm=word >> NORM_LOW & ((1 << NORM_BITS) - 1),
        )
