"""A decoder of Llama's form in float32: what its integer form is calibrated on and held against.

The cache holds the values of the tokens so far, and their keys, turned to their positions.  Tokens
come in runs of any length: prefill is a long run, a step is a short one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.errors import TokenError
from celosia.sw.reference.language.shape import LlamaShape, tensor_shapes

__all__ = ["Cache", "LlamaWeights", "Through", "forward", "log_likelihoods", "silu"]

_EPSILON: Final = np.float32(LlamaShape.EPSILON)
_HALF: Final = np.float32(0.5)

Through = Callable[[str, Floats], Floats]
"""Called with name and value of an intermediate result; returns what takes the value's place."""


@dataclass(frozen=True, eq=False)
class LlamaWeights:
    """Float32 tensors by the names of `tensor_shapes`.

    Raises `ValueError` if one is missing, superfluous, of another shape or not finite.
    """

    shape: LlamaShape
    tensors: dict[str, Floats]

    def __post_init__(self):
        sizes = tensor_shapes(self.shape)
        for name in sorted(sizes.keys() ^ self.tensors.keys()):
            raise ValueError(f"tensor {name}: is {'missing' if name in sizes else 'superfluous'}")
        for name, tensor in self.tensors.items():
            if tensor.shape != sizes[name]:
                raise ValueError(f"tensor {name}: its shape is {tensor.shape}, not {sizes[name]}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"tensor {name}: has numbers that are not finite")

    def __getitem__(self, name: str) -> Floats:
        return self.tensors[name]


class Cache:
    """Keys and values of up to `capacity` tokens of one text, for every layer.

    Raises `TokenError` for a capacity below 1.
    """

    def __init__(self, shape: LlamaShape, capacity: int):
        if capacity < 1:
            raise TokenError(f"a cache for {capacity} tokens: it must hold at least one")
        size = (shape.layers, shape.key_heads, capacity, shape.head_width)
        self.keys: Floats = np.zeros(size, np.float32)
        self.values: Floats = np.zeros(size, np.float32)
        self.length = 0
        """Tokens that it holds."""

    @property
    def capacity(self) -> int:
        """The most tokens that it holds."""
        return self.keys.shape[2]


def forward(
    weights: LlamaWeights,
    tokens: Sequence[int],
    cache: Cache,
    through: Through = lambda name, value: value,
) -> Floats:
    """The logits (tokens x vocabulary) of what follows each of `tokens`.

    `tokens` follow those that `cache` holds, and are added to it.  `through` sees and may change,
    each tokens x columns, what an integer form has a scale for: ``embedding``; with the number of
    the layer ``0.input``, ``0.query`` and ``0.key`` (both turned), ``0.value``, ``0.context``,
    ``0.attention_sum``, ``0.attention``, ``0.gate``, ``0.up``, ``0.hidden``, ``0.sum``; ``output``.

    Raises `TokenError` for no token, one outside the vocabulary, more than the cache has room for,
    or the cache of another shape; the cache is then as it was.
    """
    shape = weights.shape
    _check(shape, tokens, cache)
    positions = np.arange(cache.length, cache.length + len(tokens))
    turns = _turns(shape, positions)
    x = through("embedding", weights["embedding"][list(tokens)])
    for index in range(shape.layers):
        layer = _Layer(weights, index, through)
        context = layer.attention(x, turns, cache)
        x = layer.see("attention_sum", context @ layer["output"] + x)
        x = layer.see("sum", layer.feed_forward(x) + x)
    cache.length += len(tokens)
    return through("output", _normalized(x, weights["norm"])) @ weights["embedding"].T


def log_likelihoods(logits: Floats, tokens: Sequence[int]) -> Floats:
    """The logarithm of the probability that each row of `logits` gives to its one of `tokens`."""
    above = logits - logits.max(axis=-1, keepdims=True)
    return above[np.arange(len(tokens)), list(tokens)] - np.log(np.exp(above).sum(axis=-1))


def _check(shape: LlamaShape, tokens: Sequence[int], cache: Cache) -> None:
    if not len(tokens):
        raise TokenError("no token: a text has at least one")
    for place, token in enumerate(tokens):
        if not 0 <= token < shape.vocabulary:
            raise TokenError(f"token {place} is {token}, which is not in 0..{shape.vocabulary - 1}")
    room = cache.capacity - cache.length
    if len(tokens) > room:
        raise TokenError(
            f"{len(tokens)} tokens after {cache.length}: the cache holds {cache.capacity}"
        )
    own = (shape.layers, shape.key_heads, cache.capacity, shape.head_width)
    if cache.keys.shape != own:
        raise TokenError(f"a cache of shape {cache.keys.shape}: this model's is {own}")


@dataclass(frozen=True)
class _Layer:
    """The weights of a layer, and where its intermediate results go."""

    weights: LlamaWeights
    index: int
    through: Through

    def __getitem__(self, name: str) -> Floats:
        return self.weights[f"{self.index}.{name}"]

    def see(self, name: str, value: Floats) -> Floats:
        """What takes the place of an intermediate result."""
        return self.through(f"{self.index}.{name}", value)

    def attention(self, x: Floats, turns: tuple[Floats, Floats], cache: Cache) -> Floats:
        """The context (tokens x width); keys and values go to the cache, behind what it holds."""
        shape = self.weights.shape
        x = self.see("input", _normalized(x, self["attention_norm"]))
        q = self.see("query", _turned(x @ self["query"], shape.heads, turns))
        k = self.see("key", _turned(x @ self["key"], shape.key_heads, turns))
        v = self.see("value", x @ self["value"])
        rows = slice(cache.length, cache.length + len(x))
        cache.keys[self.index, :, rows] = _heads(k, shape.key_heads)
        cache.values[self.index, :, rows] = _heads(v, shape.key_heads)
        keys = cache.keys[self.index, :, : rows.stop]
        values = cache.values[self.index, :, : rows.stop]
        context = _attend(_heads(q, shape.heads), keys, values)
        return self.see("context", context)

    def feed_forward(self, x: Floats) -> Floats:
        """The result of the feed-forward network, before it is added to `x`."""
        x = self.see("attention", _normalized(x, self["norm"]))
        gate = self.see("gate", x @ self["gate"])
        up = self.see("up", x @ self["up"])
        return self.see("hidden", silu(gate) * up) @ self["down"]


def silu(x: Floats) -> Floats:
    """``x * sigmoid(x)`` of each element; the hyperbolic tangent does not overflow."""
    return x * (np.tanh(x * _HALF) + 1) * _HALF


def _normalized(x: Floats, gamma: Floats) -> Floats:
    """Each row over its root mean square, times `gamma`."""
    squares = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
    return x / np.sqrt(squares + _EPSILON) * gamma


def _turns(shape: LlamaShape, positions: np.ndarray) -> tuple[Floats, Floats]:
    """Cosines and sines (positions x 1 x half a head) of the rotary embedding."""
    angles = positions[:, None, None] * shape.frequencies
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _turned(x: Floats, heads: int, turns: tuple[Floats, Floats]) -> Floats:
    """The rows of `x` with each head's halves as real and imaginary parts, turned."""
    cosines, sines = turns
    low, high = np.split(x.reshape(len(x), heads, -1), 2, axis=-1)
    pairs = (low * cosines - high * sines, high * cosines + low * sines)
    return np.concatenate(pairs, axis=-1, dtype=np.float32).reshape(x.shape)


def _heads(x: Floats, heads: int) -> Floats:
    """Rows of several heads as heads x rows x columns of a head."""
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def _attend(q: Floats, keys: Floats, values: Floats) -> Floats:
    """The context (rows x width) of the last rows of a text; consecutive queries share keys."""
    heads, rows, width = q.shape
    length = keys.shape[1]
    shared = heads // len(keys)
    scores = q.reshape(len(keys), shared * rows, width) @ keys.transpose(0, 2, 1)
    scores = scores.reshape(len(keys), shared, rows, length) / np.float32(np.sqrt(width))
    later = np.arange(length) > np.arange(length - rows, length)[:, None]
    scores[..., later] = -np.inf
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    context = powers @ values[:, None] / powers.sum(axis=-1, keepdims=True)
    return context.reshape(heads, rows, width).transpose(1, 0, 2).reshape(rows, -1)
