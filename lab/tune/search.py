"""Strategies of a search, and a search that goes on where it was.

Trials may take minutes each, on several machines: unlike the compiler's own searches, this one
keeps a log, and learns from it.  The graphs of a model share its trials.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from celosia.lab.tune.cost_model import Linear, Sample
from celosia.lab.tune.divide import promise
from celosia.lab.tune.features import Seen, seen_of
from celosia.lab.tune.history import samples_of, seen_by
from celosia.lab.tune.learned import LearnedSampler
from celosia.lab.tune.spaces.choice_space import Choice, ChoiceSpace
from celosia.lab.tune.trial import SIMULATORS, Found, Trial, try_plan
from celosia.lab.tune.tuning_log import DEFAULT, Entry, TuningLog
from celosia.lab.tune.work import work_of
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane, Lost, run_on
from celosia.sw.planning.rules.verify import PlanError

__all__ = [
    "EXHAUSTIVE",
    "LEARNED",
    "NEAR",
    "STRATEGIES",
    "Part",
    "SearchPlan",
    "search",
    "trials_until",
]

EXHAUSTIVE: Final = "exhaustive"
LEARNED: Final = "learned"
STRATEGIES: Final = (EXHAUSTIVE, "random", "tpe", LEARNED)
NEAR: Final = 1.01
"""How much more than the best a plan may take that is near it."""


class Sampler(Protocol):
    """Proposes plans, and is told what became of them."""

    def ask(self, number: int) -> Mapping[str, Choice]:
        """What to try as trial `number`."""
        ...

    def tell(self, chosen: Mapping[str, Choice], found: Found) -> None:
        """A plan was tried."""
        ...


@dataclass(frozen=True)
class _InOrder:
    """Every plan, one after the other."""

    space: ChoiceSpace

    def ask(self, number: int) -> Mapping[str, Choice]:
        return next(self.space.all(number))

    def tell(self, chosen: Mapping[str, Choice], found: Found) -> None:
        """Nothing is learnt."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A graph to search: the only one, or one of a model."""

    space: ChoiceSpace
    first: Trial
    """A trial whose plan and number are those of others."""
    key: str | None = None
    """What a log of several graphs calls it; None: there is one."""
    runs: int = 1
    """How often the model runs it, or a graph like it."""


@dataclass(frozen=True, kw_only=True)
class SearchPlan:
    """What a search does."""

    parts: Sequence[Part]
    """The graphs, none like another."""
    strategy: str
    trials: int
    """How many of this strategy there are at the end, those of earlier searches included."""
    seed: int = 0
    history: Sequence[Sample] = ()
    """Runs of other workloads on the RTL, which a learned model begins with."""


def search(
    plan: SearchPlan,
    log: TuningLog,
    lanes: Iterable[Lane],
    tell: Progress,
    compute: Callable[[Trial], Found] = try_plan,
) -> None:
    """Try plans until the log has as many as are wanted, and the compiler's own of each graph.

    Raises `EnvironmentProblem` if a plan ends its workers each time.
    """
    searches = {part.first.graph: _Search(plan, part, log) for part in plan.parts}
    most = min(plan.trials, sum(part.space.size for part in plan.parts))
    left = max(0, most - sum(each.asked for each in searches.values()))
    trials = _trials([*searches.values()], left)
    with closing(run_on(lanes, compute, trials, SIMULATORS)) as results:
        for count, (trial, found) in enumerate(results, 1):
            if isinstance(found, Lost):
                raise EnvironmentProblem(f"a worker ended {found.attempts} times at {trial.chosen}")
            searches[trial.graph].add(trial, found)
            best = sum(each.part.runs * each.best for each in searches.values())
            tell(f"{count} of {left} trials, best {best:,} cycles", min(1.0, count / max(1, left)))


def trials_until(entries: Sequence[Entry], best: int) -> int | None:
    """Trials of a strategy until one was within 1 % of `best` cycles; None: none was."""
    for count, entry in enumerate(entries, 1):
        if entry.cycles is not None and entry.cycles <= NEAR * best:
            return count
    return None


def _trials(searches: Sequence["_Search"], count: int) -> Iterator[Trial]:
    """The compiler's own plans that were not tried, and so many of who promises most by then."""
    for each in searches:
        if not each.of(DEFAULT):
            yield replace(each.part.first, strategy=DEFAULT, number=0)
    for _ in range(count):
        yield max((each for each in searches if each.left), key=_Search.promise).next()


class _Search:
    """The search of one graph."""

    def __init__(self, plan: SearchPlan, part: Part, log: TuningLog):
        self.part, self._strategy, self._log = part, plan.strategy, log
        known = self.of(plan.strategy)
        self.asked = len(known)
        """Trials of the strategy, those without a result included."""
        self._sampler = _sampler(plan, part, log)
        self._numbers = _free(known)

    def of(self, strategy: str) -> list[Entry]:
        """The trials of a strategy that have a result."""
        return self._log.of(strategy, self.part.key)

    @property
    def left(self) -> bool:
        """Whether there are plans that were not asked for."""
        return self.asked < self.part.space.size

    @property
    def best(self) -> int:
        """The fewest cycles of all strategies; 0: no plan was legal yet."""
        tried = (entry.cycles for entry in self._log.part(self.part.key))
        return min((cycles for cycles in tried if cycles is not None), default=0)

    def promise(self) -> float:
        """What the model may gain by one more trial of this graph."""
        cycles = [entry.cycles for entry in (*self.of(DEFAULT), *self.of(self._strategy))]
        return self.part.runs * promise(cycles, self.asked)

    def next(self) -> Trial:
        """What to try."""
        number, space = next(self._numbers), self.part.space
        chosen = space.start if number == 0 and space.start else self._sampler.ask(number)
        self.asked += 1
        return replace(self.part.first, strategy=self._strategy, number=number, chosen=chosen)

    def add(self, trial: Trial, found: Found) -> None:
        """A plan was tried."""
        self._log.add(replace(found.line(trial), graph=self.part.key))
        if trial.strategy != DEFAULT:
            self._sampler.tell(trial.chosen, found)


def _free(known: Sequence[Entry]) -> Iterator[int]:
    """Numbers of trials that have no result: of those that were under way, and then of new ones."""
    taken = {entry.trial for entry in known}
    return (number for number in itertools.count() if number not in taken)


def _sampler(plan: SearchPlan, part: Part, log: TuningLog) -> Sampler:
    """The sampler of a strategy, which is told what is known; a learned one, of all strategies."""
    if plan.strategy == EXHAUSTIVE:
        return _InOrder(part.space)
    known = log.of(plan.strategy, part.key)
    # A search that goes on is another one than each of any seed that did not.
    seed = int(np.random.SeedSequence((plan.seed, len(known))).generate_state(1)[0])
    if plan.strategy == LEARNED:
        graph = part.key
        tried = [each for each in log.part(graph) if each.strategy != DEFAULT]
        others = [each for each in log.entries if each.graph != graph or each.strategy == DEFAULT]
        return _told(_learned(part, [*plan.history, *samples_of(others)], seed), tried)
    samplers = import_extra("celosia.lab.tune.samplers", "tune")
    return _told(samplers.StudySampler(plan.strategy, part.space.choices, seed), known)


def _told(sampler: Sampler, entries: Sequence[Entry]) -> Sampler:
    """The sampler, which knows of these trials."""
    for entry in entries:
        sampler.tell(entry.chosen, Found(entry.cycles, entry.refused, seen_by(entry)))
    return sampler


def _learned(part: Part, samples: Sequence[Sample], seed: int) -> Sampler:
    """A sampler that begins at the compiler's plan, and looks at plans in this process."""
    first, space = part.first, part.space
    graph = work_of(first.options, first.graph).graph
    timing = first.options.target.timing

    def look(chosen: Mapping[str, Choice]) -> Seen:
        return seen_of(graph, first.config, space.plan(chosen), timing)

    try:
        start = space.nearest(timing)
    except PlanError:
        start = None
    return LearnedSampler(space, look, Linear(), samples, start=start, seed=seed)
