"""A decoder in float32: what its integer form is calibrated on and held against.

The cache holds the values of the tokens so far, and their keys, turned to their positions.  Tokens
come in runs of any length: prefill is a long run, a step is a short one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sw.reference.encoder import Floats, Linear, Norm, gelu
from celosia.sw.reference.language.errors import TokenError
from celosia.sw.reference.language.shape import LlamaShape, Sizes, tensor_shapes

__all__ = [
    "Cache",
    "DecoderWeights",
    "LlamaWeights",
    "Through",
    "forward",
    "log_likelihoods",
    "silu",
]

_HALF: Final = np.float32(0.5)
_ROOT: Final = np.float32(np.sqrt(2 / np.pi))
_CUBE: Final = np.float32(0.044715)

Through = Callable[[str, Floats], Floats]
"""Called with name and value of an intermediate result; returns what takes the value's place."""


@dataclass(frozen=True, eq=False)
class DecoderWeights:
    """Float32 tensors by name; matrices are inputs x outputs.

    ``embedding`` is the table of tokens, ``positions``, where there is one, that of positions,
    ``vocabulary`` the last product (without it, the table of tokens does it again).  Each layer has
    what `tensor_shapes` says, where Llama's form alone has a ``gate``.  A product has a bias
    (``0.query.bias``), and a normalization a beta (``norm.beta``), if there is one.
    """

    shape: Sizes
    tensors: dict[str, Floats]
    epsilon: float = LlamaShape.EPSILON
    """Added to the mean of squares in normalizations."""
    tanh: bool = False
    """GELU is the approximation by the hyperbolic tangent."""

    def __getitem__(self, name: str) -> Floats:
        return self.tensors[name]

    @property
    def vocabulary(self) -> Floats:
        """The matrix of the last product: width x vocabulary."""
        found = self.tensors.get("vocabulary")
        return self["embedding"].T if found is None else found

    def linear(self, name: str) -> Linear:
        """A product; its bias is 0 if it has none."""
        weights, bias = self[name], self.tensors.get(f"{name}.bias")
        return Linear(weights, np.zeros(weights.shape[1], np.float32) if bias is None else bias)

    def norm(self, name: str) -> Norm:
        """A normalization; its beta is 0 if it has none."""
        gamma, beta = self[name], self.tensors.get(f"{name}.beta")
        return Norm(gamma, np.zeros_like(gamma) if beta is None else beta)

    def product(self, name: str, x: Floats) -> Floats:
        """``x`` times a matrix, with its bias if it has one."""
        bias = self.tensors.get(f"{name}.bias")
        return x @ self[name] if bias is None else x @ self[name] + bias

    def embedded(self, tokens: Sequence[int], first: int) -> Floats:
        """What stands for `tokens`, of which the first is at position `first`."""
        rows, places = self["embedding"][list(tokens)], self.tensors.get("positions")
        return rows if places is None else rows + places[first : first + len(tokens)]


@dataclass(frozen=True, eq=False)
class LlamaWeights(DecoderWeights):
    """The tensors of `tensor_shapes`, and no other.

    Raises `ValueError` if one is missing, superfluous, of another shape or not finite.
    """

    shape: LlamaShape

    def __post_init__(self):
        sizes = tensor_shapes(self.shape)
        for name in sorted(sizes.keys() ^ self.tensors.keys()):
            raise ValueError(f"tensor {name}: is {'missing' if name in sizes else 'superfluous'}")
        for name, tensor in self.tensors.items():
            if tensor.shape != sizes[name]:
                raise ValueError(f"tensor {name}: its shape is {tensor.shape}, not {sizes[name]}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"tensor {name}: has numbers that are not finite")


class Cache:
    """Keys and values of up to `capacity` tokens of one text, for every layer.

    Raises `TokenError` for a capacity below 1.
    """

    def __init__(self, shape: Sizes, capacity: int):
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
    weights: DecoderWeights,
    tokens: Sequence[int],
    cache: Cache,
    through: Through = lambda name, value: value,
) -> Floats:
    """The logits (tokens x vocabulary) of what follows each of `tokens`.

    `tokens` follow those that `cache` holds, and are added to it.  `through` sees and may change,
    each tokens x columns, what an integer form has a scale for: ``embedding``; with the number of
    the layer ``0.input``, ``0.query`` and ``0.key`` (both turned), ``0.value``, ``0.context``,
    ``0.attention_sum``, ``0.attention``, ``0.gate``, ``0.up``, ``0.hidden``, ``0.sum``; ``output``.
    Forms other than Llama's have no gate, and turn nothing.

    Raises `TokenError` for no token, one outside the vocabulary, more than the cache has room for,
    or the cache of another shape; the cache is then as it was.
    """
    shape = weights.shape
    _check(shape, tokens, cache)
    positions = np.arange(cache.length, cache.length + len(tokens))
    turns = _turns(shape, positions)
    x = through("embedding", weights.embedded(tokens, cache.length))
    for index in range(shape.layers):
        layer = _Layer(weights, index, through)
        context = layer.attention(x, turns, cache)
        x = layer.see("attention_sum", layer.product("output", context) + x)
        x = layer.see("sum", layer.feed_forward(x) + x)
    cache.length += len(tokens)
    return through("output", _normalized(weights, "norm", x)) @ weights.vocabulary


def log_likelihoods(logits: Floats, tokens: Sequence[int]) -> Floats:
    """The logarithm of the probability that each row of `logits` gives to its one of `tokens`."""
    above = logits - logits.max(axis=-1, keepdims=True)
    return above[np.arange(len(tokens)), list(tokens)] - np.log(np.exp(above).sum(axis=-1))


def _check(shape: Sizes, tokens: Sequence[int], cache: Cache) -> None:
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

    weights: DecoderWeights
    index: int
    through: Through

    def product(self, name: str, x: Floats) -> Floats:
        """A product of the layer."""
        return self.weights.product(f"{self.index}.{name}", x)

    def normalized(self, name: str, x: Floats) -> Floats:
        """A normalization of the layer."""
        return _normalized(self.weights, f"{self.index}.{name}", x)

    def see(self, name: str, value: Floats) -> Floats:
        """What takes the place of an intermediate result."""
        return self.through(f"{self.index}.{name}", value)

    def attention(self, x: Floats, turns: tuple[Floats, Floats], cache: Cache) -> Floats:
        """The context (tokens x width); keys and values go to the cache, behind what it holds."""
        shape = self.weights.shape
        x = self.see("input", self.normalized("attention_norm", x))
        q, k = self.product("query", x), self.product("key", x)
        if shape.form == "llama":
            q, k = _turned(q, shape.heads, turns), _turned(k, shape.key_heads, turns)
        q, k = self.see("query", q), self.see("key", k)
        v = self.see("value", self.product("value", x))
        rows = slice(cache.length, cache.length + len(x))
        cache.keys[self.index, :, rows] = _heads(k, shape.key_heads)
        cache.values[self.index, :, rows] = _heads(v, shape.key_heads)
        keys = cache.keys[self.index, :, : rows.stop]
        values = cache.values[self.index, :, : rows.stop]
        context = _attend(_heads(q, shape.heads), keys, values)
        return self.see("context", context)

    def feed_forward(self, x: Floats) -> Floats:
        """The result of the feed-forward network, before it is added to `x`."""
        x = self.see("attention", self.normalized("norm", x))
        return self.product("down", self.see("hidden", self.hidden(x)))

    def hidden(self, x: Floats) -> Floats:
        """What the feed-forward network has between its products."""
        if self.weights.shape.form == "llama":
            gate = self.see("gate", self.product("gate", x))
            return silu(gate) * self.see("up", self.product("up", x))
        up = self.see("up", self.product("up", x))
        if self.weights.shape.form == "opt":
            return np.maximum(up, 0)
        return _gelu_tanh(up) if self.weights.tanh else gelu(up)


def silu(x: Floats) -> Floats:
    """``x * sigmoid(x)`` of each element; the hyperbolic tangent does not overflow."""
    return x * (np.tanh(x * _HALF) + 1) * _HALF


def _gelu_tanh(x: Floats) -> Floats:
    """GELU by the hyperbolic tangent."""
    return x * (np.tanh((x + x**3 * _CUBE) * _ROOT) + 1) * _HALF


def _normalized(weights: DecoderWeights, name: str, x: Floats) -> Floats:
    """Each row over its root mean square, times gamma; but in Llama's form, less its mean first."""
    norm, llama = weights.norm(name), weights.shape.form == "llama"
    x = x if llama else x - x.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
    scaled = x / np.sqrt(squares + np.float32(weights.epsilon)) * norm.gamma
    return scaled if llama else scaled + norm.beta


def _turns(shape: Sizes, positions: np.ndarray) -> tuple[Floats, Floats]:
    """Cosines and sines (positions x 1 x half a head) of the rotary embedding."""
    half = shape.head_width // 2
    angles = positions[:, None, None] * shape.rotary_base ** (-np.arange(half) / half)
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
