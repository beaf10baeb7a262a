"""A race of searches: how many runs on the RTL each takes until a plan is as good as the target.

All begin at random.  The compiler's plan, and those that differ from it in one decision, are
withheld.  A plan that breaks a rule is no run, and a plan that ran is not counted twice; what a
search looks at by the timeline is not counted, as that is its model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, Protocol

from celosia.isa.documents.record import Record
from celosia.lab.tune.cost_model import Linear, Sample, TimelineAlone
from celosia.lab.tune.features import Seen, seen_of
from celosia.lab.tune.learned import LOOKS, LearnedSampler
from celosia.lab.tune.race.workloads import WORKLOADS, Racetrack
from celosia.lab.tune.search import NEAR
from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.trial import Found
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sim.support.version import source_version
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["STRATEGIES", "RaceLine", "Runs", "race", "run_race", "tuned_cycles"]

STRATEGIES: Final = ("random", "tpe", "timeline", "learned")
"""Searches in the order in which they run; ``timeline``: as learned, but the ratio is always 1."""
SEEDS: Final = 10
MOST: Final = 30
"""Runs after which a search has not found it."""
TUNED: Final = 20
"""Runs of a search that begins at the compiler's plan."""
_ASKED: Final = 20
"""Times that a search is asked for each run that it may have: most plans may be illegal."""


class _Sampler(Protocol):
    def ask(self, number: int) -> Mapping[str, Choice]: ...

    def tell(self, chosen: Mapping[str, Choice], found: Found) -> None: ...


class Runs:
    """The plans of a workload: what they look like, and what they take, each found out once."""

    def __init__(self, track: Racetrack, *, withhold: bool = True):
        self.track, self._withhold = track, withhold
        self._looks: dict[tuple[Choice, ...], tuple[Plan, Seen] | PlanError] = {}
        self.near_own = track.space.nearest(track.timing)
        self._owns_look = self._seen(track.own)

    def look(self, chosen: Mapping[str, Choice]) -> Seen:
        """What a plan looks like.  Raises `PlanError` for one that is illegal or withheld."""
        return self._at(chosen)[1]

    def cycles(self, chosen: Mapping[str, Choice]) -> int:
        """What a legal plan takes on the RTL; all its results are right."""
        return self._measured(self._at(chosen)[0])

    @property
    def own_cycles(self) -> int:
        """What the compiler's plan takes on the RTL."""
        return self._measured(self.track.own)

    def _at(self, chosen: Mapping[str, Choice]) -> tuple[Plan, Seen]:
        key = tuple(chosen.values())
        if key not in self._looks:
            try:
                self._looks[key] = self._looked(chosen)
            except PlanError as error:
                self._looks[key] = error
        found = self._looks[key]
        if isinstance(found, PlanError):
            raise found
        return found

    def _looked(self, chosen: Mapping[str, Choice]) -> tuple[Plan, Seen]:
        different = sum(chosen[name] != value for name, value in self.near_own.items())
        if self._withhold and different < 2:
            raise PlanError("withheld", "plan", "one decision from the compiler's plan, or none")
        plan = self.track.space.plan(chosen)
        seen = self._seen(plan)
        if self._withhold and seen == self._owns_look:
            raise PlanError("withheld", "plan", "it is the compiler's plan")
        return plan, seen

    def _seen(self, plan: Plan) -> Seen:
        track = self.track
        return seen_of(track.work.graph, track.config, plan, track.timing)

    def _measured(self, plan: Plan) -> int:
        """Kept among built simulators: ten seeds, and who runs this again, do not run it again."""
        track = self.track
        parts = [track.work.graph.name, repr(track.config), repr(track.timing), repr(plan)]
        name = f"tuning/{digest([track.name, *parts, source_version()])}.json"

        def run(place: Path) -> Path:
            found = track.work.measured(plan, track.config, track.timing)
            assert found.right, f"{track.name}: {found.failure or found.mismatches}"
            path = place / "cycles.json"
            path.write_text(json.dumps(found.cycles))
            return path

        return json.loads(cached(name, run).read_text())


@dataclass(frozen=True, kw_only=True)
class RaceLine(Record):
    """A workload, and how soon each search was within 1 % of the target."""

    workload: str
    """What is computed, and on which preset."""
    target: int
    """The fewest cycles that were known before."""
    compiler: int
    """The cycles of the compiler's plan."""
    plans: int
    """How many combinations of decisions there are."""
    trials: dict[str, list[int]]
    """Runs of each search, by seed; one more than the most if it did not find it."""
    best: int
    """The fewest cycles of all runs of the race, and of the compiler's plan."""
    tuned: int
    """The fewest cycles of the compiler's plan and of a few runs that begin near it."""
    right: bool = True
    """Whether every run had the right results: a wrong one ends the race."""

    def middle(self, strategy: str) -> float:
        """The median of a search's runs."""
        return median(self.trials[strategy])


def run_race(
    tell: Progress,
    tracks: Sequence[Racetrack] = WORKLOADS,
    seeds: int = SEEDS,
    most: int = MOST,
) -> tuple[RaceLine, ...]:
    """Race all searches on all workloads, from so many seeds.

    What ``learned`` knows before it begins is what the random search of the same seed ran on the
    other workloads.
    """
    runs = [Runs(track) for track in tracks]
    trials = {track.name: {name: list[int]() for name in STRATEGIES} for track in tracks}
    best = {each.track.name: each.own_cycles for each in runs}
    steps = seeds * len(STRATEGIES) * len(runs)
    for number, seed in enumerate(range(seeds)):
        known: dict[str, list[Sample]] = {}
        for place, strategy in enumerate(STRATEGIES):
            for turn, each in enumerate(runs):
                done = (number * len(STRATEGIES) + place) * len(runs) + turn
                tell(f"{strategy}, seed {seed}, {each.track.name}", done / steps)
                name = each.track.name
                others = [s for other, found in known.items() if other != name for s in found]
                sampler = _sampler(strategy, each, others, seed)
                samples = race(each, sampler, most)
                if strategy == "random":
                    known[name] = samples
                cycles = [sample.cycles for sample in samples]
                found = bool(cycles) and cycles[-1] <= NEAR * each.track.target
                trials[name][strategy].append(len(cycles) if found else most + 1)
                best[name] = min([best[name], *cycles])
    return tuple(
        RaceLine(
            workload=each.track.name,
            target=each.track.target,
            compiler=each.own_cycles,
            plans=each.track.space.size,
            trials=trials[each.track.name],
            best=best[each.track.name],
            tuned=tuned_cycles(each.track),
        )
        for each in runs
    )


def tuned_cycles(track: Racetrack, most: int = TUNED, looks: int = LOOKS) -> int:
    """The cycles that so many runs of a learned search reach from the compiler's plan.

    Before each, so many plans are looked at.
    """
    runs = Runs(track, withhold=False)
    sampler = LearnedSampler(track.space, runs.look, Linear(), start=runs.near_own, looks=looks)
    cycles = [sample.cycles for sample in race(runs, sampler, most, goal=0)]
    return min([runs.own_cycles, *cycles])


def race(runs: Runs, sampler: _Sampler, most: int, goal: float | None = None) -> list[Sample]:
    """The runs of a search, up to the first of `goal` cycles; None: within 1 % of the target."""
    enough = NEAR * runs.track.target if goal is None else goal
    found: list[Sample] = []
    known: set[tuple[Choice, ...]] = set()
    for number in range(_ASKED * most):
        chosen = sampler.ask(number)
        try:
            seen = runs.look(chosen)
        except PlanError as error:
            sampler.tell(chosen, Found(None, str(error)))
            continue
        cycles = runs.cycles(chosen)
        sampler.tell(chosen, Found(cycles, seen=seen))
        if (key := tuple(chosen.values())) in known:
            continue
        known.add(key)
        found.append(Sample(seen, cycles))
        if cycles <= enough or len(found) == most:
            break
    return found


def _sampler(strategy: str, runs: Runs, known: Sequence[Sample], seed: int) -> _Sampler:
    space = runs.track.space
    match strategy:
        case "learned":
            return LearnedSampler(space, runs.look, Linear(), known, seed=seed)
        case "timeline":
            return LearnedSampler(space, runs.look, TimelineAlone(), seed=seed)
        case _:
            samplers = import_extra("celosia.lab.tune.samplers", "tune")
            return samplers.StudySampler(strategy, space.choices, seed)
