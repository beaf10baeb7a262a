"""What a decoder's intermediate results are like, and the same decoder with their ranges evened."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from celosia.sw.quantize.smooth import smoothing_factors
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.decoder import Cache, DecoderWeights, forward
from celosia.sw.reference.language.shape import Sizes

__all__ = ["observed", "smoothed"]

_Weights = TypeVar("_Weights", bound=DecoderWeights)


def observed(weights: DecoderWeights, calibration: Sequence[Sequence[int]]) -> Mapping[str, Floats]:
    """Every intermediate result of the texts, all texts below each other."""
    parts: dict[str, list[Floats]] = {}

    def through(name: str, value: Floats) -> Floats:
        parts.setdefault(name, []).append(value)
        return value

    for tokens in calibration:
        forward(weights, tokens, Cache(weights.shape, len(tokens)), through)
    return {name: np.concatenate(each) for name, each in parts.items()}


def smoothed(weights: _Weights, seen: Mapping[str, Floats], strength: float) -> _Weights:
    """The same function, with range moved from the operands of products into their weights.

    What makes an operand is divided by a factor for each channel: gamma and beta, the columns of
    *value* (one factor for all heads that share it), and, but before GELU, the columns of *up*.
    """
    tensors, shape = dict(weights.tensors), weights.shape
    for index in range(shape.layers):
        for name, made_by, used_by, copies in _operands(shape):
            users = [f"{index}.{user}" for user in used_by]
            together = np.concatenate([tensors[user] for user in users], axis=1)
            ranges = np.abs(seen[f"{index}.{name}"]).max(axis=0)
            # Columns of V serve several heads of the context: groups x heads x columns.
            groups = (-1, copies, shape.head_width if copies > 1 else 1)
            factors = smoothing_factors(
                ranges.reshape(groups).max(axis=1).reshape(-1),
                np.abs(together).max(axis=1).reshape(groups).max(axis=1).reshape(-1, 1),
                strength,
            )
            for part in ("", ".bias", ".beta"):
                if (maker := f"{index}.{made_by}{part}") in tensors:
                    tensors[maker] = tensors[maker] / factors
            each = np.repeat(factors.reshape(-1, 1, groups[2]), copies, axis=1).reshape(-1, 1)
            for user in users:
                tensors[user] = tensors[user] * each
    return replace(weights, tensors=tensors)


def _operands(shape: Sizes) -> Iterator[tuple[str, str, tuple[str, ...], int]]:
    """Operands of products, what makes and what uses them, and how many heads share a column."""
    read = ("gate", "up") if shape.form == "llama" else ("up",)
    yield "input", "attention_norm", ("query", "key", "value"), 1
    yield "attention", "norm", read, 1
    yield "context", "value", ("output",), shape.heads // shape.key_heads
    if shape.form != "gpt2":
        yield "hidden", "up", ("down",), 1
