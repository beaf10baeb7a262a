"""A step of a decoder with random weights, behind caches of random keys and values."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from celosia.isa.config import did_you_mean
from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Decoder, DecoderLayer
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.models.weights import parse_weights
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.models.cases import Case
from celosia.sw.models.decoder_shape import GPT2_SMALL, OPT_125M, TINYLLAMA, DecoderShape
from celosia.sw.models.random_decoder import STREAM, random_decoder
from celosia.sw.models.random_operands import int8_matrix, int16_matrix

__all__ = ["DECODERS", "decoder", "decoder_layer", "step_bytes"]

DECODERS: Final = {"gpt2-small": GPT2_SMALL, "opt-125m": OPT_125M, "tinyllama": TINYLLAMA}
"""The decoders by name."""


def decoder(options: Decoder, seed: int, tell: Progress) -> GraphJob:
    """A step of a few tokens of each text behind its context, the vocabulary's product included."""
    return _job("decoder", options, options.layers, seed, tell)


def decoder_layer(options: DecoderLayer, seed: int, tell: Progress) -> GraphJob:
    """The same of one layer, without the vocabulary's product."""
    return _job("decoder-layer", options, 1, seed, tell)


def _job(
    name: str, options: DecoderLayer, layers: int | None, seed: int, tell: Progress
) -> GraphJob:
    shape, texts = _shape(name, options.model, layers), _texts(name, options)
    alone = name == "decoder-layer"
    capacity = max(text.keys for text in texts)
    _check_memory(shape, texts, capacity)
    tell(f"drawing {shape.weights:,} weights", None)
    types = parse_weights(options.weights)
    model = random_decoder(shape, seed, capacity, whole=not alone, weights=types)
    layout = CacheLayout(len(texts), capacity)
    step = model.step(texts, layout, named=True)
    (segment,) = step.model.segments
    random = np.random.default_rng(seed + 1)
    inputs: dict[str, Array] = {
        cache: int8_matrix(random, layout.rows, segment.graph.tensors[cache].cols)
        for cache in segment.caches
    }
    inputs |= step.tables(segment, texts)
    tokens = sum(text.rows for text in texts)
    (embedding,) = segment.inputs.keys() - inputs.keys()
    inputs[embedding] = int16_matrix(random, tokens, shape.width, STREAM)
    weights = shape.layer_weights // types.inner.per_byte
    if not alone:
        weights += (shape.weights - shape.layer_weights) // types.last.per_byte
    return GraphJob(Case(segment.graph, inputs), step_bytes=weights + cache_bytes(shape, texts))


def step_bytes(shape: DecoderShape, texts: Sequence[Text]) -> int:
    """Bytes that each step has to read: the int8 weights, and keys and values of all layers.

    Padding, bias, scales and copies do not count.
    """
    return shape.weights + cache_bytes(shape, texts)


def cache_bytes(shape: DecoderShape, texts: Sequence[Text]) -> int:
    """Bytes of keys and values of all tokens of `texts`, in all layers."""
    return shape.cache_width * sum(text.keys for text in texts)


def _shape(name: str, model: str | None, layers: int | None) -> DecoderShape:
    if model is None:
        raise InputError(f"{name}: give --model, one of {', '.join(DECODERS)}")
    if model not in DECODERS:
        near = did_you_mean(model, DECODERS)
        raise InputError(f"--model {model}: there are {', '.join(DECODERS)}{near}")
    shape = DECODERS[model]
    if layers is None:
        return shape
    if (weights := layers * shape.with_layers(1).layer_weights) > MAX_MEMORY_BYTES:
        raise InputError(
            f"--layers {layers}: {weights:,} bytes of weights are more than the "
            f"{MAX_MEMORY_BYTES:,} of the largest memory"
        )
    return shape.with_layers(layers)


def _texts(name: str, options: DecoderLayer) -> list[Text]:
    if options.context is None:
        raise InputError(f"{name}: give --context, the number of tokens in the caches")
    rows = 1 if options.rows is None else options.rows
    texts = [Text(_context(part, options.context), rows) for part in options.context.split(",")]
    for text in texts:
        if text.rows < 1:
            raise InputError(f"--rows {text.rows}: a step has at least one token")
        if text.keys > MAX_COLUMNS:
            raise InputError(
                f"--context {text.context} --rows {text.rows}: {text.keys} keys are more than the "
                f"{MAX_COLUMNS} of the longest row"
            )
    return texts


def _context(part: str, whole: str) -> int:
    """The tokens of one text in the caches."""
    if not (part.isascii() and part.isdecimal() and len(part) <= len(str(MAX_COLUMNS))):
        raise InputError(
            f"--context {whole}: {part!r} is no number of tokens: give N, or N,N,... for several "
            f"texts, each from 0 to {MAX_COLUMNS - 1}"
        )
    return int(part)


def _check_memory(shape: DecoderShape, texts: Sequence[Text], capacity: int) -> None:
    caches = shape.cache_width * CacheLayout(len(texts), capacity).rows
    needed = shape.weights + caches
    if needed > MAX_MEMORY_BYTES:
        raise InputError(
            f"--layers {len(shape.layers)}, texts: {len(texts)}: {needed:,} bytes of weights "
            f"and caches are more than the {MAX_MEMORY_BYTES:,} of the largest memory"
        )
