"""An encoder, pruned: its hidden channels, and the narrower weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from celosia.lab.prune.part import Criterion, Gram, Part, kept_columns, repaired
from celosia.lab.prune.share import Share
from celosia.sw.reference.encoder import (
    EncoderWeights,
    Floats,
    LayerWeights,
    Linear,
    encode,
    segments,
)

__all__ = ["calibrate", "prune_encoder", "varied"]

_ROWS: Final = 2048
"""About so many tokens are computed together."""
_COPIES: Final = 3
"""How many of each text `varied` makes."""
_REPLACED: Final = 0.15
"""The share of a copy's tokens that are others."""
_FIRST_WORD: Final = 2000
"""Tokens of BERT's vocabulary from here on are words and parts of words of its language."""


def varied(texts: Sequence[Sequence[int]], words: int, seed: int = 0) -> list[list[int]]:
    """Each text, and behind it copies in which some tokens between the marks are others.

    Few texts have few words; others, drawn of a vocabulary of so many `words`, show a layer more of
    what its inputs may be.
    """
    random, found = np.random.default_rng(seed), []
    for text in texts:
        found.append(list(text))
        for _ in range(_COPIES):
            copy = np.array(text)
            other = random.random(len(copy)) < _REPLACED
            other[[0, -1]] = False
            copy[other] = random.integers(_FIRST_WORD, words, int(other.sum()))
            found.append(copy.tolist())
    return found


def calibrate(weights: EncoderWeights, x: Floats, lengths: Sequence[int]) -> list[Gram]:
    """The Gram matrices of each layer's hidden channels, for texts of `lengths` tokens."""
    grams = [Gram(weights.shape.hidden) for _ in weights.layers]

    def observe(name: str, value: Floats) -> None:
        layer, _, what = name.partition(".")
        if what == "hidden":
            grams[int(layer)].add(value)

    batch: list[slice] = []
    for rows in [*segments(lengths), None]:
        if batch and (rows is None or rows.stop - batch[0].start > _ROWS):
            together = x[batch[0].start : batch[-1].stop]
            encode(weights, together, [each.stop - each.start for each in batch], observe)
            batch = []
        if rows is not None:
            batch.append(rows)
    return grams


def prune_encoder(
    weights: EncoderWeights,
    grams: Sequence[Gram],
    criterion: Criterion,
    ffn: Share,
    *,
    dim: int,
    repair: bool,
) -> EncoderWeights:
    """`weights` with fewer hidden channels, a multiple of `dim`, in each layer.

    Raises `InputError` for a share that leaves nothing, or removes nothing.
    """
    kept = ffn.channels(weights.shape.hidden, dim)
    layers = tuple(
        _narrower(layer, gram, criterion, kept, repair)
        for layer, gram in zip(weights.layers, grams, strict=True)
    )
    return replace(weights, shape=replace(weights.shape, hidden=kept), layers=layers)


def _narrower(
    layer: LayerWeights, gram: Gram, criterion: Criterion, count: int, repair: bool
) -> LayerWeights:
    up, down = layer.up, layer.down
    made = np.linalg.norm(up.weights, axis=0)
    part = Part(unit=1, made=made, reader=down.weights, gram=gram)
    kept = kept_columns(part, criterion, count)
    rows, bias = down.weights[kept], down.bias
    if repair:
        rows, added = repaired(part, kept, bias=True)
        bias = bias + added
    return replace(layer, up=Linear(up.weights[:, kept], up.bias[kept]), down=Linear(rows, bias))
