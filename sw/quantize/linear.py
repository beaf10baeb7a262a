"""Products: weights in int8 with a step for each output, and the bias in steps of the sums."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import nearest
from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.quantize.rounding import Correlation, round_weights
from celosia.sw.reference.encoder import Linear

__all__ = ["IntegerLinear", "quantize_linear", "weight_steps"]

_BIAS_LIMIT: Final = 1 << 30
"""Leaves as much again for the products."""


@dataclass(frozen=True, eq=False)
class IntegerLinear:
    """``x @ weights + bias`` in integers; each output in its own steps."""

    weights: NDArray[np.int8]
    bias: NDArray[np.int32]
    steps: NDArray[np.float64]
    """What 1 in the sum of each output stands for."""

    @classmethod
    def outline(cls, linear: Linear) -> "IntegerLinear":
        """Integers of the sizes of `linear` that mean nothing, in steps of 1.

        They have a bias where `linear` has one: without one, there is nothing to load.
        """
        weights = np.zeros(linear.weights.shape, np.int8)
        bias = np.where(linear.bias, np.int32(1), np.int32(0))
        return cls(weights, bias, np.ones(len(bias)))

    def part(self, columns: NDArray[np.intp]) -> "IntegerLinear":
        """Some of the outputs."""
        return IntegerLinear(self.weights[:, columns], self.bias[columns], self.steps[columns])

    def padded(self, outputs: int) -> "IntegerLinear":
        """The same with outputs that are 0 behind its own: so many in all."""
        more = outputs - len(self.bias)
        if not more:
            return self
        weights, bias = np.pad(self.weights, ((0, 0), (0, more))), np.pad(self.bias, (0, more))
        return IntegerLinear(weights, bias, np.pad(self.steps, (0, more), constant_values=1))


def weight_steps(weights: NDArray[Any]) -> NDArray[Any]:
    """The step of each output (column): its largest weight is 127."""
    top = np.abs(weights).max(axis=0)
    return np.where(top > 0, top, 1) / INT8_LARGEST


def quantize_linear(
    linear: Linear,
    in_steps: Any,
    zero_point: int = 0,
    inputs: Correlation | None = None,
    *,
    per_tensor: bool = False,
) -> IntegerLinear:
    """`linear` for integer inputs in steps of `in_steps`, one or one per input.

    The `zero_point` of the inputs is folded into the bias.  With the correlation of the `inputs`,
    in their steps, weights make each other's errors good.  `per_tensor`, all outputs have one step.
    """
    steps_in = np.broadcast_to(np.asarray(in_steps, np.float64), len(linear.weights))
    weights = linear.weights * steps_in[:, np.newaxis]
    # A bias beyond the limit belongs to an output of next to no weights: coarser steps do.
    steps = np.maximum(weight_steps(weights), np.abs(linear.bias) / _BIAS_LIMIT).astype(np.float64)
    if per_tensor:
        steps = np.full_like(steps, steps.max(initial=0))
    whole = weights / steps if inputs is None else round_weights(weights / steps, inputs)
    small = nearest(np.clip(whole, -INT8_LARGEST, INT8_LARGEST), np.int8, "weights")
    bias = np.rint(linear.bias / steps).astype(np.int64)
    bias -= zero_point * small.sum(axis=0, dtype=np.int64)
    return IntegerLinear(small, nearest(bias, np.int32, "bias"), steps)
