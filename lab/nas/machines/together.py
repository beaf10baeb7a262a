"""A comparison: model and machine move, beside each alone, with each memory.

Pairs begin with what each alone has found, which counts in their budget.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.lab.nas.machines.machine_space import MachineSpace
from celosia.lab.nas.machines.pairs import Looked, Pair, PairJudge, PairSpace, least
from celosia.lab.nas.models.candidates import LOSSES
from celosia.lab.nas.models.costs import SCENARIOS, Costs, costs_when_asked
from celosia.lab.nas.models.search import Asked, Found
from celosia.lab.nas.models.searches import evolved
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import Lines
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, share
from celosia.sim.support.words import counted
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["WAYS", "Comparison", "Way", "compare", "gain_of", "winner"]

Way = Literal["fixed", "model", "machine", "both"]
WAYS: Final[tuple[Way, ...]] = ("fixed", "model", "machine", "both")
"""Nothing moves; the model, on the fixed machine; the machine, with the largest model; both."""

_KEPT: Final = 3
"""Machines that pairs have: those on which the largest model takes the least EDP, the fixed one
among them if it is so good."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was looked at in each way, for a scenario and a memory."""

    scenario: str
    rate: int
    """Bytes per cycle of the memory."""
    found: Mapping[Way, Sequence[Looked]]
    most_uj: float | None
    """The bound of energy."""
    judge: PairJudge

    @property
    def base(self) -> Looked:
        """The largest model on the fixed machine."""
        return self.found["fixed"][0]


def winner(comparison: Comparison, way: Way, loss: float) -> Looked | None:
    """The best of a way within a loss and the bound of energy; None: nothing is within both.

    Each way may leave what it moves where it was.
    """
    found = [*comparison.found["fixed"], *comparison.found[way]]
    return least(found, comparison.base.perplexity, loss, comparison.most_uj)


def gain_of(comparison: Comparison, way: Way, loss: float) -> float:
    """How many times as much EDP the largest model takes on the fixed machine.

    It is 0 where nothing is within the bound.
    """
    best = winner(comparison, way, loss)
    return comparison.base.amount.by("EDP") / best.amount.by("EDP") if best else 0.0


def compare(
    asked: Asked,
    found: Found,
    space: MachineSpace,
    machine: Machine,
    table: EnergyTable,
    most: int,
    *,
    lines: Lines,
    tell: Progress,
    costs: Callable[[Machine], Costs] | None = None,
) -> list[Comparison]:
    """Search each way for each scenario and memory.

    A way looks at `most` machines, and at as many models, or pairs, as the search's budget has.
    Raises `InputError` where nothing is within a bound of energy, and says what is nearest.
    """
    usual = costs or partial(costs_when_asked, asked.space, lines=lines)
    comparisons = []
    places = [(rate, scenario) for rate in space.rates for scenario in SCENARIOS]
    for index, (rate, scenario) in enumerate(places):
        timing = replace(machine.timing, bytes_per_cycle=rate)
        judge = PairJudge(replace(machine, timing=timing), usual, table, found.judge.score)
        part = share(tell, index / len(places), (index + 1) / len(places))
        looked = dict(_ways(asked, space, judge, scenario, most, f"{rate} B/cycle", part))
        comparison = Comparison(scenario, rate, looked, space.bounds.uj.get(scenario), judge)
        _check_bound(comparison)
        comparisons.append(comparison)
    return comparisons


def _ways(
    asked: Asked,
    space: MachineSpace,
    judge: PairJudge,
    scenario: str,
    most: int,
    memory: str,
    tell: Progress,
) -> Iterator[tuple[Way, list[Looked]]]:
    models, fixed = asked.space, space.fixed
    base = Pair(models.largest, fixed)
    random = np.random.default_rng([asked.seed, 4])

    def edp(config: AcceleratorConfig) -> tuple[float, ...]:
        amount = judge.amount(Pair(models.largest, config), scenario)
        return amount.by("EDP"), amount.cycles, amount.pj

    def of_model(model: LlamaShape) -> tuple[float, ...]:
        return of_pair(Pair(model, fixed))

    def of_pair(pair: Pair) -> tuple[float, ...]:
        looked = judge(pair, scenario)
        return looked.perplexity, looked.amount.cycles, looked.amount.pj

    def told(what: str, begin: float, budget: int) -> Callable[[int], None]:
        part = share(tell, begin, begin + 1 / 3)
        return lambda done: part(f"{scenario}, {memory}: {counted(done, what)}", done / budget)

    yield "fixed", [judge(base, scenario)]
    alone = evolved(models, of_model, asked.budget, random, told("model", 0, asked.budget))
    by_model = [judge(Pair(model, fixed), scenario) for model in alone]
    yield "model", by_model
    begin = space.legal if len(space.legal) <= most else ()
    machines = evolved(space, edp, most, random, told("machine", 1 / 3, most), begin)
    by_machine = [judge(Pair(models.largest, config), scenario) for config in machines]
    yield "machine", by_machine
    kept = sorted({**machines, fixed: edp(fixed)}, key=edp)[:_KEPT]
    quality = judge.score(models.largest)
    best = [least(by_model, quality, loss, None) for loss in LOSSES]
    known = [
        Pair(model, config)
        for config in kept
        for model in dict.fromkeys([models.largest, *(each.pair.model for each in best if each)])
    ]
    pairs = evolved(
        PairSpace(models, kept),
        of_pair,
        asked.budget,
        random,
        told("pair", 2 / 3, asked.budget),
        known,
    )
    yield "both", [judge(pair, scenario) for pair in pairs]


def _check_bound(comparison: Comparison) -> None:
    """Raise `InputError` if nothing is within the bound of energy."""
    most = comparison.most_uj
    looked = [each for way in WAYS for each in comparison.found[way]]
    nearest = min(looked, key=lambda each: each.amount.pj)
    if most is not None and nearest.amount.pj > most * 1e6:
        raise InputError(
            f"{comparison.scenario}_uj: of {len(looked)} pairs none takes at most {most:g} uJ; "
            f"the nearest takes {nearest.amount.pj / 1e6:.4g}"
        )
