"""Strategies of a search, and a search that goes on where it was.

Trials may take minutes each, on several machines: unlike the compiler's own searches, this one
keeps a log, and learns from it.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from celosia.lab.tune.cost_model import Linear, Sample
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

__all__ = ["EXHAUSTIVE", "LEARNED", "NEAR", "STRATEGIES", "SearchPlan", "search", "trials_until"]

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
class SearchPlan:
    """What a search does."""

    space: ChoiceSpace
    first: Trial
    """A trial whose plan and number are those of others."""
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
    """Try plans until the log has as many as are wanted, and the compiler's own plan.

    Raises `EnvironmentProblem` if a plan ends its workers each time.
    """
    known = log.of(plan.strategy)
    sampler = _sampler(plan, known, log.entries)
    left = max(0, min(plan.trials, plan.space.size) - len(known))
    numbers = itertools.islice(_free(known), left)
    trials = _trials(plan, log, sampler, numbers)
    with closing(run_on(lanes, compute, trials, SIMULATORS)) as results:
        for count, (trial, found) in enumerate(results, 1):
            if isinstance(found, Lost):
                raise EnvironmentProblem(f"a worker ended {found.attempts} times at {trial.chosen}")
            log.add(found.line(trial))
            if trial.strategy != DEFAULT:
                sampler.tell(trial.chosen, found)
            best = min((e.cycles for e in log.entries if e.cycles is not None), default=0)
            tell(f"{count} of {left} trials, best {best:,} cycles", min(1.0, count / max(1, left)))


def trials_until(entries: Sequence[Entry], best: int) -> int | None:
    """Trials of a strategy until one was within 1 % of `best` cycles; None: none was."""
    for count, entry in enumerate(entries, 1):
        if entry.cycles is not None and entry.cycles <= NEAR * best:
            return count
    return None


def _free(known: Sequence[Entry]) -> Iterator[int]:
    """Numbers of trials that have no result: of those that were under way, and then of new ones."""
    taken = {entry.trial for entry in known}
    return (number for number in itertools.count() if number not in taken)


def _trials(
    plan: SearchPlan, log: TuningLog, sampler: Sampler, numbers: Iterable[int]
) -> Iterator[Trial]:
    """The compiler's own plan, if it was not tried, and those that are asked for."""
    if not log.of(DEFAULT):
        yield replace(plan.first, strategy=DEFAULT, number=0)
    for number in numbers:
        chosen = plan.space.start if number == 0 and plan.space.start else sampler.ask(number)
        yield replace(plan.first, strategy=plan.strategy, number=number, chosen=chosen)


def _sampler(plan: SearchPlan, known: Sequence[Entry], entries: Sequence[Entry]) -> Sampler:
    """The sampler of a strategy, which is told what is known; a learned one, of all `entries`."""
    if plan.strategy == EXHAUSTIVE:
        return _InOrder(plan.space)
    # A search that goes on is another one than each of any seed that did not.
    seed = int(np.random.SeedSequence((plan.seed, len(known))).generate_state(1)[0])
    if plan.strategy == LEARNED:
        own = [entry for entry in entries if entry.strategy == DEFAULT]
        sampler = _learned(plan, [*plan.history, *samples_of(own)], seed)
        return _told(sampler, [entry for entry in entries if entry.strategy != DEFAULT])
    samplers = import_extra("celosia.lab.tune.samplers", "tune")
    return _told(samplers.StudySampler(plan.strategy, plan.space.choices, seed), known)


def _told(sampler: Sampler, entries: Sequence[Entry]) -> Sampler:
    """The sampler, which knows of these trials."""
    for entry in entries:
        sampler.tell(entry.chosen, Found(entry.cycles, entry.refused, seen_by(entry)))
    return sampler


def _learned(plan: SearchPlan, samples: Sequence[Sample], seed: int) -> Sampler:
    """A sampler that begins at the compiler's plan, and looks at plans in this process."""
    first, space = plan.first, plan.space
    graph = work_of(first.options, first.graph).graph
    timing = first.options.target.timing

    def look(chosen: Mapping[str, Choice]) -> Seen:
        return seen_of(graph, first.config, space.plan(chosen), timing)

    try:
        start = space.nearest(timing)
    except PlanError:
        start = None
    return LearnedSampler(space, look, Linear(), samples, start=start, seed=seed)
