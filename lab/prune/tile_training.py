"""What training does to tiles of weights: a group lasso draws the least to zero, and zeros stay."""

# pyright: reportMissingImports=false
# JAX and optax are an extra, which most do not install.

from collections.abc import Collection, Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

__all__ = ["lasso", "zeros_stay"]

_POWER: Final = 8
"""How much less a tile loses whose norm is larger (reweighted, Candes et al. 2008); 0: no less."""


def zeros_stay(weights: Mapping[str, NDArray[np.float32]]) -> optax.GradientTransformation:
    """What follows an optimizer, and keeps elements of matrices zero that are so in `weights`."""
    kept = {name: value != 0 if value.ndim == 2 else np.True_ for name, value in weights.items()}

    def update(updates: Any, state: Any, _: Any = None) -> Any:
        return {name: value * kept[name] for name, value in updates.items()}, state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)


def lasso(
    names: Collection[str], dim: int, share: float, steps: int
) -> optax.GradientTransformation:
    """A group lasso over tiles of `dim` x `dim` weights (Wen et al., 2016), behind an optimizer.

    It is the proximal step of a penalty on the tiles' norms: each step takes a part of the norm of
    each tile of the matrices `names`.  The penalty is what brings a `share` of each matrix's tiles
    to zero in so many `steps`; it is divided by the tile's norm, so that large ones stay.
    """

    def update(updates: Any, done: jax.Array, parameters: Any = None) -> Any:
        left = jnp.maximum(steps - done, 1)
        found = dict(updates)
        for name in names:
            values = parameters[name] + updates[name]
            found[name] = _shrunk(values, dim, share, left) - parameters[name]
        return found, done + 1

    return optax.GradientTransformation(lambda _: jnp.zeros((), jnp.int32), update)


def _shrunk(values: jax.Array, dim: int, share: float, left: jax.Array) -> jax.Array:
    rows, cols = values.shape
    more = -rows % dim, -cols % dim
    padded = jnp.pad(values, ((0, more[0]), (0, more[1])))
    tiles = padded.reshape(padded.shape[0] // dim, dim, padded.shape[1] // dim, dim)
    norms = jnp.sqrt(jnp.square(tiles).sum(axis=(1, 3), keepdims=True))
    last = jnp.quantile(norms, share)
    loss = last / left * (last / jnp.maximum(norms, 1e-30)) ** _POWER
    scale = jnp.maximum(1 - loss / jnp.maximum(norms, 1e-30), 0)
    return (tiles * scale).reshape(padded.shape)[:rows, :cols]
