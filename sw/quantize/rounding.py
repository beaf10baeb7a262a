"""Weights rounded one input after the other, each error made good by the inputs that follow.

That is GPTQ ("GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers",
Frantar et al., arXiv 2210.17323): what rounding the weights of an input loses is correlated with
other inputs, whose weights, not rounded yet, take as much of it as they can.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.reference.encoder import Floats

__all__ = ["Correlation", "correlation", "round_weights"]

_DAMPING: Final = 0.01
"""What is added to the mean square of each input, as a share of their mean."""
_TRUST: Final = 4
"""With so many inputs for each row, half of what rows say of two inputs is believed."""
_GROUP: Final = 1024
"""Errors stay among so many inputs: the cost of more grows with their cube."""
_BLOCK: Final = 64
"""Inputs whose errors are handed on together."""


@dataclass(frozen=True, eq=False)
class Correlation:
    """What inputs of products mean to each other, in groups, the largest inputs first."""

    groups: tuple[tuple[NDArray[np.intp], Floats], ...]
    """The inputs of a group in their order, and a triangle: what each one hands on to others."""
    means: NDArray[np.float64] | None = None
    """The mean of each input, if groups are of what is left without it: a bias makes that good."""


def correlation(x: Floats, *, centered: bool = False) -> Correlation:
    """What the columns of `x` mean to each other, rows of inputs, or `centered` ones."""
    means = x.mean(axis=0, dtype=np.float64) if centered else None
    if means is not None:
        x = (x - means).astype(np.float32)
    order = np.argsort(-np.square(x).mean(axis=0), kind="stable")
    groups = (order[start : start + _GROUP] for start in range(0, len(order), _GROUP))
    return Correlation(tuple((group, _triangle(x[:, group])) for group in groups), means)


def _triangle(x: Floats) -> Floats:
    """The upper Cholesky factor of the inverse of ``x.T @ x``, damped; few rows say little."""
    gram, (rows, inputs) = (x.T @ x).astype(np.float64), x.shape
    squares = gram.diagonal().copy()
    gram *= 1 - inputs / (inputs + _TRUST * rows)
    gram[np.diag_indices(inputs)] = squares + _DAMPING * (squares.mean() or 1.0)
    return np.linalg.cholesky(np.linalg.inv(gram)).T.astype(np.float32)


def round_weights(
    scaled: NDArray[np.float64], inputs: Correlation, largest: int = INT8_LARGEST
) -> Floats:
    """`scaled` weights, (inputs, outputs) in steps, as whole numbers up to `largest`."""
    found = np.empty(scaled.shape, np.float32)
    for group, triangle in inputs.groups:
        found[group] = _round_group(scaled[group].astype(np.float32), triangle, largest)
    return found


def _round_group(left: Floats, triangle: Floats, largest: int) -> Floats:
    """Weights of a group in its order as whole numbers; `left` is used up."""
    whole = np.empty_like(left)
    for start in range(0, len(left), _BLOCK):
        end = min(start + _BLOCK, len(left))
        errors = np.empty_like(left[start:end])
        for one in range(start, end):
            whole[one] = np.clip(np.rint(left[one]), -largest, largest)
            errors[one - start] = (left[one] - whole[one]) / triangle[one, one]
            left[one + 1 : end] -= np.outer(triangle[one, one + 1 : end], errors[one - start])
        left[end:] -= triangle[start:end, end:].T @ errors
    return whole
