"""A search in its folder: texts, costs, a supernet, four searches; each goes on where it was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from celosia.lab.nas.models.candidates import LOSSES, Candidate, Judge, best
from celosia.lab.nas.models.costs import SCENARIOS, measured_costs
from celosia.lab.nas.models.searches import EVOLUTION, run_searches
from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.supernet_file import (
    SUPERNET,
    Supernet,
    SupernetRecipe,
    load_supernet,
    save_supernet,
)
from celosia.lab.nas.models.texts import Texts
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import Lines
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.text.corpora import Corpus
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, share
from celosia.sim.support.workers import Lane
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["CHECKPOINT", "LINES", "Asked", "Found", "Point", "ranked", "reported", "search"]

LINES: Final = "nas.jsonl"
CHECKPOINT: Final = "checkpoint.npz"
"""Names in the folder of a search, beside `SUPERNET`."""

_REPORTED: Final = (*LOSSES, 0.1, 0.2)
"""The losses of points: from scratch a model may lose less than with the supernet's weights."""
_RANKED: Final = 16
_ALIKE: Final = 1.5
"""So many models, of cycles that differ by at most so much, tell whether scores rank them."""
_DRAWN: Final = 20_000
"""Models that are drawn at most to find them."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is searched, and how."""

    space: Space
    corpus: Corpus
    budget: int
    """Models that each search may score for a scenario."""
    tokens: int
    """Tokens of validation text that a score is of."""
    recipe: SupernetRecipe
    scratch: Recipe
    """How models are trained from scratch; its shape and seed are others."""
    seed: int
    options: tuple[str, ...] = ()
    """The words of a command line that say which space it is."""


@dataclass(frozen=True, eq=False)
class Found:
    """What searches have found."""

    judge: Judge
    largest: Candidate
    searches: Mapping[str, Mapping[str, Sequence[Candidate]]]
    """What each search looked at, by scenario and by its name."""


@dataclass(frozen=True, eq=False)
class Point:
    """A model that is reported."""

    name: str
    candidate: Candidate


def search(
    asked: Asked,
    texts: Texts,
    machine: Machine,
    table: EnergyTable,
    folder: Path,
    *,
    lines: Lines,
    lanes: Sequence[Lane],
    tell: Progress,
) -> Found:
    """Do all that `folder` and its `lines` do not have yet.

    Raises `InputError` for a supernet or a checkpoint of another search, and what costs raise.
    """
    supernet = None
    if (folder / SUPERNET).exists():  # Refused before anything else is done.
        supernet = _checked(load_supernet(folder / SUPERNET, asked.space, texts), asked, folder)
    costs = measured_costs(asked.space, machine, lines, lanes, share(tell, 0, 0.15))
    supernet = supernet or _trained(asked, texts, folder, share(tell, 0.15, 0.8))
    scores = import_extra("celosia.lab.nas.models.scores", "training").Scores
    judge = Judge(costs, table, scores(supernet, asked.space, texts, asked.tokens, lines))
    largest = judge(asked.space.largest)
    parts = {scenario: 0.8 + 0.1 * index for index, scenario in enumerate(SCENARIOS)}
    searches = {
        scenario: run_searches(
            asked.space,
            judge,
            scenario,
            asked.budget,
            asked.seed,
            share(tell, begin, begin + 0.1),
        )
        for scenario, begin in parts.items()
    }
    return Found(judge, largest, searches)


def _checked(supernet: Supernet, asked: Asked, folder: Path) -> Supernet:
    """The supernet, if its numbers are those that are asked for."""
    for name, value in vars(asked.recipe).items():
        if name != "shape" and supernet.recipe.get(name) != value:
            raise InputError(
                f"{folder / SUPERNET}: was trained with {name} {supernet.recipe.get(name)}, not "
                f"{value}; give what it was trained with, or another folder"
            )
    return supernet


def _trained(asked: Asked, texts: Texts, folder: Path, tell: Progress) -> Supernet:
    sandwich = import_extra("celosia.lab.nas.models.supernet", "training").Sandwich
    train: Callable[..., Any] = import_extra("celosia.lab.training.train", "training").train
    recipe = asked.recipe

    def told(done: int, loss: float) -> None:
        tell(f"supernet, step {done:,} of {recipe.steps:,}, loss {loss:.2f}", done / recipe.steps)

    tensors = train(
        recipe,
        texts.learned,
        task=sandwich(recipe, asked.space),
        checkpoint=folder / CHECKPOINT,
        every=20,
        tell=told,
    )
    supernet = save_supernet(folder / SUPERNET, recipe, texts, tensors)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return supernet


def reported(found: Found) -> list[Point]:
    """The largest model, and what evolution found with the least energy times cycles, by loss."""
    points = {found.largest.model: Point("the largest", found.largest)}
    for scenario, searches in found.searches.items():
        for loss in _REPORTED:
            each = best(searches[EVOLUTION], found.largest, scenario, "EDP", loss)
            points.setdefault(each.model, Point(f"{scenario} +{loss:.2%}", each))
    return list(points.values())


def ranked(asked: Asked, found: Found) -> list[Candidate]:
    """Models drawn at random whose cycles of a prefill are alike, or as many as there are."""
    random = np.random.default_rng([asked.seed, 9])
    scenario = next(iter(SCENARIOS))

    def cycles(model: LlamaShape) -> float:
        return found.judge.amount(model, scenario).cycles

    middle = float(np.median([cycles(asked.space.drawn(random)) for _ in range(200)]))
    chosen: dict[LlamaShape, None] = {}
    for _ in range(_DRAWN):
        model = asked.space.drawn(random)
        if middle / _ALIKE**0.5 <= cycles(model) <= middle * _ALIKE**0.5:
            chosen[model] = None
        if len(chosen) == _RANKED:
            break
    return [found.judge(model) for model in chosen]
