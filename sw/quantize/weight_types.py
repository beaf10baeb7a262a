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

    def of(self, *, last: bool) -> WeightType:
        """The type of a product; `last`, its sums leave the model."""
        return self.last if last else self.inner


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
