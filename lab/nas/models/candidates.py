"""Candidates of a search: a model, its perplexity, what it takes; the best of them, and gains."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final, Literal, Protocol, TypeVar

from celosia.lab.nas.models.costs import SCENARIOS, Costs
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sw.reference.language.shape import LlamaShape

__all__ = [
    "LOSSES",
    "METRICS",
    "Amount",
    "Candidate",
    "Judge",
    "Metric",
    "advantage",
    "best",
    "front",
    "gain",
    "sizes",
]

Metric = Literal["cycles", "energy", "EDP"]
METRICS: Final[tuple[Metric, ...]] = ("cycles", "energy", "EDP")
"""What is to be small; ``EDP`` is energy times cycles."""
LOSSES: Final = (0.0045, 0.045)
"""How much more perplexity than the largest model's is asked about, as shares."""


@dataclass(frozen=True)
class Amount:
    """What a model takes in a scenario."""

    cycles: float
    pj: float

    def by(self, metric: Metric) -> float:
        """The amount of a metric."""
        return {"cycles": self.cycles, "energy": self.pj, "EDP": self.cycles * self.pj}[metric]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model that was looked at."""

    model: LlamaShape
    perplexity: float
    """The perplexity of validation text, with the supernet's weights."""
    amounts: Mapping[str, Amount]
    """By scenario."""


def sizes(model: LlamaShape) -> str:
    """A model in a few signs: width, and heads and channels of each layer."""
    layers = " ".join(f"{layer.heads}/{layer.hidden}" for layer in model.layers)
    return f"{model.width}: {layers}"


class Judge:
    """Makes candidates of models; each is scored once."""

    def __init__(self, costs: Costs, table: EnergyTable, score: Callable[[LlamaShape], float]):
        self._costs, self._table, self.score = costs, table, score
        self._known: dict[LlamaShape, Candidate] = {}

    def __call__(self, model: LlamaShape) -> Candidate:
        """The candidate of a model."""
        if model not in self._known:
            amounts = {scenario: self.amount(model, scenario) for scenario in SCENARIOS}
            self._known[model] = Candidate(model, self.score(model), amounts)
        return self._known[model]

    def amount(self, model: LlamaShape, scenario: str) -> Amount:
        """What a model takes, which needs no score."""
        cost = self._costs.of(model, scenario)
        return Amount(cost.cycles, cost.pj(self._table))

    def parts(self, model: LlamaShape, scenario: str) -> list[float]:
        """The cycles of what there is beside layers, then of each layer."""
        return [part.cycles for part in self._costs.parts(model, scenario)]


class Scored(Protocol):
    """A thing with a perplexity."""

    @property
    def perplexity(self) -> float:
        """The perplexity."""
        ...


_Scored = TypeVar("_Scored", bound=Scored)


def front(found: Iterable[_Scored], cost: Callable[[_Scored], float]) -> list[_Scored]:
    """The ones of which no other is as good in both and better in one, the cheapest first."""
    kept: list[_Scored] = []
    for each in sorted(found, key=lambda one: (cost(one), one.perplexity)):
        if not kept or each.perplexity < kept[-1].perplexity:
            kept.append(each)
    return kept


def best(
    found: Iterable[Candidate], largest: Candidate, scenario: str, metric: Metric, loss: float
) -> Candidate:
    """The cheapest candidate with at most so much loss: the largest, where nothing else has."""
    most = largest.perplexity * (1 + loss)
    legal = [largest, *(each for each in found if each.perplexity <= most)]
    return min(legal, key=lambda each: each.amounts[scenario].by(metric))


def gain(one: Candidate, largest: Candidate, scenario: str, metric: Metric) -> float:
    """How many times as much the largest model takes."""
    return largest.amounts[scenario].by(metric) / one.amounts[scenario].by(metric)


def advantage(
    ours: Sequence[Candidate], theirs: Sequence[Candidate], largest: Candidate, scenario: str
) -> float:
    """How many times as much is gained by `ours`: the geometric mean over metrics and losses."""
    ratios = [
        gain(best(ours, largest, scenario, metric, loss), largest, scenario, metric)
        / gain(best(theirs, largest, scenario, metric, loss), largest, scenario, metric)
        for metric in METRICS
        for loss in LOSSES
    ]
    return exp(sum(map(log, ratios)) / len(ratios))
