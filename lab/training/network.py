"""The small language model in JAX, as training sees it: the loss of a batch of windows.

It computes what `celosia.sw.models.decoder_graph` computes, on parameters of the same names
and shapes, and with dropout.  A test holds one against the other.
"""

# pyright: reportMissingImports=false
# JAX and optax are an extra, which most do not install.

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from celosia.sw.reference.language.shape import (
    LayerShape,
    LlamaShape,
    rotary_frequencies,
    tensor_shapes,
)

__all__ = ["Parameters", "initial_parameters", "logits", "loss"]

Parameters = dict[str, Any]
"""Float32 arrays by the names of `tensor_shapes`."""

_SPREAD: Final = 0.02
"""The standard deviation of a fresh embedding."""


def initial_parameters(shape: LlamaShape, seed: int) -> Parameters:
    """Fresh parameters: gammas are 1, products keep the variance, and what is added is less."""
    random = np.random.default_rng(seed)
    parameters: Parameters = {}
    for name, size in tensor_shapes(shape).items():
        if len(size) == 1:
            parameters[name] = jnp.ones(size, jnp.float32)
            continue
        spread = _SPREAD if name == "embedding" else size[0] ** -0.5
        if name.endswith((".output", ".down")):
            spread /= (2 * len(shape.layers)) ** 0.5
        values = random.standard_normal(size, np.float32) * np.float32(spread)
        parameters[name] = jnp.asarray(values)
    return parameters


def loss(
    parameters: Parameters, shape: LlamaShape, windows: jax.Array, dropout: float, key: jax.Array
) -> jax.Array:
    """The mean negative log-likelihood, in nats, of all tokens of `windows` but the first.

    `windows` is batch x (length + 1) tokens.
    """
    found = logits(parameters, shape, windows[:, :-1], dropout, key)
    each = jax.nn.log_softmax(found)
    return -jnp.take_along_axis(each, windows[:, 1:, None], axis=-1).mean()


def logits(
    parameters: Parameters,
    shape: LlamaShape,
    tokens: jax.Array,
    dropout: float = 0,
    key: jax.Array | None = None,
    columns: jax.Array | None = None,
) -> jax.Array:
    """The logits (batch x length x vocabulary) of what follows each of `tokens`.

    Of a token between operators only the first `columns` elements count, if that is given: those
    behind them have to be 0.
    """
    keys = iter(jax.random.split(key, 2 * len(shape.layers) + 1) if key is not None else ())

    def dropped(x: jax.Array) -> jax.Array:
        if key is None or not dropout:
            return x
        kept = jax.random.bernoulli(next(keys), 1 - dropout, x.shape)
        return jnp.where(kept, x / (1 - dropout), 0)

    def normalized(x: jax.Array, gamma: jax.Array) -> jax.Array:
        mean = jnp.square(x).sum(-1, keepdims=True) / (x.shape[-1] if columns is None else columns)
        return x * jax.lax.rsqrt(mean + LlamaShape.EPSILON) * gamma

    x = dropped(parameters["embedding"][tokens])
    for index, sizes in enumerate(shape.layers):
        layer = {
            name.removeprefix(f"{index}."): value
            for name, value in parameters.items()
            if name.startswith(f"{index}.")
        }
        x = x + dropped(_attention(layer, sizes, normalized(x, layer["attention_norm"])))
        x = x + dropped(_feed_forward(layer, normalized(x, layer["norm"])))
    return normalized(x, parameters["norm"]) @ parameters["embedding"].T


def _turns(width: int, length: int) -> tuple[jax.Array, jax.Array]:
    """Cosines and sines (length x half a head) of the rotary embedding of heads so wide."""
    angles = np.arange(length)[:, None] * rotary_frequencies(width)
    return jnp.asarray(np.cos(angles), jnp.float32), jnp.asarray(np.sin(angles), jnp.float32)


def _rotated(x: jax.Array, turns: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Heads `x` (batch x length x heads x head width), each pair of its halves turned."""
    cosines, sines = (turn[:, None, :] for turn in turns)
    low, high = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([low * cosines - high * sines, high * cosines + low * sines], axis=-1)


def _attention(layer: Parameters, sizes: LayerShape, x: jax.Array) -> jax.Array:
    batch, length, _ = x.shape
    heads, groups, width = sizes.heads, sizes.key_heads, sizes.head_width
    turns = _turns(width, length)
    q = _rotated((x @ layer["query"]).reshape(batch, length, heads, width), turns)
    k = _rotated((x @ layer["key"]).reshape(batch, length, groups, width), turns)
    v = (x @ layer["value"]).reshape(batch, length, groups, width)
    # One product for all queries that share keys: much faster on a processor than an einsum.
    q = q.transpose(0, 2, 1, 3).reshape(batch, groups, heads // groups * length, width)
    scores = q @ k.transpose(0, 2, 3, 1) * width**-0.5
    seen = np.tile(np.tri(length, dtype=bool), (heads // groups, 1))
    scores = jnp.where(seen, scores, -jnp.inf)
    powers = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
    context = powers @ v.transpose(0, 2, 1, 3) / powers.sum(-1, keepdims=True)
    context = context.reshape(batch, heads, length, width).transpose(0, 2, 1, 3)
    return context.reshape(batch, length, heads * width) @ layer["output"]


def _feed_forward(layer: Parameters, x: jax.Array) -> jax.Array:
    return (jax.nn.silu(x @ layer["gate"]) * (x @ layer["up"])) @ layer["down"]
