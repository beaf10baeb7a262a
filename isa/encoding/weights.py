"""The types of weights that the array takes from the scratchpad."""

from enum import IntEnum

__all__ = ["BYTE_BITS", "WeightType"]

BYTE_BITS = 8
"""Bits of an element of a scratchpad row."""


class WeightType(IntEnum):
    """The type of the weights of a product, as CONFIG_EX names it."""

    INT8 = 0
    INT4 = 1

    @property
    def bits(self) -> int:
        """Bits of a weight in memory and in the scratchpad."""
        return BYTE_BITS >> self

    @property
    def per_byte(self) -> int:
        """Weights in a byte."""
        return 1 << self

    def tile_rows(self, dim: int) -> int:
        """Scratchpad rows of a whole tile of ``dim`` lines of weights."""
        return dim // self.per_byte
