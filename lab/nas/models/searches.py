"""Four searches of a space, each with the same budget of models that are scored."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np

from celosia.lab.nas.models.candidates import Amount, Candidate, Judge
from celosia.lab.nas.models.space import Space
from celosia.sim.support.progress import Progress, share
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["EVOLUTION", "RANDOM", "SEARCHES", "Drawable", "Fitness", "evolved", "run_searches"]

EVOLUTION: Final = "evolution"
RANDOM: Final = "random"
UNIFORM: Final = "uniform scaling"
PROXY: Final = "parameter count"
SEARCHES: Final = (EVOLUTION, RANDOM, UNIFORM, PROXY)
"""``uniform scaling`` looks at models whose layers are alike; ``parameter count`` evolves with the
number of weights in place of a score, without training, and only what it ends with is scored (M.
Javaheripi et al., "LiteTransformerSearch", 2022)."""

_FIRST: Final = 0.25
"""The share of evolution's budget that is drawn at random."""
_MUTATION: Final = 0.2
_CROSSED: Final = 0.5
_NEAR: Final = 1.1
"""Parents have at most so many times the best quality."""
_IN_VAIN: Final = 100
"""Children in a row that were known already: the space is as good as searched."""

Random = np.random.Generator
Fitness = tuple[float, ...]
"""A quality, then costs; less is better."""

_One = TypeVar("_One")
"""What a space has: a model, a machine, or both; it can be a key."""


class Drawable(Protocol[_One]):
    """What evolution asks of a space."""

    @property
    def largest(self) -> _One:
        """One to begin with."""
        ...

    @property
    def smallest(self) -> _One:
        """Another one."""
        ...

    def drawn(self, random: Random, /) -> _One:
        """Any one."""
        ...

    def changed(self, one: _One, random: Random, rate: float, /) -> _One:
        """One whose choices are drawn anew with the probability `rate`."""
        ...

    def crossed(self, one: _One, other: _One, random: Random, /) -> _One:
        """One that has its choices from both."""
        ...


def run_searches(
    space: Space, judge: Judge, scenario: str, budget: int, seed: int, tell: Progress
) -> dict[str, list[Candidate]]:
    """What each search has looked at for a scenario, by its name."""

    def by_weights(model: LlamaShape) -> Fitness:
        return -model.parameters, *_costs(judge.amount(model, scenario))

    def by_score(model: LlamaShape) -> Fitness:
        found = judge(model)
        return found.perplexity, *_costs(found.amounts[scenario])

    def told(index: int) -> Callable[[int], None]:
        part = share(tell, index / len(SEARCHES), (index + 1) / len(SEARCHES))
        return lambda done: part(f"{scenario}: {SEARCHES[index]}, {done} models", done / budget)

    children = evolved(space, by_score, budget, np.random.default_rng([seed, 0]), told(0))
    chosen = {
        EVOLUTION: list(children),
        RANDOM: _drawn(space, budget, np.random.default_rng([seed, 1])),
        UNIFORM: _some(list(space.uniform()), budget, np.random.default_rng([seed, 2])),
    }
    proxies = evolved(space, by_weights, budget, np.random.default_rng([seed, 3]), lambda _: None)
    chosen[PROXY] = _undominated(proxies)
    found: dict[str, list[Candidate]] = {}
    for index, name in enumerate(SEARCHES):
        tell_one = told(index)
        found[name] = []
        for done, model in enumerate(chosen[name], 1):
            found[name].append(judge(model))
            tell_one(done)
    return found


def _costs(amount: Amount) -> Fitness:
    return amount.cycles, amount.pj


def _drawn(space: Drawable[_One], budget: int, random: Random) -> list[_One]:
    """So many at random, each once, or as many as there are."""
    found: dict[_One, None] = {}
    vain = 0
    while len(found) < budget and vain < _IN_VAIN:
        model = space.drawn(random)
        vain = vain + 1 if model in found else 0
        found[model] = None
    return list(found)


def _some(models: Sequence[LlamaShape], budget: int, random: Random) -> list[LlamaShape]:
    return [models[index] for index in random.permutation(len(models))[:budget]]


def evolved(
    space: Drawable[_One],
    fitness: Callable[[_One], Fitness],
    budget: int,
    random: Random,
    told: Callable[[int], None],
    begin: Sequence[_One] = (),
) -> dict[_One, Fitness]:
    """What was looked at, and its fitness: parents are those that no other one beats in everything.

    `begin` is looked at first, and counts.
    """
    known: dict[_One, Fitness] = {}
    drawn = _drawn(space, max(int(_FIRST * budget), 1), random)
    for model in list(dict.fromkeys([*begin, space.largest, space.smallest, *drawn]))[:budget]:
        known[model] = fitness(model)
        told(len(known))
    vain = 0
    while len(known) < budget and vain < _IN_VAIN:
        parents = _parents(known)
        child = parents[random.integers(len(parents))]
        if random.random() < _CROSSED:
            child = space.crossed(child, parents[random.integers(len(parents))], random)
        child = space.changed(child, random, _MUTATION)
        vain = vain + 1 if child in known else 0
        if child not in known:
            known[child] = fitness(child)
            told(len(known))
    return known


def _parents(known: dict[_One, Fitness]) -> list[_One]:
    """The ones that nothing beats; of those only the ones near the best quality, if some are."""
    kept = _undominated(known)
    least = min(known[model][0] for model in kept)
    near = [model for model in kept if least > 0 and known[model][0] <= _NEAR * least]
    return near if len(near) > 1 else kept


def _undominated(known: dict[_One, Fitness]) -> list[_One]:
    points = np.array(list(known.values()))
    models = list(known)
    return [
        model
        for model, point in zip(models, points, strict=True)
        if not ((points <= point).all(axis=1) & (points < point).any(axis=1)).any()
    ]
