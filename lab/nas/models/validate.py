"""Validation: models of the front and the largest, from scratch, for equal tokens and seeds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.nas.models.statistics import Interval, perplexity_ratio
from celosia.lab.nas.models.texts import Texts
from celosia.lab.sweep.lines import Lines
from celosia.lab.training.recipe import Recipe
from celosia.sim.support.cache import digest
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane, Lost, run_on
from celosia.sw.reference.language.shape import LlamaShape
from celosia.sw.reference.language.shape_document import shape_document

__all__ = ["SEEDS", "Scratch", "Training", "ratio_of", "recipes_of", "scratch_line", "trained"]

SEEDS: Final = 3
"""Seeds of each model that is reported."""


@dataclass(frozen=True, eq=False)
class Scratch:
    """What became of a model from scratch."""

    validation: float
    sums: NDArray[np.float64]
    """For each held-out document, the sum of the logarithms of its tokens' probabilities."""


@dataclass(frozen=True, eq=False)
class Training:
    """A training that a worker does."""

    recipe: Recipe
    texts: Texts = field(repr=False)
    checkpoint: Path | None = None
    """On the machine of the worker; None: it begins anew if it is interrupted."""


def _learned(training: Training) -> dict[str, Any]:
    learn = import_extra("celosia.lab.nas.models.scratch", "training").learn
    found = learn(training.recipe, training.texts, training.checkpoint)
    return scratch_line(training.recipe, training.texts, found)


def scratch_line(recipe: Recipe, texts: Texts, learned: Any | None) -> dict[str, Any]:
    """The line of a training: its key, its model, and what was learned."""
    numbers = {name: value for name, value in asdict(recipe).items() if name != "shape"}
    held_out = digest([texts.held_out.tobytes()])
    parts = [texts.key, held_out, repr(shape_document(recipe.shape)), repr(sorted(numbers.items()))]
    line = {"key": f"scratch {digest(parts)}", **shape_document(recipe.shape), "recipe": numbers}
    if learned is not None:
        line |= {"validation": learned.validation, "sums": [float(s) for s in learned.sums]}
    return line


def trained(
    recipes: Iterable[Recipe],
    texts: Texts,
    lines: Lines,
    lanes: Sequence[Lane],
    folder: Path,
    tell: Progress,
    compute: Callable[[Training], dict[str, Any]] = _learned,
) -> dict[Recipe, Scratch]:
    """What became of each training; what `lines` hold is not done again.

    Raises `EnvironmentProblem` if a training ends its workers each time.
    """
    wanted = {recipe: scratch_line(recipe, texts, None)["key"] for recipe in recipes}
    left = [
        Training(recipe, texts, folder / f"{key.split()[1]}.npz")
        for recipe, key in wanted.items()
        if key not in lines.known
    ]
    with closing(run_on(lanes, compute, left)) as results:
        for number, (training, found) in enumerate(results, 1):
            if isinstance(found, Lost):
                raise EnvironmentProblem(
                    f"a worker ended {found.attempts} times when it trained a model from scratch"
                )
            lines.add(found)
            if training.checkpoint is not None:
                training.checkpoint.unlink(missing_ok=True)
            tell(f"trained {number} of {len(left)} models from scratch", number / len(left))
    return {recipe: _scratch(lines.known[key]) for recipe, key in wanted.items()}


def _scratch(line: Mapping[str, Any]) -> Scratch:
    return Scratch(float(line["validation"]), np.array(line["sums"]))


def recipes_of(model: LlamaShape, usual: Recipe, seeds: int) -> Iterator[Recipe]:
    """The trainings of a model, by a recipe whose shape is another."""
    for seed in range(seeds):
        yield replace(usual, shape=model, seed=seed)


def ratio_of(ours: Sequence[Scratch], theirs: Sequence[Scratch], texts: Texts) -> Interval:
    """The held-out perplexity of a model over another's, from scratch."""
    one, other = (np.stack([each.sums for each in found]) for found in (ours, theirs))
    return perplexity_ratio(one, other, texts.counts)
