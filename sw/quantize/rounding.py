"""Weights rounded one input after the other, each error made good by the inputs that follow.

That is GPTQ ("GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers",
Frantar et al., arXiv 2210.17323): what rounding the weights of an input loses is correlated with
other inputs, whose weights, not rounded yet, take as much of it as they can.

Where weights have few values, more is left to gain: `searched_weights` rounds with several steps
and keeps the best one of each output, fits it to what was rounded, and then moves one weight after
the other to where the error is least.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.reference.encoder import Floats

__all__ = ["Correlation", "InputGroup", "correlation", "round_weights", "searched_weights"]

_DAMPING: Final = 0.01
"""What is added to the mean square of each input, as a share of their mean."""
_TRUST: Final = 4
"""With so many inputs for each row, half of what rows say of two inputs is believed."""
_GROUP: Final = 1024
"""Errors stay among so many inputs: the cost of more grows with their cube."""
_BLOCK: Final = 64
"""Inputs whose errors are handed on together."""


_SHARES: Final = (0.8, 0.9, 1.0, 1.1)
"""Steps that are tried, over those that each weight alone loses least by."""
_PASSES: Final = 2
"""How often each weight is looked at again."""


@dataclass(frozen=True, eq=False)
class InputGroup:
    """Inputs that make each other's errors good."""

    inputs: NDArray[np.intp]
    """Their numbers, in their order."""
    gram: Floats
    """Their products with each other, damped."""
    triangle: Floats
    """What each one hands on to those behind it."""


@dataclass(frozen=True, eq=False)
class Correlation:
    """What inputs of products mean to each other, in groups, the largest inputs first."""

    groups: tuple[InputGroup, ...]
    means: NDArray[np.float64] | None = None
    """The mean of each input, if groups are of what is left without it: a bias makes that good."""

    def lost(self, errors: NDArray[np.float64]) -> NDArray[np.float64]:
        """The squared error of each output by `errors` of its weights."""
        parts = ((group, errors[group.inputs].astype(np.float32)) for group in self.groups)
        return sum(
            (((group.gram @ part) * part).sum(axis=0, dtype=np.float64) for group, part in parts),
            np.zeros(errors.shape[1]),
        )


def correlation(x: Floats, *, centered: bool = False) -> Correlation:
    """What the columns of `x` mean to each other, rows of inputs, or `centered` ones."""
    means = x.mean(axis=0, dtype=np.float64) if centered else None
    if means is not None:
        x = (x - means).astype(np.float32)
    order = np.argsort(-np.square(x).mean(axis=0), kind="stable")
    groups = (order[start : start + _GROUP] for start in range(0, len(order), _GROUP))
    return Correlation(tuple(_group(x[:, group], group) for group in groups), means)


def _group(x: Floats, order: NDArray[np.intp]) -> InputGroup:
    """``x.T @ x``, damped, and the upper Cholesky factor of its inverse; few rows say little."""
    gram, (rows, inputs) = (x.T @ x).astype(np.float64), x.shape
    squares = gram.diagonal().copy()
    gram *= 1 - inputs / (inputs + _TRUST * rows)
    gram[np.diag_indices(inputs)] = squares + _DAMPING * (squares.mean() or 1.0)
    triangle = np.linalg.cholesky(np.linalg.inv(gram)).T.astype(np.float32)
    return InputGroup(order, gram.astype(np.float32), triangle)


def round_weights(
    scaled: NDArray[np.float64], inputs: Correlation, largest: int = INT8_LARGEST
) -> Floats:
    """`scaled` weights, (inputs, outputs) in steps, as whole numbers up to `largest`."""
    found = np.empty(scaled.shape, np.float32)
    for group in inputs.groups:
        left = scaled[group.inputs].astype(np.float32)
        found[group.inputs] = _round_group(left, group.triangle, largest)
    return found


def searched_weights(
    weights: NDArray[np.float64], steps: NDArray[np.float64], inputs: Correlation, largest: int
) -> tuple[Floats, NDArray[np.float64]]:
    """Whole weights up to `largest`, (inputs, outputs), and the step of each output.

    No output loses more by them than by `round_weights` with `steps`.
    """
    found, best = np.zeros(weights.shape, np.float32), steps
    least = np.full(steps.shape, np.inf)
    for share in _SHARES:
        whole = round_weights(weights / (steps * share), inputs, largest)
        lost = inputs.lost(weights - whole * (steps * share))
        better = lost < least
        found[:, better] = whole[:, better]
        best, least = np.where(better, steps * share, best), np.minimum(lost, least)
    steps = best
    for _ in range(_PASSES):
        steps = _fitted(weights, found, steps, inputs)
        for group in inputs.groups:
            part = found[group.inputs]
            _descend(weights[group.inputs] / steps, part, group.gram, largest)
            found[group.inputs] = part
    return found, _fitted(weights, found, steps, inputs)


def _fitted(
    weights: NDArray[np.float64], whole: Floats, steps: NDArray[np.float64], inputs: Correlation
) -> NDArray[np.float64]:
    """The steps with the least squared error of products; those of outputs without any stay."""
    both, squares = np.zeros_like(steps), np.zeros_like(steps)
    for group in inputs.groups:
        part = whole[group.inputs]
        products = group.gram @ part
        both += (weights[group.inputs] * products).sum(axis=0)
        squares += (part * products).sum(axis=0, dtype=np.float64)
    known = (both > 0) & (squares > 0)
    return np.where(known, both / np.where(known, squares, 1), steps)


def _descend(scaled: NDArray[np.float64], whole: Floats, gram: Floats, largest: int) -> None:
    """Move each weight of a group to where the error is least, the others as they are."""
    left = gram @ (scaled - whole).astype(np.float32)
    for one, square in enumerate(gram.diagonal()):
        best = np.clip(np.rint(whole[one] + left[one] / square), -largest, largest)
        moved = np.flatnonzero(best != whole[one])
        left[:, moved] -= np.outer(gram[:, one], best[moved] - whole[one, moved])
        whole[one, moved] = best[moved]


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
