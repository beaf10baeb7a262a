"""A decoder in integers: what its graphs are made of, whoever made the numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from numpy.typing import NDArray

from celosia.sw.models.decoder_shape import DecoderShape

__all__ = ["BURST_COLUMNS", "IntegerDecoder"]

BURST_COLUMNS: Final = 64
"""Columns of the vocabulary's product are a multiple of this: rows of its weights are whole
bursts."""


@dataclass(frozen=True, eq=False)
class IntegerDecoder:
    """A decoder's matrices, parameters of columns and norms by name, and its scales."""

    shape: DecoderShape
    tensors: Mapping[str, NDArray[Any]]
    """Weights int8, bias and beta int32, scales float32, gamma int16; vectors have one row."""
    scalars: Mapping[str, float]
    """Scales of whole tensors, zero points, and what RMSNorm adds to the sum of squares."""
    heads: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Scales of tensors that have one for each head."""
    stored_scores: bool = False
    """Scores of attention may wait in memory, as int16."""
    stream_spread: float = 0.0
    """The standard deviation of the sums of embeddings, where they are drawn; 0: they are not."""

    def scalar(self, name: str) -> float:
        """A scale of whole tensors."""
        return self.scalars[name]
