"""What a decoder's intermediate results are like, and the same decoder with their ranges evened."""

from collections.abc import Mapping, Sequence

import numpy as np

from celosia.sw.quantize.smooth import smoothing_factors
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.llama import Cache, LlamaWeights, forward

__all__ = ["observed", "smoothed"]


def observed(weights: LlamaWeights, calibration: Sequence[Sequence[int]]) -> Mapping[str, Floats]:
    """Every intermediate result of the texts, all texts below each other."""
    parts: dict[str, list[Floats]] = {}

    def through(name: str, value: Floats) -> Floats:
        parts.setdefault(name, []).append(value)
        return value

    for tokens in calibration:
        forward(weights, tokens, Cache(weights.shape, len(tokens)), through)
    return {name: np.concatenate(each) for name, each in parts.items()}


def smoothed(weights: LlamaWeights, seen: Mapping[str, Floats], strength: float) -> LlamaWeights:
    """The same function, with range moved from the operands of products into their weights.

    What makes an operand is divided by a factor for each channel: gamma, the columns of *value*
    (one factor for all heads that share it), the columns of *up*.
    """
    tensors, shape = dict(weights.tensors), weights.shape
    shared = shape.heads // shape.key_heads
    for index in range(shape.layers):
        for name, made_by, used_by, copies in (
            ("input", "attention_norm", ("query", "key", "value"), 1),
            ("attention", "norm", ("gate", "up"), 1),
            ("context", "value", ("output",), shared),
            ("hidden", "up", ("down",), 1),
        ):
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
            tensors[f"{index}.{made_by}"] = tensors[f"{index}.{made_by}"] / factors
            each = np.repeat(factors.reshape(-1, 1, groups[2]), copies, axis=1).reshape(-1, 1)
            for user in users:
                tensors[user] = tensors[user] * each
    return LlamaWeights(shape, tensors)
