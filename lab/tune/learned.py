"""Proposals by simulated annealing on a learned model of cycles, as AutoTVM makes them.

A plan is looked at (compiled, and followed by the timeline) before it is proposed: that costs
milliseconds, a run costs more.  The decisions of a graph are those of its kinds of stages and those
that all have in common; looks, and with them trials, are divided over these by what each still
promises, as Ansor's scheduler of tasks does (Zheng et al., OSDI 2020, section 6).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import Final

from celosia.lab.tune.cost_model import CostModel, Sample
from celosia.lab.tune.features import Seen
from celosia.lab.tune.spaces.choice_space import Choice, ChoiceSpace
from celosia.lab.tune.trial import Found
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["FIRST", "LOOKS", "LearnedSampler", "Promise", "group_of"]

Chosen = Mapping[str, Choice]

LOOKS: Final = 24
"""Plans that are looked at before each proposal."""
FIRST: Final = 4
"""So many times as many are before the first one."""
_HOT: Final = 0.05
_COLD: Final = 0.003
"""Temperatures at both ends, as logarithms of cycles: 5 % more is accepted at first."""
_FLOOR: Final = 0.002
"""What a group of decisions promises at least: nothing is ever given up."""
_MEMORY: Final = 0.8
"""The weight of what a group promised before, beside that of its last move."""


def group_of(name: str) -> str:
    """The kind of stage that a decision is of; empty: it is of the whole plan."""
    return name.rpartition(".")[0]


class Promise:
    """What each group of decisions still promises: the mean gain of its last moves.

    A gain is a logarithm of cycles.  Who was not tried promises as much as the most hopeful.
    """

    def __init__(self, names: Sequence[str]):
        self._gains: dict[str, float | None] = dict.fromkeys(map(group_of, names))

    @property
    def weights(self) -> Mapping[str, float]:
        """How much of the search each group is given, in relation to others."""
        most = max((gain for gain in self._gains.values() if gain is not None), default=_FLOOR)
        return {
            name: max(_FLOOR, most if gain is None else gain) for name, gain in self._gains.items()
        }

    def moved(self, group: str, gain: float) -> None:
        """A move of a group would gain so much; a loss is no gain."""
        before, gain = self._gains[group], max(0.0, gain)
        self._gains[group] = gain if before is None else _MEMORY * before + (1 - _MEMORY) * gain


@dataclass(frozen=True)
class _Point:
    """A legal plan that was looked at."""

    chosen: Chosen
    seen: Seen


class LearnedSampler:
    """Proposes plans that a model of cycles expects to be best, and learns from what they take.

    `look` is what a plan looks like, or raises `PlanError` for one that is not to be proposed;
    `known` are runs of other workloads, or of earlier searches; before each proposal, up to `looks`
    plans are looked at.
    """

    def __init__(
        self,
        space: ChoiceSpace,
        look: Callable[[Chosen], Seen],
        model: CostModel,
        known: Sequence[Sample] = (),
        *,
        start: Chosen | None = None,
        seed: int = 0,
        looks: int = LOOKS,
    ):
        self._choices, self._look, self._model = space.choices, look, model
        self._samples, self._start, self._random = [*known], start, Random(seed)
        self._looks = looks
        self._promise = Promise(list(self._choices))
        self._points: dict[tuple[Choice, ...], _Point | None] = {}
        self._told: set[tuple[Choice, ...]] = set()
        self._ran: list[tuple[int, Chosen]] = []
        self._tried: set[tuple[float, ...]] = set()

    def ask(self, number: int) -> Chosen:
        """What to try: of plans that were looked at and did not run, the best by the model."""
        self._model.fit(self._samples)
        self._anneal(self._looks if self._ran else FIRST * self._looks)
        new = [
            point
            for key, point in self._points.items()
            if point is not None and key not in self._told and _print(point.seen) not in self._tried
        ]
        if not new:
            return self._anything()
        scores = self._scores(new)
        best = new[min(range(len(new)), key=scores.__getitem__)]
        self._tried.add(_print(best.seen))
        return best.chosen

    def tell(self, chosen: Chosen, found: Found) -> None:
        """A plan was tried, by this process or an earlier one."""
        self._told.add(self._key(chosen))
        if found.cycles is None:
            return
        self._ran.append((found.cycles, chosen))
        if found.seen is not None:
            self._tried.add(_print(found.seen))
            self._samples.append(Sample(found.seen, found.cycles))

    def _anneal(self, looks: int) -> None:
        """Look at so many plans more, those near good ones first."""
        here = self._beginning()
        most = len(self._points) + looks
        for turn in range(8 * looks):
            if here is None or len(self._points) >= most:
                return
            group, there = self._moved(here)
            if there is None:
                continue
            now, then = self._scores([here, there])
            self._promise.moved(group, now - then)
            heat = _HOT * (_COLD / _HOT) ** (turn / (8 * looks))
            if then < now or self._random.random() < exp((now - then) / heat):
                here = there

    def _beginning(self) -> _Point | None:
        """The best plan that is known, or else the best of a few random ones."""
        if self._ran:
            _, chosen = min(self._ran, key=lambda each: each[0])
            if (point := self._at(chosen)) is not None:
                return point
        if self._start is not None and (point := self._at(self._start)) is not None:
            return point
        drawn = [self._at(self._anything()) for _ in range(self._looks)]
        legal = [point for point in drawn if point is not None]
        if not legal:
            return None
        scores = self._scores(legal)
        return legal[min(range(len(legal)), key=scores.__getitem__)]

    def _moved(self, here: _Point) -> tuple[str, _Point | None]:
        """A group, and a plan that differs in one or two of its decisions."""
        weights = self._promise.weights
        (group,) = self._random.choices([*weights], [*weights.values()])
        names = [
            name
            for name, values in self._choices.items()
            if group_of(name) == group and len(values) > 1
        ]
        if not names:
            return group, None
        chosen = dict(here.chosen)
        for name in self._random.sample(names, min(len(names), self._random.choice((1, 1, 2)))):
            others = [value for value in self._choices[name] if value != chosen[name]]
            chosen[name] = self._random.choice(others)
        return group, self._at(chosen)

    def _at(self, chosen: Chosen) -> _Point | None:
        key = self._key(chosen)
        if key not in self._points:
            try:
                self._points[key] = _Point(chosen, self._look(chosen))
            except PlanError:
                self._points[key] = None
        return self._points[key]

    def _scores(self, points: Sequence[_Point]) -> Sequence[float]:
        """The logarithms of the cycles that are expected."""
        seen = [point.seen for point in points]
        ratios = self._model.residuals(seen)
        return [log(each.predicted) + float(r) for each, r in zip(seen, ratios, strict=True)]

    def _anything(self) -> dict[str, Choice]:
        return {name: self._random.choice(values) for name, values in self._choices.items()}

    def _key(self, chosen: Chosen) -> tuple[Choice, ...]:
        return tuple(chosen[name] for name in self._choices)


def _print(seen: Seen) -> tuple[float, ...]:
    """What two choices have in common that make the same plan."""
    return (seen.predicted, *seen.features.values())
