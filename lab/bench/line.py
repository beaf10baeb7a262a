"""What all benchmarks are made of: parts that are right or not, and runs with a bound."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar

from celosia.isa.documents.record import Hidden, Inline, Key, Named, Rule
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Report
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.workloads.details import Details, given
from celosia.sw.driver.device import Issue

__all__ = ["BenchCase", "BenchLine", "Cases", "Lines", "Part", "run_cases", "words_of"]


class Part(Protocol):
    """What a benchmark leaves, or a line of it."""

    @property
    def right(self) -> bool:
        """Every result was right, and no number below its bound."""
        ...


_LineT_co = TypeVar("_LineT_co", bound=Part, covariant=True)


@dataclass(frozen=True)
class Lines(Generic[_LineT_co]):
    """A benchmark that is as right as each of its lines."""

    lines: tuple[_LineT_co, ...]

    @property
    def right(self) -> bool:
        """Whether all lines are."""
        return all(line.right for line in self.lines)


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "shape": lambda given: given["shape"],
    "transpose_b": lambda _: "B^T",
    "out_type": lambda given: f"to {given['out_type']}",
    "model": lambda given: given["model"],
    "heads": lambda given: f"{counted(given['heads'], 'head')} of {given['dim']}",
    "context": lambda given: _context(given["context"]),
    "rows": lambda given: f"rows={given['rows']}",
    "layers": lambda given: counted(given["layers"], "layer"),
    "weights": lambda given: given["weights"],
    "seq": lambda given: f"l={given['seq']}",
    "causal": lambda _: "causal",
    "window": lambda given: f"window={given['window']}",
}
"""How options are called in the name of a run, in this order."""


def _context(context: str) -> str:
    texts = [int(each) for each in context.split(",")]
    if len(texts) == 1:
        return f"context={context}"
    return f"context={min(texts)}-{max(texts)} of {len(texts)} texts"


def words_of(workload: str, details: Details | None) -> str:
    """A workload with its options in words."""
    values = given(details) if details else {}
    return " ".join([
        workload,
        *(words(values) for name, words in _WORDS.items() if name in values),
    ])


@dataclass(frozen=True, kw_only=True)
class BenchCase:
    """A workload on RTL, with the least share of a limit that must be reached."""

    workload: Hidden[str]
    details: Hidden[Details]
    bound: Annotated[float, Rule(minimum=0)]
    """The least share of the limit that is accepted."""
    of: Literal["array", "memory"] = "array"
    """The limit is that of the array, all of whose products are useful, or of memory, which sends
    weights and caches, or the least bytes of a product."""
    preset: Hidden[str] = "base"
    timing: Hidden[MemoryTiming] = field(default_factory=MemoryTiming)
    lanes: Hidden[int | None] = None
    """Lanes of the normalization unit; None: those of the preset."""
    gemmini: Annotated[float | None, Rule(minimum=0)] = None
    """What Gemmini's RTL reaches on the same memory, in the unit of `bound`."""
    least_cycles: Hidden[int | None] = None
    """The least cycles of a product that memory bounds: its bytes over the bandwidth."""

    @Key
    def name(self) -> str:
        """The case in words, for people and for the baseline."""
        usual = MemoryTiming()
        parts = [words_of(self.workload, self.details)]
        parts += [] if self.lanes is None else [f"{self.lanes} lanes"]
        parts += [] if self.preset == "base" else [self.preset]
        if self.timing.latency != usual.latency:
            parts += [f"latency {self.timing.latency}"]
        if self.timing.bytes_per_cycle != usual.bytes_per_cycle:
            parts += [f"{self.timing.bytes_per_cycle} B/cycle"]
        return " ".join(parts)

    def options(self, issue: Issue = "stream", overrides: tuple[str, ...] = ()) -> RunOptions:
        """The options of the run that measures the case."""
        if self.lanes is not None:
            overrides = (f"vector_lanes={self.lanes}", *overrides)
        return RunOptions(
            workload=self.workload,
            details=self.details,
            target=Target(preset=self.preset, overrides=overrides, timing=self.timing, issue=issue),
        )


@dataclass(frozen=True)
class BenchLine:
    """A case and its run."""

    case: Inline[BenchCase]
    report: Annotated[Report, Named("run")]
    """The whole report of the run."""

    @Key
    def reached(self) -> Annotated[float | None, Rule(minimum=0)]:
        """What `bound` bounds; null if the run was stopped.

        MAC utilization; of work that memory bounds, its limit in cycles over its cycles.
        """
        total = self.report.total
        if self.least_cycles is not None:
            return self.least_cycles / total.cycles if total.cycles else None
        if self.case.of == "memory":
            return self.report.memory_limit_share
        return total.utilization(self.report.setting.config)

    @Key
    def limit(self) -> Annotated[float | None, Rule(minimum=0)]:
        """What is possible, in the same unit; null: nothing says it."""
        total = self.report.total
        if self.case.of == "array":
            return total.limit_utilization(self.report.setting.config)
        if self.least_cycles is None or total.limit is None:
            return None
        return self.least_cycles / (total.limit.cycles + self._command_cycles)

    @property
    def least_cycles(self) -> float | None:
        """`BenchCase.least_cycles`; a ring's commands share the bandwidth."""
        least = self.case.least_cycles
        return None if least is None else least + self._command_cycles

    @property
    def _command_cycles(self) -> float:
        setting = self.report.setting
        if setting.issue != "ring":
            return 0
        return (self.report.total.program_bytes or 0) / setting.timing.bytes_per_cycle

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.reached is not None and self.reached >= self.case.bound

    @Key
    def right(self) -> bool:
        """Every element is right, and the bound is kept."""
        return self.report.right and self.kept


@dataclass(frozen=True)
class Cases(Lines[BenchLine]):
    """A benchmark whose cycles are in the committed baseline."""


def run_cases(
    cases: Iterable[BenchCase],
    tell: Progress,
    issue: Issue = "stream",
    runner: Runner = run_workload,
) -> Cases:
    """Measure `cases`, one after the other."""
    cases = tuple(cases)
    steps, lines = Steps(tell, len(cases)), []
    for case in cases:
        steps.begin(case.name)
        lines.append(BenchLine(case, runner(case.options(issue), steps).report))
    return Cases(tuple(lines))
