"""An encoder, pruned: its hidden channels and heads, and the narrower weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.prune.parts.part import Gram, Part, kept_columns, repaired
from celosia.lab.prune.pruned import Wanted
from celosia.sw.reference.encoder import (
    EncoderWeights,
    Floats,
    LayerWeights,
    Linear,
    encode,
    segments,
)

__all__ = ["calibrate", "count_weights", "prune_encoder", "varied", "zero_encoder"]

_READERS: Final = {
    "input": ("query", "key", "value"),
    "context": ("output",),
    "attention": ("up",),
    "hidden": ("down",),
}
"""The matrices that read what `encode` calls by these names."""

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


def calibrate(weights: EncoderWeights, x: Floats, lengths: Sequence[int]) -> dict[str, Gram]:
    """The Gram matrices of what can be made narrower, for texts of `lengths` tokens.

    They are called as `encode` calls it: ``0.hidden`` and ``0.context``, ``0.input`` and
    ``0.attention``.
    """
    shape = weights.shape
    widths = {"hidden": shape.hidden, "context": shape.attention}
    widths |= dict.fromkeys(("input", "attention"), shape.width)
    grams = {
        f"{layer}.{name}": Gram(width)
        for layer in range(weights.shape.layers)
        for name, width in widths.items()
    }

    def observe(name: str, value: Floats) -> None:
        if name in grams:
            grams[name].add(value)

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
    weights: EncoderWeights, grams: Mapping[str, Gram], wanted: Wanted
) -> EncoderWeights:
    """`weights` with fewer hidden channels, a multiple of `dim`, and fewer heads in each layer.

    Raises `InputError` for a share that leaves nothing, or removes nothing.
    """
    shape, layers = weights.shape, weights.layers
    if wanted.heads is not None:
        heads, width = wanted.heads.heads(shape.heads, 1), shape.head_width
        layers = tuple(
            _fewer_heads(layer, grams[f"{index}.context"], wanted, heads, width)
            for index, layer in enumerate(layers)
        )
        shape = replace(shape, heads=heads, attention=heads * width)
    if wanted.ffn is not None:
        kept = wanted.ffn.channels(shape.hidden, wanted.dim)
        layers = tuple(
            _fewer_channels(layer, grams[f"{index}.hidden"], wanted, kept)
            for index, layer in enumerate(layers)
        )
        shape = replace(shape, hidden=kept)
    return replace(weights, shape=shape, layers=layers)


def zero_encoder(
    weights: EncoderWeights, grams: Mapping[str, Gram], wanted: Wanted
) -> EncoderWeights:
    """`weights` with tiles of zeros in each matrix.

    Raises `InputError` for a share that leaves nothing, or removes nothing.
    """
    layers = []
    for index, layer in enumerate(weights.layers):
        changed = {
            name: wanted.without_tiles(getattr(layer, name), grams[f"{index}.{source}"], bias=True)
            for source, names in _READERS.items()
            for name in names
        }
        layers.append(replace(layer, **changed))
    return replace(weights, layers=tuple(layers))


def count_weights(weights: EncoderWeights) -> int:
    """Elements of all matrices that are not zero."""
    return sum(
        int(np.count_nonzero(getattr(layer, name).weights))
        for layer in weights.layers
        for names in _READERS.values()
        for name in names
    )


def _fewer_heads(
    layer: LayerWeights, gram: Gram, wanted: Wanted, heads: int, width: int
) -> LayerWeights:
    made = np.linalg.norm(layer.value.weights, axis=0)
    part = Part(unit=width, made=made, reader=layer.output.weights, gram=gram)
    kept, output = _cut(part, layer.output, wanted, heads)
    query, key, value = (_columns(each, kept) for each in (layer.query, layer.key, layer.value))
    return replace(layer, query=query, key=key, value=value, output=output)


def _fewer_channels(layer: LayerWeights, gram: Gram, wanted: Wanted, count: int) -> LayerWeights:
    made = np.linalg.norm(layer.up.weights, axis=0)
    part = Part(unit=1, made=made, reader=layer.down.weights, gram=gram)
    kept, down = _cut(part, layer.down, wanted, count)
    return replace(layer, up=_columns(layer.up, kept), down=down)


def _cut(part: Part, reader: Linear, wanted: Wanted, units: int) -> tuple[NDArray[np.intp], Linear]:
    """The columns that are kept, and what reads them, which is repaired if that is wanted."""
    kept = kept_columns(part, wanted.criterion, units)
    rows, bias = reader.weights[kept], reader.bias
    if wanted.repair:
        rows, added = repaired(part, kept, bias=True)
        bias = bias + added
    return kept, Linear(rows, bias)


def _columns(linear: Linear, kept: NDArray[np.intp]) -> Linear:
    return Linear(linear.weights[:, kept], linear.bias[kept])
