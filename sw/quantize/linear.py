"""Products: weights in int8 or int4, a step for each output, and the bias in steps of the sums."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import WeightType
from celosia.isa.numerics import nearest
from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.quantize.rounding import Correlation, round_weights, searched_weights
from celosia.sw.quantize.weight_types import largest_weight
from celosia.sw.reference.encoder import Linear

__all__ = ["IntegerLinear", "quantize_linear", "searched_steps", "weight_steps"]

_BIAS_LIMIT: Final = 1 << 30
"""Leaves as much again for the products."""


_FRACTIONS: Final = np.linspace(0.6, 1, 17)
"""Shares of the largest weight of an output that are tried as the largest one it can have."""


@dataclass(frozen=True, eq=False)
class IntegerLinear:
    """``x @ weights + bias`` in integers; each output in its own steps."""

    weights: NDArray[np.int8]
    bias: NDArray[np.int32]
    steps: NDArray[np.float64]
    """What 1 in the sum of each output stands for."""
    kind: WeightType = WeightType.INT8
    """The type that holds the weights."""

    @classmethod
    def outline(cls, linear: Linear, kind: WeightType = WeightType.INT8) -> "IntegerLinear":
        """Integers of the sizes of `linear` that mean nothing, of this `kind`, in steps of 1.

        They have a bias where `linear` has one: without one, there is nothing to load.
        """
        weights = np.zeros(linear.weights.shape, np.int8)
        bias = np.where(linear.bias, np.int32(1), np.int32(0))
        return cls(weights, bias, np.ones(len(bias)), kind)

    def part(self, columns: NDArray[np.intp]) -> "IntegerLinear":
        """Some of the outputs."""
        return replace(
            self,
            weights=self.weights[:, columns],
            bias=self.bias[columns],
            steps=self.steps[columns],
        )

    def padded(self, outputs: int) -> "IntegerLinear":
        """The same with outputs that are 0 behind its own: so many in all."""
        more = outputs - len(self.bias)
        if not more:
            return self
        return replace(
            self,
            weights=np.pad(self.weights, ((0, 0), (0, more))),
            bias=np.pad(self.bias, (0, more)),
            steps=np.pad(self.steps, (0, more), constant_values=1),
        )


def weight_steps(weights: NDArray[Any], most: int = INT8_LARGEST) -> NDArray[Any]:
    """The step of each output (column): its largest weight is `most`."""
    top = np.abs(weights).max(axis=0)
    return np.where(top > 0, top, 1) / most


def searched_steps(weights: NDArray[Any], most: int) -> NDArray[Any]:
    """The step of each output with the least squared error of its weights, each rounded alone.

    With few steps a clipped weight costs less than coarser steps for all others.
    """
    whole = weight_steps(weights, most)
    found, least = whole, np.full(whole.shape, np.inf)
    for fraction in _FRACTIONS:
        steps = whole * fraction
        kept = np.clip(np.rint(weights / steps), -most, most) * steps
        error = np.square(kept - weights).sum(axis=0)
        found, least = np.where(error < least, steps, found), np.minimum(error, least)
    return found


def quantize_linear(
    linear: Linear,
    in_steps: Any,
    zero_point: int = 0,
    inputs: Correlation | None = None,
    *,
    per_tensor: bool = False,
    kind: WeightType = WeightType.INT8,
) -> IntegerLinear:
    """`linear` for integer inputs in steps of `in_steps`, one or one per input.

    The `zero_point` of the inputs is folded into the bias.  With the correlation of the `inputs`,
    in their steps, weights make each other's errors good, and if it has means, the bias what is
    lost of these.  `per_tensor`, all outputs have one step.  The weights are of this `kind`.
    """
    most = largest_weight(kind)
    steps_in = np.broadcast_to(np.asarray(in_steps, np.float64), len(linear.weights))
    weights = linear.weights * steps_in[:, np.newaxis]
    # A bias beyond the limit belongs to an output of next to no weights: coarser steps do.
    own = weight_steps if kind is WeightType.INT8 else searched_steps
    steps = np.maximum(own(weights, most), np.abs(linear.bias) / _BIAS_LIMIT).astype(np.float64)
    if per_tensor:
        steps = np.full_like(steps, steps.max(initial=0))
    if inputs is None:
        whole = weights / steps
    elif kind is WeightType.INT8 or per_tensor:
        whole = round_weights(weights / steps, inputs, most)
    else:
        whole, found = searched_weights(weights, steps, inputs, most)
        steps = np.maximum(found, np.abs(linear.bias) / _BIAS_LIMIT)
    small = nearest(np.clip(whole, -most, most), np.int8, "weights")
    exact = linear.bias / steps
    if inputs is not None and inputs.means is not None:
        exact = exact + inputs.means @ (weights / steps - small)
    bias = np.rint(exact).astype(np.int64)
    bias -= zero_point * small.sum(axis=0, dtype=np.int64)
    return IntegerLinear(small, nearest(bias, np.int32, "bias"), steps, kind)
