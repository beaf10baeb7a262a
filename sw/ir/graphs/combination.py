"""Operators of two matrices of int16 of one shape."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.isa.functions.table import COMBINATIONS, FUNCTIONS, Function, TransformFunction
from celosia.sw.ir.graphs.operator import Operator, Rules, Values, number, zero
from celosia.sw.ir.graphs.tensors import View

__all__ = ["Combination", "Combine"]


class Combination(Operator):
    """What a function of TRANSFORM makes of two matrices of int16 of one shape."""

    __slots__ = ()
    out: View
    a: View
    b: View
    zero_point: int = 0
    READS = ("a", "b")
    WRITES = ("out",)
    ROWS = COLS = ("out", "a", "b")

    @property
    @abstractmethod
    def instruction(self) -> Function:
        """The function."""

    @property
    @abstractmethod
    def scales(self) -> Mapping[str, float]:
        """Its scales, by their names in CONFIG_TRANSFORM."""

    @property
    def entry(self) -> TransformFunction:
        """All that is known of the function."""
        return FUNCTIONS[self.instruction]

    @property
    def alike(self) -> tuple[object, ...]:
        """The function, and extents."""
        return self.instruction, *self.out.shape

    def check(self, rules: Rules) -> None:
        """Types and shapes."""
        rules.expect(
            self.out, "out", self.out.shape, *(kind.name.lower() for kind in self.entry.types)
        )
        rules.expect(self.a, "a", self.out.shape, "int16")
        rules.expect(self.b, "b", self.out.shape, "int16")

    def compute(self, values: Values) -> None:
        """Write the result."""
        how: dict[str, Any] = {name: np.float32(scale) for name, scale in self.scales.items()}
        how |= {"zero_point": self.zero_point, "residual": values.read(self.b)}
        x = values.read(self.a)
        values.write(self.out, values.computed(self.instruction, self.out, x, **how))

    @property
    def has_some_cols(self) -> bool:
        """Whether the halves of its rows are not two operands."""
        return not self.entry.rotates


@dataclass(frozen=True, slots=True, kw_only=True)
class Combine(Combination):
    """A function of two matrices of int16 of one shape, requantized.

    ``multiply`` is a times b, ``rotate`` a with its halves rotated by the cosines and sines in the
    halves of b.
    """

    name: str
    function: str
    """Its name in `celosia.isa.functions.table.COMBINATIONS`."""
    out: View
    a: View
    b: View
    scale: float
    """The scale from what the function makes to the output."""
    zero_point: int = 0

    @property
    def instruction(self) -> Function:
        """The function."""
        return COMBINATIONS[self.function]

    @property
    def scales(self) -> Mapping[str, float]:
        """The scale behind the function."""
        return {"scale2": self.scale}

    def check(self, rules: Rules) -> None:
        """The function, types and shapes, the scale and the zero point."""
        if self.function not in COMBINATIONS:
            raise ValueError(f"function: {self.function!r} is none of {', '.join(COMBINATIONS)}")
        Combination.check(self, rules)
        if self.entry.rotates and self.out.cols % 2:
            raise ValueError(f"{self.function}: rows of {self.out.cols} columns are not two halves")
        rules.scale(self.scale, self.out.cols)
        rules.zero_point(self.out, self.zero_point)

    def __str__(self) -> str:
        how = f"requantize {number(self.scale)}{zero(self.zero_point)}"
        return f"{self.name}: {self.out} = {self.function} {self.a}, {self.b} -> {how}"
