"""The checks of what quantization refuses: NaN and infinity."""

from collections.abc import Iterator

import numpy as np

from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderWeights, Floats, Linear, Norm

__all__ = ["check_finite"]


def check_finite(weights: EncoderWeights, embeddings: Embeddings | None, x: Floats) -> None:
    """Raise `ValueError` that names the first array with a NaN or an infinity."""
    for name, values in _arrays(weights, embeddings, x):
        # A sum is as finite as its terms, or overflows, which float64 rules out for float32.
        if not np.isfinite(values.sum(dtype=np.float64)):
            row, col = np.argwhere(~np.isfinite(np.atleast_2d(values)))[0]
            value = np.atleast_2d(values)[row, col]
            raise ValueError(f"{name}: {value} at row {row}, column {col} is not finite")


def _arrays(
    weights: EncoderWeights, embeddings: Embeddings | None, x: Floats
) -> Iterator[tuple[str, Floats]]:
    yield "calibration", x
    if embeddings is not None:
        yield "embedding.words", embeddings.words
        yield "embedding.positions", embeddings.positions
    yield from _parts("norm", weights.norm)
    for index, layer in enumerate(weights.layers):
        for name, part in vars(layer).items():
            yield from _parts(f"layers.{index}.{name}", part)


def _parts(name: str, part: Linear | Norm) -> Iterator[tuple[str, Floats]]:
    for field, values in vars(part).items():
        yield f"{name}.{field}", values
