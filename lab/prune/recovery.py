"""Trainings of a language model that is pruned, before and behind it, on the text that it learned.

Rates are a part of those that trained it, fall from the first steps on, and batches are small, so
that a few hundred steps are minutes of a processor.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from celosia.lab.training.recipe import RECIPES, Recipe
from celosia.lab.training.steps import Steps
from celosia.lab.training.text.corpora import corpora_of, corpus_texts
from celosia.sim.support.progress import Progress
from celosia.sw.reference.language.model_file import LanguageModel
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["checkpoint_of", "learned_text", "recovered", "recovery_recipe"]

_RATE: Final = 0.1
"""The share of the first training's learning rates."""
_LASSO_RATE: Final = 0.5
"""The same in a training that draws tiles to zero: others learn what these did."""
_BATCH: Final = 8
"""Windows of a step."""
_WARMUP: Final = 20
"""One step in so many is of those in which the rates rise."""
_EVERY: Final = 25
"""Steps from one checkpoint to the next."""


def recovery_recipe(
    model: LanguageModel, weights: LlamaWeights, steps: int, *, lasso: bool = False
) -> Recipe:
    """How `weights`, which are what is left of `model`, are trained for so many steps."""
    usual = RECIPES[corpora_of(model)[-1]]
    share = _LASSO_RATE if lasso else _RATE
    return replace(
        usual,
        shape=weights.shape,
        steps=steps,
        batch=_BATCH,
        rate=usual.rate * share,
        adam_rate=usual.adam_rate * share,
        warmup=steps // _WARMUP,
        decay=1.0,
    )


def learned_text(model: LanguageModel) -> Sequence[int]:
    """The tokens of the text that `model` has learned.

    Raises `LanguageError` where a part of it is not installed.
    """
    return model.tokenizer.stream(corpus_texts(corpora_of(model)[-1]))


def checkpoint_of(output: Path, weights: LlamaWeights) -> Path:
    """Where a recovery that begins with `weights`, for `output`, is kept until it is done."""
    state = sha256()
    for name in sorted(weights.tensors):
        state.update(weights[name].tobytes())
    return output.with_name(f"{output.name}.{state.hexdigest()[:8]}.npz")


def recovered(
    recipe: Recipe,
    weights: LlamaWeights,
    text: Sequence[int],
    checkpoint: Path | None,
    tell: Progress,
    behind: Any = None,
) -> LlamaWeights:
    """`weights` after a training on the tokens `text`; what `train` raises is raised.

    It goes on from `checkpoint`, if that is there; `behind` is as `train` has it.  It needs the
    extra `training`.
    """
    train = import_module("celosia.lab.training.train").train
    tensors = train(
        recipe,
        np.array(text, np.uint16),
        start=weights.tensors,
        behind=behind,
        checkpoint=checkpoint,
        every=_EVERY,
        tell=Steps(tell, recipe.steps),
    )
    return LlamaWeights(weights.shape, tensors)
