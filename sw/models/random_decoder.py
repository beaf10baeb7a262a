"""Decoders of any shape with seeded random integers as weights, for what needs no trained one.

Scales are chosen by the spread of random sums, so that every tensor uses its range: nothing is
calibrated, and a decoder of the size of GPT-2 is there within seconds.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.models.integer_decoder import BURST_COLUMNS, IntegerDecoder
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.spread import HiddenRange
from celosia.sw.reference.encoder import Norm

__all__ = ["random_decoder"]

_WEIGHTS: Final = 40.0
"""Standard deviation of weights."""
_SMALL: Final = 32.0
"""Standard deviation of int8."""
_SMALL_STEP: Final = 1 / _SMALL
"""The step of normalized int8, whose standard deviation is 1."""
_STREAM: Final = 2000.0
"""Standard deviation of the sums of embeddings, int16."""
_EPSILON: Final = 0.01 * _STREAM**2
"""Added to the mean of squares."""
_ADDED: Final = 300.0
"""Standard deviation of what a layer's part adds to them."""
_WORDS: Final = 4000.0
"""Standard deviation of other int16."""
_SCORES: Final = 2.0
"""Standard deviation of scores."""
_SPREAD: Final = 0.1
"""Standard deviation of gamma and beta."""
_ACTIVATION_LIMIT: Final = 6.0


def random_decoder(shape: DecoderShape, seed: int) -> IntegerDecoder:
    """The decoder of this shape and seed."""
    random = np.random.default_rng(seed)
    tensors = dict(_tensors(shape, random))
    scalars = {"norm.epsilon": _EPSILON * shape.width}
    for index in range(shape.layers):
        scalars |= {f"layers.{index}.{name}": value for name, value in _scalars(shape).items()}
    heads = {
        f"layers.{index}.{name}": values
        for index in range(shape.layers)
        for name, values in _head_scalars(shape).items()
    }
    return IntegerDecoder(shape, tensors, scalars, heads, stored_scores=True, stream_spread=_STREAM)


def _scalars(shape: DecoderShape) -> dict[str, float]:
    """What every layer has the same."""
    scalars = {"output.residual_scale": 1.0, "down.residual_scale": 1.0}
    if shape.form == "gpt2":
        hidden = HiddenRange.between(ACTIVATIONS["gelu"].least, _ACTIVATION_LIMIT)
        scalars["hidden.zero_point"] = hidden.zero_point
        scalars["hidden.scale"] = ACTIVATIONS["gelu"].unit / hidden.step
    if shape.form == "llama":
        scalars |= {
            f"{norm}.epsilon": _EPSILON * shape.width for norm in ("norm", "attention_norm")
        }
        scalars["gate.out_scale"] = ACTIVATIONS["silu"].unit * _WORDS
        scalars["hidden.scale"] = _SMALL / (_WORDS * _WORDS)
    return scalars


def _head_scalars(shape: DecoderShape) -> dict[str, tuple[float, ...]]:
    """What every head has the same."""
    scores = _SCORES / (_SMALL * _SMALL * np.sqrt(shape.head_width)) * 2**EXPONENT_FRACTION_BITS
    scalars = {
        "scores.scale": (float(np.float32(scores)),) * shape.heads,
        "context.scale": (2.0**-14,) * shape.heads,
    }
    if shape.form == "llama":
        scalars["query.rotate_scale"] = (_SMALL / _WORDS,) * shape.heads
        scalars["key.rotate_scale"] = (_SMALL / _WORDS,) * shape.key_heads
    return scalars


def _tensors(
    shape: DecoderShape, random: np.random.Generator
) -> Iterator[tuple[str, NDArray[Any]]]:
    for index in range(shape.layers):
        for name, value in _layer(shape, random):
            yield f"layers.{index}.{name}", value
    yield from _norm(random, "norm", shape.width).items()
    columns = -(-shape.vocabulary // BURST_COLUMNS) * BURST_COLUMNS
    weights = _int8(random, shape.width, columns)
    weights[:, shape.vocabulary :] = 0
    yield "vocabulary.weights", weights


def _layer(shape: DecoderShape, random: np.random.Generator) -> Iterator[tuple[str, NDArray[Any]]]:
    width, hidden, llama = shape.width, shape.hidden, shape.form == "llama"
    projected = _WORDS if llama else _SMALL
    yield from _norm(random, "norm", width).items()
    yield from _linear(random, "key", width, shape.cache_width, projected)
    yield from _linear(random, "value", width, shape.cache_width, _SMALL)
    yield from _linear(random, "query", width, width, projected)
    yield from _linear(random, "output", width, width, _ADDED)
    yield from _norm(random, "attention_norm", width).items()
    unit = 2.0 ** ACTIVATIONS["silu" if llama else "gelu"].fraction_bits
    if llama:
        yield from _linear(random, "gate", width, hidden, unit)
        yield from _linear(random, "up", width, hidden, _WORDS)
    else:
        yield from _linear(random, "up", width, hidden, unit if shape.form == "gpt2" else _SMALL)
    yield from _linear(random, "down", hidden, width, _ADDED)


def _linear(
    random: np.random.Generator, name: str, inputs: int, outputs: int, spread: float
) -> Iterator[tuple[str, NDArray[Any]]]:
    """Weights, bias and a scale for each column, for results of this spread."""
    sums = _SMALL * _WEIGHTS * np.sqrt(inputs)
    scale = spread / sums * random.uniform(0.7, 1, (1, outputs))
    yield f"{name}.weights", _int8(random, inputs, outputs)
    yield f"{name}.bias", (random.standard_normal((1, outputs)) * sums / 8).astype(np.int32)
    yield f"{name}.scale", scale.astype(np.float32)


def _norm(random: np.random.Generator, name: str, width: int) -> dict[str, NDArray[Any]]:
    gamma, beta = 1 + _SPREAD * random.standard_normal(width), random.standard_normal(width)
    norm = Norm(gamma.astype(np.float32), (_SPREAD * beta).astype(np.float32))
    return quantize_norm(name, norm, _SMALL_STEP)


def _int8(random: np.random.Generator, rows: int, cols: int) -> NDArray[np.int8]:
    values = random.standard_normal((rows, cols), np.float32)
    values *= np.float32(_WEIGHTS)
    np.rint(values, out=values)
    return np.clip(values, -127, 127, out=values).astype(np.int8)
