"""The difference of two matrices of int16, each with its scale."""

from collections.abc import Mapping
from dataclasses import dataclass

from celosia.isa.functions.table import Function
from celosia.sw.ir.graphs.combination import Combination
from celosia.sw.ir.graphs.operator import Rules, number
from celosia.sw.ir.graphs.tensors import View

__all__ = ["Subtract"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtract(Combination):
    """``a * scale - b * residual_scale`` as int16; each term saturates, and the sum.

    The accelerator adds rows of int16, each with its scale: that of `b` is negative.
    """

    name: str
    out: View
    a: View
    b: View
    scale: float
    """The scale from `a` to the output."""
    residual_scale: float
    """The scale from `b` to the output."""

    @property
    def instruction(self) -> Function:
        """The function."""
        return Function.RESIDUAL

    @property
    def scales(self) -> Mapping[str, float]:
        """The scale of each term."""
        return {"scale": self.scale, "scale2": -self.residual_scale}

    def check(self, rules: Rules) -> None:
        """Types and shapes, and the scales."""
        Combination.check(self, rules)
        rules.scale(self.scale, self.out.cols)
        rules.scale(self.residual_scale, self.out.cols)

    def __str__(self) -> str:
        terms = f"{self.a} {number(self.scale)}, {self.b} {number(self.residual_scale)}"
        return f"{self.name}: {self.out} = subtract {terms}"
