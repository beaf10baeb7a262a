"""How alike texts are: by the vectors that a device has computed, and by float32."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.documents.record import As, Named, Rule
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder

__all__ = ["Similarity", "Texts", "compare_texts"]


@dataclass(frozen=True, eq=False)
class Texts:
    """What an encoder is run on."""

    model: QuantizedEncoder
    texts: Sequence[str]
    tokens: Sequence[Sequence[int]]
    published: bool
    """Whether the model's float32 form is the published one."""

    @property
    def lengths(self) -> list[int]:
        """Tokens of each text."""
        return [len(tokens) for tokens in self.tokens]


def _square(array: NDArray[np.float32]) -> list[list[float]]:
    return array.tolist()


def _square_if_known(array: NDArray[np.float32] | None) -> list[list[float]] | None:
    return None if array is None else array.tolist()


def _row_if_known(array: NDArray[np.float32] | None) -> list[float] | None:
    return None if array is None else array.tolist()


@dataclass(frozen=True, eq=False)
class Similarity:
    """Cosines between texts, each of which is a vector."""

    texts: Annotated[Sequence[str], Rule(minItems=1)]
    """What an encoder ran on."""
    lengths: Annotated[Sequence[Annotated[int, Rule(minimum=1)]], Named("tokens")]
    """Tokens of each text, marks included."""
    cosines: Annotated[NDArray[np.float32], As(_square)]
    """The cosine of each text's vector, from the output in device memory, with each other one's: an
    array (texts, texts)."""
    float_cosines: Annotated[NDArray[np.float32] | None, As(_square_if_known)]
    """`cosines` of the texts' vectors in float32; null for a model without float32 weights."""
    to_float: Annotated[NDArray[np.float32] | None, As(_row_if_known)]
    """The cosine of each text's vector with its vector in float32; null without float32 weights."""


def float_vectors(texts: Texts) -> NDArray[np.float32] | None:
    """The vectors of `texts` in float32, if its model is the published one."""
    if not texts.published:
        return None
    # Loaded when it is asked for: it needs packages that nothing else does.
    return import_module("celosia.sw.models.sentences").FloatSentences().vectors(texts.tokens)


def compare_texts(texts: Texts, output: NDArray[Any], *, with_float: bool = True) -> Similarity:
    """The similarity of `texts` by the int16 `output` of their graph, and by float32."""
    sentences = import_module("celosia.sw.models.sentences")
    vectors = sentences.sentence_vectors(texts.model, output, texts.lengths)
    real = float_vectors(texts) if with_float else None
    return Similarity(
        texts=texts.texts,
        lengths=texts.lengths,
        cosines=vectors @ vectors.T,
        float_cosines=None if real is None else real @ real.T,
        to_float=None if real is None else sentences.cosines(vectors, real),
    )
