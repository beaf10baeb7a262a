"""What was measured, against the bounds and the committed baseline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

from celosia.isa.config import did_you_mean
from celosia.lab.bench.baseline import Key, load_baseline, regressed
from celosia.lab.bench.benches import BENCHES, Asked
from celosia.lab.bench.line import Cases, Part
from celosia.sim.run.report import commit, versions
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = ["BENCH_SCHEMA", "Bench", "baseline_path", "run_bench"]

BENCH_SCHEMA: Final = "celosia.bench/2"


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What was measured."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    """What each benchmark has left, by its name."""
    baseline: Mapping[Key, int] = field(default_factory=dict)
    """Cycles of the committed baseline, by their keys."""
    command_line: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """No result is wrong, no number below its bound, and none worse than the baseline."""
        return all(part.right for part in self.parts.values()) and not any(self.regressions)

    @property
    def cycles(self) -> Iterator[tuple[Key, int]]:
        """What was measured, for a baseline."""
        for part in self.parts.values():
            for line in part.lines if isinstance(part, Cases) else ():
                report = line.report
                if report.right and report.total.cycles is not None:
                    yield (line.case.name, report.setting.issue), report.total.cycles

    @property
    def regressions(self) -> Iterator[str]:
        """What takes longer than the baseline allows, in words."""
        for key, cycles in self.cycles:
            known = self.baseline.get(key)
            if known is not None and regressed(cycles, known):
                name, issue = key
                yield f"{name} ({issue}): {cycles:,} cycles, {known:,} in the baseline"

    def document(self) -> dict[str, Any]:
        """The whole benchmark as an object for JSON."""
        measured = {
            each.key or name: part.document() if (part := self.parts.get(name)) else None
            for name, each in BENCHES.items()
        }
        return {
            "schema": BENCH_SCHEMA,
            "right": self.right,
            **measured,
            "regressions": list(self.regressions),
            "versions": versions(),
            "commit": commit(),
            "command_line": list(self.command_line),
        }

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
        parts=parts, baseline=load_baseline(baseline_path()), command_line=tuple(command_line)
    )
