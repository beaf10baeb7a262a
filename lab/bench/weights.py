"""A step of GPT-2 small with weights of four bits: cycles over those of int8."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from celosia.isa.documents.record import Key, Rule
from celosia.isa.memory import MemoryTiming
from celosia.lab.bench.line import BenchCase, BenchLine, Lines, run_cases
from celosia.sim.run.outcome import Runner
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Decoder
from celosia.sw.driver.device import Issue

__all__ = ["WeightsLine", "run_weights"]

_SIXTEEN: Final = 0.50
"""The share of the limit at 16 bytes per cycle: a tile of int4 moves into the array no sooner than
one of int8, which has twice its bytes, unless lines enter in pairs."""

_WANTED: Final = (
    ("base", 8, None, 0.96, 1.0),
    ("base", 8, "int4", 0.955, 1.45),
    ("base", 8, "int4-vocabulary", 0.955, 1.90),
    ("base", 16, None, 0.95, 1.0),
    ("base", 16, "int4", _SIXTEEN, 1.0),
    ("base", 16, "int4-vocabulary", _SIXTEEN, 1.0),
    ("base-int4", 16, "int4-vocabulary", 0.905, 1.80),
)
"""Presets, bytes per cycle of memory, weights, and the least shares of the limit and factors of
cycles; the first case of each memory has int8."""


@dataclass(frozen=True, kw_only=True)
class WeightsLine:
    """A step with weights of some type, beside that with int8."""

    step: BenchLine
    """The step, and its share of the memory's limit: of the bytes of its own weights."""
    fewer: Annotated[float | None, Rule(minimum=0)]
    """Cycles with int8 over its own; null if one of the two was stopped."""
    least: Annotated[float, Rule(minimum=0)]
    """The least of `fewer` that is accepted."""

    @property
    def weights(self) -> str:
        """The type, as `--weights` calls it."""
        details = self.step.case.details
        assert isinstance(details, Decoder)
        return details.weights or "int8"

    @property
    def gained(self) -> bool:
        """Whether `least` is kept."""
        return self.fewer is not None and self.fewer >= self.least

    @Key
    def right(self) -> bool:
        """Every element is right, and both bounds are kept."""
        return self.step.right and self.gained


def run_weights(
    tell: Progress, issue: Issue = "stream", runner: Runner = run_workload
) -> Lines[WeightsLine]:
    """Measure the steps, all layers and the vocabulary, at 8 and at 16 bytes per cycle."""
    cases = [
        BenchCase(
            workload="decoder",
            details=Decoder(model="gpt2-small", context="128", rows=1, weights=weights),
            bound=bound,
            of="memory",
            preset=preset,
            timing=MemoryTiming(bytes_per_cycle=bytes_per_cycle),
        )
        for preset, bytes_per_cycle, weights, bound, _ in _WANTED
    ]
    return _beside_int8(run_cases(cases, tell, issue, runner).lines)


def _beside_int8(lines: Sequence[BenchLine]) -> Lines[WeightsLine]:
    found: list[WeightsLine] = []
    eight: int | None = None
    for line, (_, _, weights, _, least) in zip(lines, _WANTED, strict=True):
        cycles = line.report.total.cycles
        eight = cycles if weights is None else eight
        fewer = eight / cycles if eight and cycles else None
        found.append(WeightsLine(step=line, fewer=fewer, least=least))
    return Lines(tuple(found))
