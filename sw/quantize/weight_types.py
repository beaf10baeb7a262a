"""Which products of a model take weights of fewer than eight bits."""

from dataclasses import dataclass
from typing import Final

from celosia.isa.encoding import WeightType

__all__ = ["INT8_WEIGHTS", "WEIGHT_CHOICES", "WeightTypes", "largest_weight"]


@dataclass(frozen=True, kw_only=True)
class WeightTypes:
    """The type of the weights of a model's products."""

    inner: WeightType = WeightType.INT8
    """The type in products that something follows: those of layers."""
    last: WeightType = WeightType.INT8
    """The type in products whose sums leave the model: that of the vocabulary."""
    lines: int | None = None
    """A product keeps int8 if its inputs are no multiple of these: the lines of a packed tile.

    None: whatever is packed has to fit, or it is refused.
    """

    def asked(self, *, last: bool) -> WeightType:
        """The type of a product, whatever its inputs are; `last`, its sums leave the model."""
        return self.last if last else self.inner

    def of(self, inputs: int, *, last: bool) -> WeightType:
        """The type of a product of so many inputs."""
        fits = self.lines is None or inputs % self.lines == 0
        return self.asked(last=last) if fits else WeightType.INT8


INT8_WEIGHTS: Final = WeightTypes()
WEIGHT_CHOICES: Final = {
    "int8": INT8_WEIGHTS,
    "int4": WeightTypes(inner=WeightType.INT4),
    "int4-vocabulary": WeightTypes(inner=WeightType.INT4, last=WeightType.INT4),
}
"""The types of weights by the names that commands give them."""


def largest_weight(kind: WeightType) -> int:
    """The largest weight that is used, of either sign: 127 or 7."""
    return (1 << kind.bits - 1) - 1
