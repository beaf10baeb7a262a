"""Model and machine together: pairs, what they take, and their space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.lab.nas.models.candidates import Amount
from celosia.lab.nas.models.costs import Costs
from celosia.lab.nas.models.space import Space
from celosia.lab.prune.costs import Machine
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["Looked", "Pair", "PairJudge", "PairSpace", "least"]

Random = np.random.Generator


@dataclass(frozen=True)
class Pair:
    """A model on a machine."""

    model: LlamaShape
    config: AcceleratorConfig


@dataclass(frozen=True, eq=False)
class Looked:
    """A pair that was looked at."""

    pair: Pair
    perplexity: float
    """The perplexity of the model, with the supernet's weights."""
    amount: Amount


@dataclass(frozen=True, eq=False)
class PairJudge:
    """What pairs take, with one memory."""

    machine: Machine
    """The memory's timing; its configuration is one of many."""
    costs: Callable[[Machine], Costs]
    table: EnergyTable
    score: Callable[[LlamaShape], float]
    _known: dict[AcceleratorConfig, Costs] = field(default_factory=dict)

    def __call__(self, pair: Pair, scenario: str) -> Looked:
        """A pair with its model's score."""
        return Looked(pair, self.score(pair.model), self.amount(pair, scenario))

    def amount(self, pair: Pair, scenario: str) -> Amount:
        """What a pair takes, which needs no score."""
        cost = self._costs(pair).of(pair.model, scenario)
        return Amount(cost.cycles, cost.pj(self.table))

    def parts(self, pair: Pair, scenario: str) -> list[float]:
        """The cycles of what there is beside layers, then of each layer."""
        return [part.cycles for part in self._costs(pair).parts(pair.model, scenario)]

    def _costs(self, pair: Pair) -> Costs:
        if pair.config not in self._known:
            self._known[pair.config] = self.costs(replace(self.machine, config=pair.config))
        return self._known[pair.config]


@dataclass(frozen=True)
class PairSpace:
    """Models of a space on a few machines."""

    models: Space
    machines: Sequence[AcceleratorConfig]

    @property
    def largest(self) -> Pair:
        """The largest model on the first machine."""
        return Pair(self.models.largest, self.machines[0])

    @property
    def smallest(self) -> Pair:
        """The smallest model on the first machine."""
        return Pair(self.models.smallest, self.machines[0])

    def drawn(self, random: Random) -> Pair:
        """Any model on any of the machines."""
        return Pair(self.models.drawn(random), self._any(random))

    def changed(self, model: Pair, random: Random, rate: float) -> Pair:
        """`model` with its sizes, and its machine, drawn anew with the probability `rate`."""
        other = self._any(random) if random.random() < rate else model.config
        return Pair(self.models.changed(model.model, random, rate), other)

    def crossed(self, one: Pair, other: Pair, random: Random) -> Pair:
        """A model whose sizes are those of `one` or of the `other`, on the machine of either."""
        child = self.models.crossed(one.model, other.model, random)
        return Pair(child, (one, other)[random.integers(2)].config)

    def _any(self, random: Random) -> AcceleratorConfig:
        return self.machines[int(random.integers(len(self.machines)))]


def least(
    found: Sequence[Looked], quality: float, loss: float, most_uj: float | None
) -> Looked | None:
    """The one with the least energy times cycles; None: there is none.

    It has at most the share `loss` more perplexity than `quality`, and takes at most `most_uj`.
    """
    legal = [
        each
        for each in found
        if each.perplexity <= quality * (1 + loss)
        and (most_uj is None or each.amount.pj <= most_uj * 1e6)
    ]
    return min(legal, key=lambda each: each.amount.by("EDP"), default=None)
