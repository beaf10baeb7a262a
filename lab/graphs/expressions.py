"""Tensor expressions as a user writes them: six that use the array as products do, and one."""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from celosia.sw.frontend.expressions.language import (
    compute,
    constant,
    placeholder,
    reduce_axis,
    requantize,
    total,
)
from celosia.sw.frontend.expressions.nodes import Tensor

__all__ = [
    "SIX",
    "Maker",
    "batched",
    "convolution",
    "gram",
    "image",
    "masked",
    "masked_later",
    "scores",
]

Maker = Callable[..., Tensor]
"""Makes an operator of some sizes."""


def batched(n: int = 4, m: int = 128, cols: int = 128, depth: int = 128) -> Tensor:
    """Products that are counted by a batch, requantized."""
    a, b = placeholder("a", (n, m, depth)), placeholder("b", (n, depth, cols))
    k, small = reduce_axis(depth), partial(requantize, scale=0.001)
    c = (n, m, cols)
    return compute("c", c, lambda n, i, j: small(total(a[n, i, k] * b[n, k, j], k)), "int8")


def convolution(length: int = 128, channels: int = 43, filters: int = 128) -> Tensor:
    """A 1-D convolution of windows of three places."""
    r, k = reduce_axis(3, "r"), reduce_axis(channels)
    x, w = placeholder("x", (length + 2, channels)), placeholder("w", (3, channels, filters))
    return compute("y", (length, filters), lambda i, o: total(x[i + r, k] * w[r, k, o], r, k))


def masked(size: int = 128) -> Tensor:
    """A product whose known operand counts up to the diagonal."""
    x, k = placeholder("x", (size, size)), reduce_axis(size)
    w = constant("w", np.random.default_rng(0).integers(-128, 128, (size, size), np.int8))
    return compute("c", (size, size), lambda i, j: total((k <= i) * w[i, k] * x[k, j], k))


def gram(rows: int = 128, depth: int = 128) -> Tensor:
    """Products of all pairs of rows."""
    x, k = placeholder("x", (rows, depth)), reduce_axis(depth)
    return compute("g", (rows, rows), lambda i, j: total(x[i, k] * x[j, k], k))


def scores(tokens: int = 128, heads: int = 4, width: int = 32) -> Tensor:
    """Scores of attention, of heads that stand beside each other."""
    q, k = placeholder("q", (tokens, heads, width)), reduce_axis(width)
    p, size = placeholder("p", (tokens, heads, width)), (heads, tokens, tokens)
    return compute("s", size, lambda h, i, j: total(q[i, h, k] * p[j, h, k], k))


def image(s: int = 16, c: int = 16, f: int = 128) -> Tensor:
    """A 2-D convolution of uint8, with a bias."""
    r, q, k = reduce_axis(3, "r"), reduce_axis(3, "q"), reduce_axis(c)
    x, w = placeholder("x", (s + 2, s + 2, c), "uint8"), placeholder("w", (3, 3, c, f))
    return compute(
        "y", (s, s, f), lambda i, j, o: total(x[i + r, j + q, k] * w[r, q, k, o], r, q, k) + 7
    )


SIX: Final[tuple[Maker, ...]] = (batched, convolution, masked, gram, scores, image)
"""Operators whose use of the array is at least 90 % of what a product of their sizes makes."""


def masked_later(size: int = 128) -> Tensor:
    """A product with a mask that is given when it runs."""
    x, k = placeholder("x", (size, size)), reduce_axis(size)
    w = placeholder("w", (size, size), "int16", low=-128, high=127)
    m = placeholder("m", (size, size), "int16", low=0, high=1)
    return compute("c", (size, size), lambda i, j: total(m[i, k] * w[i, k] * x[k, j], k))
