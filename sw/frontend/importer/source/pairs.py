"""Quantization that a file describes: QuantizeLinear with DequantizeLinear behind it.

Such a pair says in which range a tensor is: it is left out of the float graph, and its range noted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import Array

__all__ = ["Pairs", "Range"]

Range = tuple[float, float]
"""The least and the largest number that a quantized tensor can be."""


@dataclass
class Pairs:
    """The quantized tensors of a graph that is built, and the ranges of what they are made of."""

    build: GraphBuilder
    ranges: dict[str, Range] = field(default_factory=dict)
    """The range of each tensor whose pair was left out."""
    _made: dict[str, tuple[str, Array, Array]] = field(default_factory=dict)
    """What each quantized tensor is made of, with the scale and the zero point."""

    def quantized(self, operands: Sequence[str | None], result: str) -> None:
        """Take note of a QuantizeLinear that made `result`."""
        numbers = self._numbers(operands, self.build.type(result).dtype)
        if numbers is not None and operands[0] is not None:
            self._made.setdefault(result, (operands[0], *numbers))

    def dequantized(self, operands: Sequence[str | None]) -> str | None:
        """What a DequantizeLinear makes, if its operand was made with the same two numbers."""
        name = operands[0]
        made = None if name is None else self._made.get(name)
        if name is None or made is None:
            return None
        source, scale, zero = made
        if self._numbers(operands, self.build.type(name).dtype) != (scale, zero):
            return None
        limits = np.iinfo(self.build.type(name).dtype)
        low, high = (float((end - int(zero)) * float(scale)) for end in (limits.min, limits.max))
        known = self.ranges.get(source, (low, high))
        self.ranges[source] = min(low, known[0]), max(high, known[1])
        return source

    def _numbers(self, operands: Sequence[str | None], dtype: str) -> tuple[Array, Array] | None:
        """Scale and zero point, if they are two known numbers for all elements."""
        scale, zero = (
            None if name is None else self.build.value(name)
            for name in (*operands[1:3], None, None)[:2]
        )
        zero = np.zeros((), dtype) if len(operands) < 3 or operands[2] is None else zero
        if scale is None or zero is None or scale.size != 1 or zero.size != 1:
            return None
        return scale.reshape(()), zero.reshape(())
