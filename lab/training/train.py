"""The training loop: each step's batch follows from its number, and a checkpoint is kept.

Batch and dropout of a step depend on the seed and the step's number alone, so that a training that
was interrupted goes on as if it had not been.
"""

# pyright: reportMissingImports=false
# JAX and optax are an extra, which most do not install.

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from optax import contrib

from celosia.lab.training.checkpoint import (
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from celosia.lab.training.network import Parameters, initial_parameters, loss
from celosia.lab.training.recipe import Recipe
from celosia.sw.reference.language.errors import LanguageError

__all__ = ["Task", "Told", "train"]

Told = Callable[[int, float], None]
"""Called after each step with the number of steps that are done, and the step's loss in nats."""


class Task(Protocol):
    """What a step makes less."""

    def given(self, index: int) -> Any:
        """What the step `index` is given beside its batch, as a tree of arrays."""
        ...

    def losses(
        self, parameters: Parameters, batch: jax.Array, key: jax.Array, given: Any
    ) -> tuple[jax.Array, jax.Array]:
        """What is made less, and the loss in nats that is told."""
        ...


@dataclass(frozen=True)
class _Foretell:
    """The next token of one network."""

    recipe: Recipe

    def given(self, index: int) -> Any:
        """Nothing."""

    def losses(
        self, parameters: Parameters, batch: jax.Array, key: jax.Array, given: Any
    ) -> tuple[jax.Array, jax.Array]:
        found = loss(parameters, self.recipe.shape, batch, self.recipe.dropout, key)
        return found, found


def train(
    recipe: Recipe,
    tokens: NDArray[np.uint16],
    *,
    start: Mapping[str, NDArray[np.float32]] | None = None,
    task: Task | None = None,
    behind: optax.GradientTransformation | None = None,
    checkpoint: Path | None = None,
    every: int = 50,
    tell: Told = lambda steps, loss: None,
) -> dict[str, NDArray[np.float32]]:
    """The trained float32 tensors, by the names of `tensor_shapes`.

    `tokens` is the training text in one row; `start` has the tensors to begin with, if they are not
    fresh ones; without a `task`, the next token is foretold; `behind` changes what the optimizer
    does to them.  Each `every` steps all that the next step needs is written to `checkpoint`; a
    file that is there already is gone on with, whatever the start was.  Raises `CheckpointError`
    for one that is damaged or that does not fit, `LanguageError` for a text that is shorter than a
    window.
    """
    window = recipe.shape.context + 1
    if len(tokens) <= window:
        raise LanguageError(f"tokens: {len(tokens)} are not more than a window of {window}")
    optimizer = _optimizer(recipe, behind or optax.identity())
    if start is None:
        parameters = initial_parameters(recipe.shape, recipe.seed)
    else:
        parameters = {name: jnp.array(value) for name, value in start.items()}
    state, done = optimizer.init(parameters), 0
    if checkpoint is not None and checkpoint.exists():
        found = load_checkpoint(checkpoint, recipe, tokens)
        done = found.steps
        parameters, state = _filled((parameters, state), found.arrays)
    task = task or _Foretell(recipe)
    step = _step(task, optimizer)
    key = jax.random.key(recipe.seed)
    told = None
    for index in range(done, recipe.steps):
        batch = _batch(recipe, tokens, index, window)
        parameters, state, found_loss = step(
            parameters, state, batch, jax.random.fold_in(key, index), task.given(index)
        )
        # A step's loss is waited for while the next one is computed.
        if told is not None:
            tell(index, float(told))
        told = found_loss
        if checkpoint is not None and ((index + 1) % every == 0 or index + 1 == recipe.steps):
            arrays = [np.asarray(leaf) for leaf in jax.tree.leaves((parameters, state))]
            save_checkpoint(checkpoint, recipe, tokens, Checkpoint(index + 1, arrays))
    if told is not None:
        tell(recipe.steps, float(told))
    return {name: np.asarray(value) for name, value in parameters.items()}


def _batch(
    recipe: Recipe, tokens: NDArray[np.uint16], index: int, window: int
) -> NDArray[np.int32]:
    random = np.random.default_rng([recipe.seed, index])
    starts = random.integers(0, len(tokens) - window + 1, recipe.batch)
    return np.stack([tokens[start : start + window] for start in starts]).astype(np.int32)


def _filled(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    """`tree` with the leaves of a checkpoint, which has already been compared with the recipe."""
    return jax.tree.unflatten(jax.tree.structure(tree), arrays)


def _step(task: Task, optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(
        parameters: Parameters, state: Any, batch: jax.Array, key: jax.Array, given: Any
    ) -> Any:
        learn = jax.value_and_grad(task.losses, has_aux=True)
        (_, told), gradients = learn(parameters, batch, key, given)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, told

    return step


def _optimizer(
    recipe: Recipe, behind: optax.GradientTransformation
) -> optax.GradientTransformation:
    """Muon for the matrices of layers, Adam for the rest, gradients clipped to a norm of 1."""
    share = _schedule(recipe)

    def kind(parameters: Parameters) -> dict[str, str]:
        return {
            name: "muon" if value.ndim == 2 and name != "embedding" else "adam"
            for name, value in parameters.items()
        }

    muon = contrib.muon(lambda step: recipe.rate * share(step), weight_decay=recipe.weight_decay)
    adam = optax.adam(lambda step: recipe.adam_rate * share(step), b1=0.9, b2=0.95)
    kinds = {"muon": muon, "adam": adam}
    learn = optax.multi_transform(kinds, kind)
    return optax.chain(optax.clip_by_global_norm(1.0), learn, behind)


def _schedule(recipe: Recipe) -> optax.Schedule:
    """The learning rate over its height: it rises, stays, and falls to 0."""
    falls = recipe.falls_from
    parts = (
        optax.linear_schedule(0.0, 1.0, recipe.warmup),
        optax.constant_schedule(1.0),
        optax.linear_schedule(1.0, 0.0, recipe.steps - falls),
    )
    return optax.join_schedules(parts, [recipe.warmup, falls])
