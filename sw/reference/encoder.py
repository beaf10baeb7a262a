"""A BERT-style encoder in float32: what its integer form is calibrated on and held against.

Texts of different lengths stand below each other in one matrix, a row for each token; a text is a
*segment* of rows, and attends only to itself.  There is no padding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BERT_BASE",
    "BERT_LARGE",
    "EPSILON",
    "MINILM",
    "EncoderShape",
    "EncoderWeights",
    "Floats",
    "LayerWeights",
    "Linear",
    "Norm",
    "Observer",
    "attend",
    "encode",
    "erf",
    "gelu",
    "normalize",
    "segments",
]

Floats = NDArray[np.float32]
Observer = Callable[[str, Floats], Any]
"""Told the name and the value of an intermediate result."""

EPSILON: Final = np.float32(1e-12)
"""Added to the variance, as in the published models."""
_GELU_ROWS: Final = 32
"""Few enough to stay in a cache from one step to the next."""
_ROOT_HALF: Final = np.float32(np.sqrt(0.5))
_ERF_LIMIT: Final = np.float32(4)
"""The number from which on erf is 1 in float32."""
_ERF_NUMERATOR: Final = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_ERF_DENOMINATOR: Final = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)


@dataclass(frozen=True, kw_only=True)
class EncoderShape:
    """The sizes of an encoder."""

    layers: int
    width: int
    """Elements of a token between operators."""
    heads: int
    hidden: int
    """Elements of a token between the two products of the feed-forward network."""
    attention: int = 0
    """Elements of a token in each of Q, K and V; 0: `width`."""

    def __post_init__(self):
        if not self.attention:
            object.__setattr__(self, "attention", self.width)
        for name in ("layers", "width", "heads", "hidden", "attention"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not positive")
        if self.attention % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide a width of {self.attention}")

    @property
    def head_width(self) -> int:
        """Columns of Q, K and V that belong to one head."""
        return self.attention // self.heads

    def with_layers(self, layers: int) -> "EncoderShape":
        """The same shape with another number of layers."""
        return replace(self, layers=layers)

    def __str__(self) -> str:
        return f"{self.layers}x{self.width}, {self.heads} heads, {self.hidden} hidden"


MINILM: Final = EncoderShape(layers=6, width=384, heads=12, hidden=1536)
BERT_BASE: Final = EncoderShape(layers=12, width=768, heads=12, hidden=3072)
BERT_LARGE: Final = EncoderShape(layers=24, width=1024, heads=16, hidden=4096)


@dataclass(frozen=True, eq=False)
class Linear:
    """``x @ weights + bias``."""

    weights: Floats
    """The weights: an array (inputs, outputs)."""
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        return x @ self.weights + self.bias


@dataclass(frozen=True, eq=False)
class Norm:
    """Layer normalization: ``normalize(x) * gamma + beta``."""

    gamma: Floats
    beta: Floats

    def __call__(self, x: Floats) -> Floats:
        return normalize(x) * self.gamma + self.beta


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerWeights:
    """The weights of one layer."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    """The output projection of the attention."""
    attention_norm: Norm
    up: Linear
    """First product of the feed-forward network."""
    down: Linear
    norm: Norm


@dataclass(frozen=True, eq=False, kw_only=True)
class EncoderWeights:
    """A normalization of the sum of embeddings, then the layers."""

    shape: EncoderShape
    norm: Norm
    layers: tuple[LayerWeights, ...]


def segments(lengths: Sequence[int]) -> Iterator[slice]:
    """The rows of each text, by the texts' lengths."""
    ends = np.cumsum(lengths)
    for length, end in zip(lengths, ends, strict=True):
        yield slice(int(end) - length, int(end))


def encode(
    weights: EncoderWeights,
    x: Floats,
    lengths: Sequence[int],
    observe: Observer = lambda name, value: None,
) -> Floats:
    """The last layer's tokens for `x`, the sums of embeddings of texts of `lengths` tokens.

    `observe` sees, with layer number, what the integer form has a scale for: ``embedding``;
    ``0.input``, ``0.query``, ``0.key``, ``0.value``, ``0.context``, ``0.attention_sum``,
    ``0.attention``, ``0.up`` (before GELU), ``0.hidden``, ``0.sum``; and at last ``output``.
    """
    observe("embedding", x)
    x = weights.norm(x)
    for index, layer in enumerate(weights.layers):
        x = _layer(layer, weights.shape.heads, x, lengths, _Prefixed(observe, f"{index}."))
    observe("output", x)
    return x


@dataclass(frozen=True)
class _Prefixed:
    """Passes observations on, under longer names."""

    observe: Observer
    prefix: str

    def __call__(self, name: str, value: Floats) -> Floats:
        self.observe(self.prefix + name, value)
        return value


def _layer(
    layer: LayerWeights, heads: int, x: Floats, lengths: Sequence[int], see: _Prefixed
) -> Floats:
    see("input", x)
    q = see("query", layer.query(x))
    k = see("key", layer.key(x))
    v = see("value", layer.value(x))
    parts = [attend(q[rows], k[rows], v[rows], heads) for rows in segments(lengths)]
    context = see("context", np.concatenate(parts))
    x = see("attention_sum", layer.output(context) + x)
    x = see("attention", layer.attention_norm(x))
    hidden = see("hidden", gelu(see("up", layer.up(x))))
    return layer.norm(see("sum", layer.down(hidden) + x))


def attend(q: Floats, k: Floats, v: Floats, heads: int) -> Floats:
    """Attention of all heads, on the tokens of one text."""
    width = q.shape[1] // heads
    context = np.empty_like(v)
    for head in range(heads):
        cols = slice(head * width, (head + 1) * width)
        scores = q[:, cols] @ k[:, cols].T / np.float32(np.sqrt(width))
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        context[:, cols] = powers @ v[:, cols] / powers.sum(axis=-1, keepdims=True)
    return context


def normalize(x: Floats) -> Floats:
    """Each row less its mean, over its standard deviation."""
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centered).mean(axis=-1, keepdims=True)
    return centered / np.sqrt(variance + EPSILON)


def gelu(x: Floats) -> Floats:
    """``x * (1 + erf(x / sqrt 2)) / 2``."""
    result = np.empty_like(x)
    for start in range(0, len(x), _GELU_ROWS):
        rows = slice(start, start + _GELU_ROWS)
        result[rows] = x[rows] * (1 + erf(x[rows] * _ROOT_HALF)) * np.float32(0.5)
    return result


def erf(x: Floats) -> Floats:
    """The error function, to within 4 units of float32's last place.

    It is an odd polynomial over an even one (Eigen's).
    """
    t = np.clip(x, -_ERF_LIMIT, _ERF_LIMIT)
    square = t * t
    return t * _polynomial(square, _ERF_NUMERATOR) / _polynomial(square, _ERF_DENOMINATOR)


def _polynomial(x: Floats, coefficients: Sequence[float]) -> Floats:
    """The polynomial with these coefficients at `x`, the highest power's first (Horner's rule)."""
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += np.float32(coefficient)
    return result
