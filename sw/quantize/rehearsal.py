"""What integers would cost a decoder, rehearsed in float32: values are rounded where a graph would.

That is how choices of an integer form are compared before there is one.  Rehearsed are the
operands of products in int8 and what stands between products in int16; sums, RMSNorm, SiLU, the
rotary embedding and the softmax are exact, as is the numerator of the softmax.  The table of
embeddings is int8 for the lookup too, which an integer form does not need to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sw.quantize.linear import weight_steps
from celosia.sw.quantize.ranges import INT8_LARGEST, best_step, int16_step
from celosia.sw.quantize.smooth_decoder import observed, smoothed
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.decoder import LlamaWeights
from celosia.sw.reference.language.perplexity import Scorer, float_scorer

__all__ = ["CHOICES", "Choice", "rehearse"]

_OPERANDS: Final = frozenset({"input", "context", "attention", "hidden", "output"})
"""Left operands of products with weights."""
_HEADS: Final = frozenset({"query", "key", "value"})
"""Operands of products in attention: a step for each head."""
_WIDE: Final = frozenset({"embedding", "attention_sum", "sum", "gate", "up"})
"""The residual stream, and what SiLU and its product take."""
_INT16_LARGEST: Final = 32767


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which values are integers."""

    name: str
    rounded: frozenset[str] = frozenset()
    """Names of intermediate results, without the layer's number."""
    smoothing: float | None = None
    """How much of the range of operands moves into weights, as SmoothQuant's strength."""


CHOICES: Final = (
    Choice(name="weights int8, a step for each output"),
    Choice(name="and residuals, gate, up int16", rounded=_WIDE),
    Choice(name="and Q, K, V int8, a step for each head", rounded=_WIDE | _HEADS),
    Choice(name="and operands int8, a step for each tensor", rounded=_WIDE | _HEADS | _OPERANDS),
    Choice(name="all, smoothed", rounded=_WIDE | _HEADS | _OPERANDS, smoothing=0.5),
)
"""Each has what the one before it has."""


def rehearse(weights: LlamaWeights, calibration: Sequence[Sequence[int]], choice: Choice) -> Scorer:
    """The scorer of `weights` with `choice`, whose ranges are those of the `calibration` texts."""
    seen = observed(weights, calibration)
    if choice.smoothing is not None:
        weights = smoothed(weights, seen, choice.smoothing)
        seen = observed(weights, calibration)
    steps = {
        name: _steps(weights, name.rpartition(".")[2], values)
        for name, values in seen.items()
        if name.rpartition(".")[2] in choice.rounded
    }

    def through(name: str, value: Floats) -> Floats:
        if name not in steps:
            return value
        top = _INT16_LARGEST if name.rpartition(".")[2] in _WIDE else INT8_LARGEST
        return _rounded(value, steps[name], top)

    tensors = {name: _rounded_weights(name, x) for name, x in weights.tensors.items()}
    return float_scorer(LlamaWeights(weights.shape, tensors), through)


def _steps(weights: LlamaWeights, name: str, values: Floats) -> Floats:
    """The step of each column of an intermediate result."""
    columns = values.shape[1]
    if name in _WIDE:
        return np.full(columns, int16_step(values), np.float32)
    heads = columns // weights.shape.head_width if name in _HEADS else 1
    steps = [best_step(part) for part in np.split(values, heads, axis=1)]
    return np.repeat(np.array(steps, np.float32), columns // heads)


def _rounded(x: Floats, steps: Floats, top: int) -> Floats:
    return np.clip(np.rint(x / steps), -top, top).astype(np.float32) * steps


def _rounded_weights(name: str, x: Floats) -> Floats:
    """A matrix in int8, with a step for each output; gammas stay, int16 has room for them."""
    if x.ndim == 1:
        return x
    outputs_last = x.T if name == "embedding" else x
    rounded = _rounded(outputs_last, weight_steps(outputs_last), INT8_LARGEST)
    return np.ascontiguousarray(rounded.T) if name == "embedding" else rounded
