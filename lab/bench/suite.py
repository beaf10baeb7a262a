"""What was measured, against the bounds and the committed baseline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.console import Console
from rich.markup import escape

from celosia.isa.config import did_you_mean
from celosia.isa.documents.record import Added, As, Hidden, Inline, Key, Named, Record
from celosia.lab.accuracy.cost import CostSet
from celosia.lab.bench.advice import AdviceLine
from celosia.lab.bench.baseline import CaseKey, load_baseline, regressed
from celosia.lab.bench.benches import BENCHES, Asked
from celosia.lab.bench.line import BenchLine, Cases, Lines, Part
from celosia.lab.bench.silicon import SiliconLine
from celosia.lab.bench.speed import Speed
from celosia.lab.bench.trace import TraceLine
from celosia.lab.bench.weights import WeightsLine
from celosia.lab.compilers.nonlinear import Nonlinear
from celosia.lab.compilers.passes import ModelPasses
from celosia.lab.compilers.row import Row
from celosia.lab.tune.race.race import RaceLine
from celosia.sim.run.origin import Origin
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = ["Bench", "baseline_path", "run_bench"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What each benchmark has left; null if it was not asked for."""

    products: Sequence[BenchLine] | None = None
    """Matrix products."""
    encoders: Sequence[BenchLine] | None = None
    """Attention, layers and encoders."""
    decoders: Sequence[BenchLine] | None = None
    """Steps of decoders, and a layer of a prefill."""
    cost: Sequence[CostSet] | None = None
    """What the cost model predicts of commands that stream, beside what was measured."""
    nonlinear: Nonlinear | None = None
    """A layer in several modes."""
    trace: Sequence[TraceLine] | None = None
    """What it costs to follow each instruction."""
    advice: Sequence[AdviceLine] | None = None
    """First advice that was followed, or all changes where there was none."""
    silicon: Sequence[SiliconLine] | None = None
    """Preset base with other numbers of lanes in its normalization unit, and with scales of other
    lengths."""
    weights: Added[Sequence[WeightsLine] | None] = None
    """A step of GPT-2 small with weights of four bits, beside int8."""
    compilers: Annotated[Added[Sequence[Row] | None], Named("rows")] = None
    """An idea of each compiler that the survey names, and what it gains in cycles of the RTL."""
    passes: Added[Sequence[ModelPasses] | None] = None
    """Models without each pass from their file to a recognized graph."""
    tuning: Added[Sequence[RaceLine] | None] = None
    """Searches for plans, and how many runs on the RTL each takes to the best that is known."""
    speed: Speed | None = None
    """The speed of simulation."""


def _shown(parts: Mapping[str, Any]) -> Measured:
    lines = {name: part.lines for name, part in parts.items() if isinstance(part, Lines)}
    return Measured(**{**parts, **lines})


@dataclass(frozen=True, kw_only=True)
class Bench(Record):
    """What was measured."""

    schema: Literal["celosia.bench/2"] = "celosia.bench/2"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    parts: Inline[Annotated[Mapping[str, Part], As(_shown)]] = field(default_factory=dict)
    """What each benchmark has left, by its name."""
    baseline: Hidden[Mapping[CaseKey, int]] = field(default_factory=dict)
    """Cycles of the committed baseline, by their keys."""
    origin: Inline[Origin] = field(default_factory=Origin)

    @Key
    def right(self) -> bool:
        """No result is wrong, no number below its bound, and none worse than the baseline."""
        return all(part.right for part in self.parts.values()) and not any(self.regressions)

    @property
    def cycles(self) -> Iterator[tuple[CaseKey, int]]:
        """What was measured, for a baseline."""
        for part in self.parts.values():
            for line in part.lines if isinstance(part, Cases) else ():
                report = line.report
                if report.right and report.total.cycles is not None:
                    yield (line.case.name, report.setting.issue), report.total.cycles

    @Key
    def regressions(self) -> Iterator[str]:
        """What takes longer than the baseline allows, in words."""
        for key, cycles in self.cycles:
            known = self.baseline.get(key)
            if known is not None and regressed(cycles, known):
                name, issue = key
                yield f"{name} ({issue}): {cycles:,} cycles, {known:,} in the baseline"

    def show(self, console: Console) -> None:
        """Print every table that was measured."""
        for name, part in self.parts.items():
            for table in BENCHES[name].show(part):
                console.print(table)
        for regression in self.regressions:
            console.print(f"[red]slower than the baseline:[/] {escape(regression)}")


def baseline_path() -> Path:
    """The committed baseline.  Raises `InputError` outside of a checkout."""
    return checkout_root() / "benchmarks" / "baseline.jsonl"


def run_bench(
    names: Sequence[str],
    tell: Progress,
    command_line: Sequence[str] = (),
    asked: Asked | None = None,
) -> Bench:
    """Measure the benchmarks called `names`, or all that need not be asked for.

    Raises `InputError` for a name that is none, and what stops a benchmark before it begins.
    """
    for name in names:
        if name not in BENCHES:
            near = did_you_mean(name, BENCHES)
            raise InputError(
                f"there is no benchmark {name!r}; there are {', '.join(BENCHES)}{near}"
            )
    asked = asked or Asked()
    names = names or [name for name, each in BENCHES.items() if not each.on_request]
    if asked.issue == "ring":
        if list(names) == ["cost"]:
            raise InputError("bench cost: predictions are for commands that stream")
        names = [name for name in names if name != "cost"]
    for name in names:
        BENCHES[name].ready()
    parts: dict[str, Part] = {}
    for name in names:
        parts[name] = BENCHES[name].run(replace(asked, measured=parts), tell)
    return Bench(
        parts=parts,
        baseline=load_baseline(baseline_path()),
        origin=Origin(command_line=tuple(command_line)),
    )
