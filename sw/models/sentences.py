"""Sentences as vectors: the published model in float32, and quantized.

The integer graph of an encoder is between the two halves of this: the host looks up embeddings
before it, and takes the mean and normalizes behind it.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.quantize.encoders.encoder import Progress, QuantizedEncoder, quantize_encoder
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes
from celosia.sw.reference.embedding import pool
from celosia.sw.reference.encoder import Floats, encode
from celosia.sw.reference.published import model_files, read_embeddings, read_encoder, tokenize
from celosia.sw.reference.texts import calibration_texts, evaluation_texts

__all__ = [
    "FloatSentences",
    "cosines",
    "evaluation_cosines",
    "integer_vectors",
    "model_key",
    "quantize_published",
    "sentence_vectors",
]

_BATCH_TOKENS: Final = 512
"""Texts are computed together up to about so many tokens."""


def quantize_published(
    progress: Progress = lambda done, total: None,
    *,
    clip: Clip = "error",
    types: WeightTypes = INT8_WEIGHTS,
) -> QuantizedEncoder:
    """The published model, quantized with the project's calibration texts and this criterion.

    Weights are of these `types`.

    Raises `MissingModelError` without the package, `ValueError` for weights that are not finite.
    """
    embeddings, tokens = read_embeddings(), tokenize(calibration_texts())
    lengths = [len(text) for text in tokens]
    x = embeddings.sums(tokens)
    return quantize_encoder(
        read_encoder(),
        x,
        lengths,
        embeddings=embeddings,
        progress=progress,
        clip=clip,
        types=types,
    )


def model_key() -> str:
    """A name for what `quantize_published` is given: the package's files, the calibration texts."""
    state = blake2b(digest_size=16)
    for path in model_files():
        state.update(blake2b(path.read_bytes()).digest())
    for text in calibration_texts():
        state.update(blake2b(text.encode()).digest())
    return state.hexdigest()


class FloatSentences:
    """The published model in float32."""

    def __init__(self) -> None:
        self.embeddings = read_embeddings()
        self.weights = read_encoder()

    def vectors(self, texts: Sequence[Sequence[int]]) -> Floats:
        """A row of norm 1 for each text of tokens."""
        parts = []
        for batch in _batches(texts):
            lengths = [len(tokens) for tokens in batch]
            tokens = encode(self.weights, self.embeddings.sums(batch), lengths)
            parts.append(pool(tokens, lengths))
        return np.concatenate(parts)


def integer_vectors(
    model: QuantizedEncoder,
    texts: Sequence[Sequence[int]],
    config: AcceleratorConfig | None = None,
) -> Floats:
    """A row of norm 1 for each text of tokens, by the integer graph in NumPy.

    Its scales are as short as `config` takes them, if it is given.
    """
    parts = []
    for batch in _batches(texts):
        lengths = [len(tokens) for tokens in batch]
        graph = model.graph(lengths)
        (source,), (output,) = graph.inputs, graph.outputs
        graph = short_scales(graph, config) if config else graph
        values = interpret(graph, {source: model.embed(batch)})
        parts.append(sentence_vectors(model, values[output], lengths))
    return np.concatenate(parts)


def evaluation_cosines(model: QuantizedEncoder, config: AcceleratorConfig | None = None) -> Floats:
    """The cosine of each evaluation text's vector, as `integer_vectors` has it, to float32."""
    tokens = tokenize(evaluation_texts())
    return cosines(integer_vectors(model, tokens, config), FloatSentences().vectors(tokens))


def sentence_vectors(
    model: QuantizedEncoder, output: NDArray[Any], lengths: Sequence[int]
) -> Floats:
    """The vectors of texts of `lengths` from the int16 output of the graph."""
    return pool(output * np.float32(model.output_step), lengths)


def cosines(a: Floats, b: Floats) -> Floats:
    """The cosine of each row of `a` to the same row of `b`; rows have norm 1."""
    return np.einsum("ij,ij->i", a, b)


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    """Runs of texts, in order.  Raises `ValueError` if there is none."""
    if not texts:
        raise ValueError("no text")
    batch: list[Sequence[int]] = []
    for tokens in texts:
        if batch and sum(map(len, batch)) + len(tokens) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(tokens)
    if batch:
        yield batch
