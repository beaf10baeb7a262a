"""The benchmark of advice: what a report says would help is done, and compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from celosia.isa.documents.record import Added, Hidden, Key
from celosia.isa.memory import MemoryTiming
from celosia.lab.bench.line import Lines, words_of
from celosia.sim.profile.whatif import (
    FOLLOWED,
    WORTH,
    Change,
    Followed,
    asked_changes,
    what_if,
)
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.outcome import Runner
from celosia.sim.run.workload.advice import follow, run_advised
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.workloads import details_for

__all__ = ["RUNS", "AdviceLine", "AdviceLines", "Trial", "followed", "run_advice"]

WITHIN: Final = 1 / 3
"""How far what was saved may be from what was said, as a share of what was saved."""
NOTHING: Final = WORTH / (1 - WITHIN)
"""The share of its cycles that no change may save in a run for which nothing is said to help."""


def _run(
    workload: str, preset: str, latency: int = 40, rate: int = 16, **details: Any
) -> RunOptions:
    """A run whose report says what would help."""
    return RunOptions(
        workload=workload,
        details=details_for(workload, details),
        target=Target(preset=preset, timing=MemoryTiming(latency=latency, bytes_per_cycle=rate)),
        watching=Watching(advice=True),
    )


RUNS: Final = (
    _run("matmul", "tiny", shape="16x16x32"),
    _run("matmul", "tiny", shape="1x64x64"),
    _run("matmul", "tiny", 200, shape="24x24x24"),
    _run("matmul", "tiny", 40, 2, shape="20x30x18"),
    _run("matmul", "tiny", shape="24x20x28", transpose_b=True),
    _run("matmul", "tiny", 10, 4, shape="33x7x50"),
    _run("matmul", "tiny", 1, shape="40x36x40"),
    _run("softmax", "tiny", shape="16x48"),
    _run("softmax", "tiny", 100, 4, shape="9x30", out_type="int16"),
    _run("layernorm", "tiny", shape="12x48"),
    _run("gelu", "tiny", shape="20x40"),
    _run("residual", "tiny", 40, 2, shape="20x40"),
    _run("attention", "tiny", heads=2, seq=20, dim=8),
    _run("attention", "tiny", 150, heads=2, seq=20, dim=8),
    _run("matmul", "base", shape="64x64x64"),
    _run("matmul", "base", 40, 8, shape="128x128x128"),
    _run("matmul", "base", 200, shape="64x256x128"),
    _run("softmax", "base", 40, 4, shape="64x128"),
    _run("attention", "base", 100, 8, heads=4, seq=64, dim=64),
    _run("encoder-layer", "base", 40, 8, model="minilm", seq=32),
)
"""The runs whose first advice is followed."""


@dataclass(frozen=True)
class Trial:
    """A change, and the cycles of the run with it."""

    change: Hidden[Change]
    cycles: Hidden[int | None]
    right: bool
    """Whether all results with the change are right."""
    before: Hidden[int | None]
    """The cycles of the run without it."""

    @Key
    def what(self) -> str:
        """What was changed."""
        return self.change.what

    @Key
    def options(self) -> tuple[str, ...]:
        """Options of `celosia run`: everything that was changed."""
        return self.change.options

    @Key
    def measured(self) -> Added[bool]:
        """`predicted` was measured when the run was made."""
        return self.change.measured

    @Key
    def predicted(self) -> int:
        """Cycles to be saved."""
        return self.change.saved

    @Key
    def saved(self) -> int:
        """Cycles that were saved."""
        return (self.before or 0) - (self.cycles or 0)


@dataclass(frozen=True)
class AdviceLine:
    """A run, and what became of it with its first advice.

    If nothing was said to help, each change was tried that the model was asked about.
    """

    name: str
    """The run."""
    cycles: int | None
    """Its cycles; null: it was stopped."""
    trials: tuple[Trial, ...]
    """What was tried."""
    helps: bool
    """Something was said to help: there is one trial."""

    @Key
    def error(self) -> float | None:
        """How far the advice was from what it saved, as a share of that.

        Null: there was none, or it saved nothing.
        """
        if not self.helps:
            return None
        (trial,) = self.trials
        return trial.change.saved / trial.saved - 1 if trial.saved > 0 else None

    @Key
    def right(self) -> bool:
        """Direction and size of the advice held, or nothing helped indeed."""
        if not self.cycles or not all(trial.right and trial.cycles for trial in self.trials):
            return False
        if self.helps:
            return self.error is not None and abs(self.error) <= WITHIN
        return all(trial.saved < NOTHING * self.cycles for trial in self.trials)


def followed(lines: Sequence[AdviceLine]) -> Followed | None:
    """How wrong the advice of `lines` was that had not been measured; None: there was none."""
    errors = [
        abs(line.error)
        for line in lines
        if line.error is not None and not line.trials[0].change.measured
    ]
    return Followed(len(errors), fmean(errors), max(errors)) if errors else None


@dataclass(frozen=True)
class AdviceLines(Lines[AdviceLine]):
    """All runs."""

    @property
    def right(self) -> bool:
        """All advice held, and it was no more wrong than reports say of it."""
        found = followed(self.lines)
        return super().right and (
            found is None or (found.mean <= FOLLOWED.mean and found.worst <= FOLLOWED.worst)
        )


def run_advice(
    tell: Progress, runner: Runner = run_workload, runs: Sequence[RunOptions] = RUNS
) -> AdviceLines:
    """Follow the first advice about each run; try everything if there is none."""
    steps = Steps(tell, len(runs))
    return AdviceLines(tuple(_line(options, steps, runner) for options in runs))


def _line(options: RunOptions, steps: Steps, runner: Runner) -> AdviceLine:
    steps.begin(_name(options))
    document = run_advised(options, steps, runner).report.document()
    helps = what_if(document)
    # Where the model may be wrong about the run itself, nothing is said, and nothing tried.
    tried = helps[:1] if helps else [] if helps is None else asked_changes(document)
    trials = []
    for change in tried:
        steps(change.what, None)
        total = runner(follow(options, change), steps).report.total
        trials.append(Trial(change, total.cycles, total.right, document["cycles"]))
    return AdviceLine(_name(options), document["cycles"], tuple(trials), bool(helps))


def _name(options: RunOptions) -> str:
    timing = options.target.timing
    memory = f"latency {timing.latency}, {timing.bytes_per_cycle} B/cycle"
    return f"{words_of(options.workload, options.details)} on {options.target.preset}, {memory}"
