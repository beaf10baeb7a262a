"""How much the loss of the language model changes without each column, to first order (JAX)."""

# pyright: reportMissingImports=false
# JAX is an extra, which most do not install.

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from celosia.lab.training.network import loss
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["changes"]


def changes(
    weights: LlamaWeights, windows: Sequence[Sequence[int]], readers: Iterable[str]
) -> dict[str, NDArray[Any]]:
    """For each reader (windows, columns): the inner product of each row with the loss's gradient.

    That is the column times the loss's derivative by it, summed over the tokens of a window.
    """
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in readers}
    gradient = jax.jit(jax.grad(loss), static_argnums=(1, 3))
    for window in windows:
        tokens = np.array([window], np.int32)
        each = gradient(weights.tensors, weights.shape, tokens, 0.0, jax.random.key(0))
        for name, rows in found.items():
            rows.append((weights[name] * np.asarray(each[name])).sum(axis=1))
    return {name: np.stack(rows) for name, rows in found.items()}
