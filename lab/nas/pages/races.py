"""What is compared on a page: searches of a scenario, each with what it looked at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.lab.nas.machines.pairs import Pair
from celosia.lab.nas.machines.together import WAYS, Comparison
from celosia.lab.nas.models.candidates import Amount, Metric, front
from celosia.lab.nas.models.search import Found
from celosia.lab.prune.costs import Machine
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["Dot", "Race", "races_of"]

_WAYS: Final = {
    "fixed": "nothing moves",
    "model": "the model alone",
    "machine": "the machine alone",
    "both": "both",
}


@dataclass(frozen=True)
class Dot:
    """A model on a machine, with what is known of both."""

    model: LlamaShape
    config: AcceleratorConfig
    perplexity: float
    """The perplexity of validation text, with the supernet's weights."""
    amount: Amount


@dataclass(frozen=True, eq=False)
class Race:
    """Searches for one scenario."""

    name: str
    """What links lead to."""
    title: str
    scenario: str
    machine: Machine
    """The fixed machine, with its memory."""
    metric: Metric
    """What is to be small beside perplexity."""
    base: Dot
    """The largest model on the fixed machine."""
    looked: Mapping[str, Sequence[Dot]]
    """What each search looked at, by its name."""
    parts: Callable[[Dot], Sequence[float]]
    """Summed cycles of what there is beside layers, then of each layer."""

    def cost(self, dot: Dot) -> float:
        """What is to be small."""
        return dot.amount.by(self.metric)

    def fronts(self) -> dict[str, list[Dot]]:
        """What no other one beats, for each search, the cheapest first."""
        return {name: front(dots, self.cost) for name, dots in self.looked.items()}

    def shown(self) -> dict[Dot, list[str]]:
        """The dots of all fronts, the cheapest first, with the searches whose they are."""
        found: dict[Dot, list[str]] = {self.base: []}
        for name, dots in self.fronts().items():
            for dot in dots:
                found.setdefault(dot, []).append(name)
        return {dot: found[dot] for dot in sorted(found, key=self.cost)}


def races_of(found: Found, comparisons: Sequence[Comparison], machine: Machine) -> list[Race]:
    """A race for each scenario, and one for each comparison of machines."""
    races = list(_of_models(found, machine))
    for number, each in enumerate(comparisons, 1):
        races.append(_of_pairs(each, number, machine))
    return races


def _of_models(found: Found, machine: Machine) -> Iterator[Race]:
    for scenario, searches in found.searches.items():
        dots = {
            name: [
                Dot(each.model, machine.config, each.perplexity, each.amounts[scenario])
                for each in candidates
            ]
            for name, candidates in searches.items()
        }
        largest = found.largest
        yield Race(
            name=scenario,
            title=f"{scenario}: the model moves",
            scenario=scenario,
            machine=machine,
            metric="cycles",
            base=Dot(largest.model, machine.config, largest.perplexity, largest.amounts[scenario]),
            looked=dots,
            parts=_model_parts(found, scenario),
        )


def _model_parts(found: Found, scenario: str) -> Callable[[Dot], Sequence[float]]:
    return lambda dot: found.judge.parts(dot.model, scenario)


def _of_pairs(comparison: Comparison, number: int, machine: Machine) -> Race:
    looked = {
        _WAYS[way]: [
            Dot(each.pair.model, each.pair.config, each.perplexity, each.amount)
            for each in comparison.found[way]
        ]
        for way in WAYS
    }
    scenario, judge = comparison.scenario, comparison.judge
    timing = replace(machine.timing, bytes_per_cycle=comparison.rate)
    (base,) = looked[_WAYS["fixed"]]
    return Race(
        name=f"machine-{number}",
        title=f"{scenario}, {comparison.rate} B/cycle: model and machine move",
        scenario=scenario,
        machine=replace(machine, timing=timing),
        metric="EDP",
        base=base,
        looked=looked,
        parts=lambda dot: judge.parts(Pair(dot.model, dot.config), scenario),
    )
