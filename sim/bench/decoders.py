"""The benchmarks of decoders: how near a step is to what memory sends at most."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celosia.isa.memory import MemoryTiming
from celosia.sim.run.report import Report
from celosia.sim.run.run import Runner, RunOptions, run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sw.driver.device import Issue

__all__ = ["DECODERS", "PEERS", "STEPS", "Decoder", "DecoderLine", "run_decoders"]

DECODERS: Final = "decoders"
"""The name of the benchmark."""
PEERS: Final = "85 % of the limit on an FPGA (Li et al., arXiv 2502.10659)"
"""What others have published of the same share."""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A step on preset `base`, with the share of the memory's limit that must be reached."""

    model: str
    context: int
    bound: float
    rows: int = 1
    layers: int | None = None
    timing: MemoryTiming = field(default_factory=MemoryTiming)

    @property
    def name(self) -> str:
        """The step in words, for people and for the baseline."""
        usual = MemoryTiming()
        parts = [f"decoder {self.model}", f"context={self.context}", f"rows={self.rows}"]
        parts += [] if self.layers is None else [f"{self.layers} layers"]
        if self.timing.latency != usual.latency:
            parts += [f"latency {self.timing.latency}"]
        if self.timing.bytes_per_cycle != usual.bytes_per_cycle:
            parts += [f"{self.timing.bytes_per_cycle} B/cycle"]
        return " ".join(parts)

    def options(self, issue: Issue = "stream") -> RunOptions:
        """The options of the run that measures the step."""
        return RunOptions(
            issue=issue,
            workload="decoder",
            preset="base",
            simulator="verilator",
            timing=self.timing,
            details=WorkloadOptions(
                model=self.model, context=self.context, rows=self.rows, layers=self.layers
            ),
        )


STEPS: Final = (
    Decoder(model="gpt2-small", context=128, bound=0.95),
    Decoder(model="gpt2-small", context=1024, bound=0.95),
    Decoder(model="gpt2-small", context=128, bound=0.94, timing=MemoryTiming(latency=100)),
    Decoder(model="gpt2-small", context=128, bound=0.96, timing=MemoryTiming(bytes_per_cycle=8)),
    Decoder(model="opt-125m", context=128, bound=0.95),
    Decoder(model="tinyllama", context=128, bound=0.93, layers=4),
)


@dataclass(frozen=True)
class DecoderLine:
    """A step and its run."""

    decoder: Decoder
    report: Report

    @property
    def reached(self) -> float | None:
        """The share of the memory's limit; None if the run was stopped."""
        return self.report.memory_limit_share

    @property
    def right(self) -> bool:
        """Every element is right, and the bound is kept."""
        return self.report.right and self.reached is not None and self.reached >= self.decoder.bound

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "name": self.decoder.name,
            "bound": self.decoder.bound,
            "reached": self.reached,
            "right": self.right,
            "run": self.report.document(),
        }


def run_decoders(
    tell: Progress,
    runner: Runner = run_workload,
    decoders: Sequence[Decoder] = STEPS,
    issue: Issue = "stream",
) -> tuple[DecoderLine, ...]:
    """Measure `decoders`, one after the other."""
    steps = Steps(tell, len(decoders))
    lines = []
    for decoder in decoders:
        steps.begin(decoder.name)
        lines.append(DecoderLine(decoder, runner(decoder.options(issue), steps).report))
    return tuple(lines)
