"""An encoder in integers: formats, calibrated once, and graphs of them for texts of any lengths.

Formats, weights and scales are those of `celosia.sw.quantize.graphs`, as for any other model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import nearest
from celosia.sw.ir.graph import Graph
from celosia.sw.quantize.checks import check_finite
from celosia.sw.quantize.encoders.float_graph import Norms, encoder_float_graph, encoder_outline
from celosia.sw.quantize.graphs.choose_formats import choose_formats
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.graphs.quantized import instantiate
from celosia.sw.quantize.ranges import Clip, largest
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import (
    EncoderShape,
    EncoderWeights,
    Floats,
    Norm,
    encode,
)

__all__ = ["INPUT", "OUTPUT", "Progress", "QuantizedEncoder", "Tables", "quantize_encoder"]

Progress = Callable[[int, int], object]
"""Told the formats and products that are chosen so far, and their number."""

INPUT: Final = Form("embedding", "wide")
OUTPUT: Final = Form("output", "wide")

_ROWS: Final = 2048
"""The most rows of each tensor that formats are chosen by."""
_LARGEST_ROW: Final = 32766
"""One less than int16 holds: both terms of a sum of embeddings may be rounded up."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Embeddings in int16, whose sums are the integer input; the token type is in positions."""

    words: NDArray[np.int16]
    positions: NDArray[np.int16]

    def sums(self, texts: Sequence[Sequence[int]]) -> NDArray[np.int16]:
        """The encoder's input for texts of tokens, below each other.

        Raises `ValueError` for no text, or one that is empty, longer than the table of positions,
        or has a token that is no word.
        """
        if not texts:
            raise ValueError("no text")
        words, positions = self.words, self.positions
        for index, tokens in enumerate(texts):
            if not 1 <= len(tokens) <= len(positions):
                found = f"{len(tokens)} tokens are not in 1..{len(positions)}"
                raise ValueError(f"text {index}: {found}")
            for token in tokens:
                if not 0 <= token < len(words):
                    raise ValueError(f"text {index}: token {token} is not in 0..{len(words) - 1}")
        return np.concatenate([words[list(tokens)] + positions[: len(tokens)] for tokens in texts])


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantizedEncoder:
    """An encoder's formats, and what its float graphs are made of beside its products."""

    shape: EncoderShape
    norm: Norm
    """The normalization of the input."""
    norms: Norms
    formats: Formats
    """Also the integers of products."""
    tables: Tables | None = None
    """What the input is looked up in, if it has any."""

    @property
    def input_step(self) -> float:
        """What 1 stands for in the int16 input."""
        return self.formats.forms[INPUT].step

    @property
    def output_step(self) -> float:
        """What 1 stands for in the int16 output."""
        return self.formats.forms[OUTPUT].step

    def embed(self, texts: Sequence[Sequence[int]]) -> NDArray[np.int16]:
        """The integer input for texts of tokens.

        Raises `ValueError` as `Tables.sums` does, and for a model without tables.
        """
        if self.tables is None:
            raise ValueError("the model has no embeddings")
        return self.tables.sums(texts)

    def graph(self, lengths: Sequence[int]) -> Graph:
        """The integer graph for texts of `lengths` tokens, a row for each token.

        The only input is int16, the sums of embeddings, and so is the only output.  Names of
        operators and tensors begin with the layer's number.  Raises `ValueError` for no text, or
        one without tokens.
        """
        found = encoder_float_graph(encoder_outline(self.shape, self.norm, self.norms), lengths)
        (segment,) = instantiate(found, self.formats, named=True).segments
        return segment.graph


def quantize_encoder(
    weights: EncoderWeights,
    x: Floats,
    lengths: Sequence[int],
    *,
    embeddings: Embeddings | None = None,
    progress: Progress = lambda done, total: None,
    clip: Clip = "error",
    types: WeightTypes = INT8_WEIGHTS,
) -> QuantizedEncoder:
    """`weights` as integers, calibrated on `x`: the sums of embeddings of texts of `lengths`.

    Values of 8 bits are clipped by the criterion `clip`, weights are of these `types`.  With
    `embeddings`, the model has their tables, and their sums never saturate.  Raises `ValueError`
    for weights, tables or activations that are not finite, and for what is too large.
    """
    check_finite(weights, embeddings, x)
    graph = encoder_float_graph(weights, lengths[:1])
    units = find_units(graph)
    for name, reason in units.refusals.items():
        raise ValueError(f"{name}: {reason}")
    seen = Observed(units.values.values(), _ROWS)
    encode(weights, x, lengths, lambda name, value: seen.take(0, name, value))
    formats = choose_formats(plan_segments(graph, units), seen, clip, progress, weights=types)
    formats = replace(formats, alike_heads=True)
    tables = None
    if embeddings is not None:
        tables, step = _tables(embeddings)
        source = Format("int16", np.full(weights.shape.width, step))
        formats = replace(formats, forms={**formats.forms, INPUT: source})
    model = QuantizedEncoder(
        shape=weights.shape,
        norm=weights.norm,
        norms=tuple((layer.attention_norm, layer.norm) for layer in weights.layers),
        formats=formats,
        tables=tables,
    )
    model.graph([1])  # What is too large is said now.
    return model


def _tables(embeddings: Embeddings) -> tuple[Tables, float]:
    """Tables with the step with which no sum of a word and a position exceeds int16."""
    top = (largest(embeddings.words) + largest(embeddings.positions)) or 1.0
    step = top / _LARGEST_ROW
    factor = np.float32(1 / step)
    words, positions = (
        nearest(table * factor, np.int16, f"embedding.{name}")
        for name, table in vars(embeddings).items()
    )
    return Tables(words, positions), step
