"""Some plans of a sample on the RTL: how far the model is off, and whether it keeps their order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.documents.record import Hidden, Key
from celosia.lab.mappings.sample import Drawn, Request
from celosia.lab.mappings.statistics import rank_correlation
from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.trial import SIMULATORS, Trial, try_plan
from celosia.sim.devices.devices import open_device
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.support.workers import Lane, Lost, run_on

__all__ = ["MOST_CYCLES", "MeasuredPlan", "MeasuredPlans", "measure_picks", "measured_lines"]

MOST_CYCLES: Final = 40_000_000
"""Plans that are expected to take longer are not run on the RTL."""


@dataclass(frozen=True)
class MeasuredPlan:
    """A plan that ran on the RTL."""

    chosen: Mapping[str, Choice]
    """The plan."""
    predicted: float
    """Cycles that were expected."""
    cycles: int
    """Cycles of the RTL."""


@dataclass(frozen=True)
class MeasuredPlans:
    """Plans that ran on the RTL, every result compared."""

    chosen: Hidden[Sequence[Mapping[str, Choice]]]
    predicted: Hidden[Sequence[float]]
    cycles: Hidden[Sequence[int]]

    @Key
    def plans(self) -> list[MeasuredPlan]:
        """Each plan."""
        return list(map(MeasuredPlan, self.chosen, self.predicted, self.cycles))

    @Key
    def rank_correlation(self) -> float:
        """Whether the order that is expected is that of the RTL."""
        return self.order()

    @Key
    def rank_correlation_up_to_twice_the_best(self) -> float:
        """The same of plans that take up to twice the fewest cycles."""
        return self.order(2)

    @Key
    def mean_error(self) -> float:
        """The mean of how far predictions are off, as a share of the cycles."""
        pairs = zip(self.predicted, self.cycles, strict=True)
        return sum(abs(ours / theirs - 1) for ours, theirs in pairs) / len(self.cycles)

    def order(self, within: float = float("inf")) -> float:
        """The rank correlation of plans that take up to `within` times the fewest cycles."""
        least = min(self.cycles)
        pairs = [
            pair
            for pair in zip(self.predicted, self.cycles, strict=True)
            if pair[1] <= within * least
        ]
        return rank_correlation(*zip(*pairs, strict=True))


def measure_picks(
    request: Request,
    drawn: Drawn,
    picks: Sequence[int],
    tell: Progress,
    lanes: Sequence[Lane] | None = None,
) -> MeasuredPlans:
    """Run the plans of these numbers, on `lanes` or, without any, in this process.

    Raises `InputError` if one ends its workers.
    """
    # Built once, before workers ask.
    open_device("verilator", request.config, request.options.target.timing, progress=tell).close()
    trials = [
        Trial(
            options=request.options,
            config=request.config,
            oracle="rtl",
            strategy=request.sampler.value,
            number=number,
            graph=request.graph,
            chosen=drawn.chosen[number],
        )
        for number in picks
    ]
    cycles: dict[int, int] = {}
    here = ((trial, try_plan(trial)) for trial in trials)
    for trial, found in here if lanes is None else run_on(lanes, try_plan, trials, SIMULATORS):
        if isinstance(found, Lost) or found.cycles is None:
            raise InputError(f"plan {trial.number}, {dict(trial.chosen)}: its workers have died")
        cycles[trial.number] = found.cycles
        tell(f"{len(cycles)} of {counted(len(picks), 'plan')} on the RTL", len(cycles) / len(picks))
    return MeasuredPlans(
        chosen=[drawn.chosen[number] for number in picks],
        predicted=[float(drawn.values[number, 0]) for number in picks],
        cycles=[cycles[number] for number in picks],
    )


def measured_lines(measured: MeasuredPlans) -> Iterator[str]:
    """What was measured, in words."""
    yield (
        f"{counted(len(measured.cycles), 'plan')} on the RTL, {min(measured.cycles):,} to "
        f"{max(measured.cycles):,} cycles: predictions are off by {measured.mean_error:.2%} on "
        f"average; rank correlation {measured.order():.3f}, of plans up to twice the best "
        f"{measured.order(2):.3f}"
    )
