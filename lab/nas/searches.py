"""Four searches of a space, each with the same budget of models that are scored."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from celosia.lab.nas.candidates import Amount, Candidate, Judge
from celosia.lab.nas.space import Space
from celosia.sim.support.progress import Progress, share
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["EVOLUTION", "RANDOM", "SEARCHES", "run_searches"]

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

    evolved = _evolved(space, by_score, budget, np.random.default_rng([seed, 0]), told(0))
    chosen = {
        EVOLUTION: list(evolved),
        RANDOM: _drawn(space, budget, np.random.default_rng([seed, 1])),
        UNIFORM: _some(list(space.uniform()), budget, np.random.default_rng([seed, 2])),
    }
    proxies = _evolved(space, by_weights, budget, np.random.default_rng([seed, 3]), lambda _: None)
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


def _drawn(space: Space, budget: int, random: Random) -> list[LlamaShape]:
    """So many models at random, each once, or as many as there are."""
    found: dict[LlamaShape, None] = {}
    vain = 0
    while len(found) < budget and vain < _IN_VAIN:
        model = space.drawn(random)
        vain = vain + 1 if model in found else 0
        found[model] = None
    return list(found)


def _some(models: Sequence[LlamaShape], budget: int, random: Random) -> list[LlamaShape]:
    return [models[index] for index in random.permutation(len(models))[:budget]]


def _evolved(
    space: Space,
    fitness: Callable[[LlamaShape], Fitness],
    budget: int,
    random: Random,
    told: Callable[[int], None],
) -> dict[LlamaShape, Fitness]:
    """Models and their fitness: parents are those that no other one beats in everything."""
    known: dict[LlamaShape, Fitness] = {}
    first = [space.largest, space.smallest, *_drawn(space, max(int(_FIRST * budget), 1), random)]
    for model in first[:budget]:
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


def _parents(known: dict[LlamaShape, Fitness]) -> list[LlamaShape]:
    """The models that nothing beats; of those only the ones near the best quality, if some are."""
    kept = _undominated(known)
    least = min(known[model][0] for model in kept)
    near = [model for model in kept if least > 0 and known[model][0] <= _NEAR * least]
    return near if len(near) > 1 else kept


def _undominated(known: dict[LlamaShape, Fitness]) -> list[LlamaShape]:
    points = np.array(list(known.values()))
    models = list(known)
    return [
        model
        for model, point in zip(models, points, strict=True)
        if not ((points <= point).all(axis=1) & (points < point).any(axis=1)).any()
    ]
