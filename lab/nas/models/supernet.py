"""A network whose parts are networks of their own, trained together with it (JAX).

Each step takes the largest model, the smallest one and a few between (the sandwich rule); the
largest learns from the text, the others from what it says (J. Yu et al., "BigNAS", 2020).  A part
is the first columns and rows of each matrix.  Those between are computed as the largest one with
zeros behind their parts, which is the same and compiled once.
"""

# pyright: reportMissingImports=false
# JAX is an extra, which most do not install.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.supernet_file import SupernetRecipe
from celosia.lab.training.network import Parameters, logits
from celosia.sw.reference.language.shape import LlamaShape, tensor_shapes

__all__ = ["Sandwich", "likelihoods", "mask_of", "masked", "part_of"]

Mask = dict[str, Any]
"""What a part has of the largest model, as arrays of 0 and 1, and the number of its columns."""

_BATCH: Final = 8
"""Windows that are scored at once."""


def part_of(parameters: Mapping[str, Any], shape: LlamaShape) -> dict[str, Any]:
    """The parameters of the part of this shape."""
    return {
        name: parameters[name][tuple(slice(0, length) for length in size)]
        for name, size in tensor_shapes(shape).items()
    }


def mask_of(largest: LlamaShape, shape: LlamaShape) -> Mask:
    """What the part of this shape has of the `largest` model; a layer that it lacks has nothing."""
    layers = list(zip(largest.layers, shape.layers, strict=False))
    missing = [(layer, None) for layer in largest.layers[len(shape.layers) :]]
    pairs = [*layers, *missing]
    return {
        "columns": np.float32(shape.width),
        "width": _ones(largest.width, shape.width),
        "queries": [_ones(a.query_width, b.query_width if b else 0) for a, b in pairs],
        "hidden": [_ones(a.hidden, b.hidden if b else 0) for a, b in pairs],
    }


def _ones(length: int, count: int) -> NDArray[np.float32]:
    return (np.arange(length) < count).astype(np.float32)


def masked(parameters: Parameters, mask: Mask) -> Parameters:
    """The parameters with zeros where what is made would reach behind a part."""
    found = dict(parameters)
    found["embedding"] = found["embedding"] * mask["width"]
    for index in range(len(mask["queries"])):
        for name, rows in ((f"{index}.output", "queries"), (f"{index}.down", "hidden")):
            found[name] = found[name] * mask[rows][index][:, None] * mask["width"]
    return found


@dataclass(frozen=True)
class Sandwich:
    """The task of a step (`celosia.lab.training.train.Task`)."""

    recipe: SupernetRecipe
    space: Space

    def given(self, index: int) -> Mask:
        """The masks of the models between, which follow from the step's number."""
        random = np.random.default_rng([self.recipe.seed, index, 1])
        drawn = [self.space.drawn(random) for _ in range(self.recipe.between)]
        masks = [mask_of(self.recipe.shape, shape) for shape in drawn]
        return jax.tree.map(lambda *each: np.stack(each), *masks)

    def losses(
        self, parameters: Parameters, batch: jax.Array, key: jax.Array, given: Mask
    ) -> tuple[jax.Array, jax.Array]:
        """The mean over the models, and the largest one's."""
        largest, smallest = self.recipe.shape, self.space.smallest
        tokens, following = batch[:, :-1], batch[:, 1:, None]
        found = logits(parameters, largest, tokens, self.recipe.dropout, key)
        own = -jnp.take_along_axis(jax.nn.log_softmax(found), following, axis=-1).mean()
        told = jax.lax.stop_gradient(jax.nn.softmax(found))

        def imitates(of_part: jax.Array) -> jax.Array:
            return -(told * jax.nn.log_softmax(of_part)).sum(-1).mean()

        total = own + imitates(logits(part_of(parameters, smallest), smallest, tokens))
        for number in range(self.recipe.between):
            mask = jax.tree.map(lambda each, number=number: each[number], given)
            total += imitates(
                logits(masked(parameters, mask), largest, tokens, columns=mask["columns"])
            )
        return total / (2 + self.recipe.between), own


@partial(jax.jit, static_argnums=1)
def _scored(parameters: Parameters, largest: LlamaShape, mask: Mask, windows: jax.Array) -> Any:
    found = logits(masked(parameters, mask), largest, windows[:, :-1], columns=mask["columns"])
    each = jax.nn.log_softmax(found)
    return jnp.take_along_axis(each, windows[:, 1:, None], axis=-1)[..., 0]


def likelihoods(
    parameters: Mapping[str, Any],
    largest: LlamaShape,
    shape: LlamaShape,
    tokens: Sequence[int] | NDArray[Any],
) -> NDArray[np.float32]:
    """The logarithms of the probabilities of all `tokens` but the first, by a part of a model.

    They are taken in windows of the context that know nothing of each other, as
    `celosia.lab.training.perplexity.windows` has them.
    """
    length = largest.context
    count = len(tokens) - 1
    rows = -(-count // length)
    padded = np.zeros(-(-rows // _BATCH) * _BATCH * length + 1, np.int32)
    padded[: len(tokens)] = tokens
    starts = np.arange(0, len(padded) - 1, length)
    windows = np.stack([padded[start : start + length + 1] for start in starts])
    mask = mask_of(largest, shape)
    each = [
        np.asarray(_scored(dict(parameters), largest, mask, windows[first : first + _BATCH]))
        for first in range(0, len(windows), _BATCH)
    ]
    return np.concatenate(each).ravel()[:count]
