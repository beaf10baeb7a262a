"""The benchmarks of attention, layers and encoders, with everything between their products."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Report
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.workloads import details as works
from celosia.sw.driver.device import Issue

__all__ = ["ENCODERS", "Encoder", "EncoderLine", "run_encoders"]


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """A workload with the MAC utilization that must be reached."""

    workload: str
    details: works.Details
    bound: float
    preset: str = "base"
    timing: MemoryTiming = field(default_factory=MemoryTiming)
    lanes: int | None = None
    """Lanes of the normalization unit; None: those of the preset."""
    gemmini: float | None = None
    """What Gemmini's RTL reaches on the same memory model, residual additions left out."""

    @property
    def name(self) -> str:
        """The encoder in words, for people and for the baseline."""
        given, usual = works.given(self.details), MemoryTiming()
        parts = [self.workload, *([given["model"]] if "model" in given else [])]
        if "heads" in given:
            parts += [f"{counted(given['heads'], 'head')} of {given['dim']}"]
        parts += [counted(given["layers"], "layer")] if "layers" in given else []
        parts += [f"l={given['seq']}", *["causal"] * given.get("causal", False)]
        parts += [] if self.lanes is None else [f"{self.lanes} lanes"]
        parts += [] if self.preset == "base" else [self.preset]
        if self.timing.latency != usual.latency:
            parts += [f"latency {self.timing.latency}"]
        if self.timing.bytes_per_cycle != usual.bytes_per_cycle:
            parts += [f"{self.timing.bytes_per_cycle} B/cycle"]
        return " ".join(parts)

    def options(self, issue: Issue = "stream") -> RunOptions:
        """The options of the run that measures the encoder."""
        return RunOptions(
            workload=self.workload,
            details=self.details,
            target=Target(
                preset=self.preset,
                overrides=() if self.lanes is None else (f"vector_lanes={self.lanes}",),
                timing=self.timing,
                issue=issue,
            ),
        )


def _layer(
    model: str,
    seq: int,
    bound: float,
    *,
    preset: str = "base",
    gemmini: float | None = None,
    latency: int = MemoryTiming.latency,
    bytes_per_cycle: int = MemoryTiming.bytes_per_cycle,
) -> Encoder:
    return Encoder(
        workload="encoder-layer",
        details=works.EncoderLayer(model=model, seq=seq),
        bound=bound,
        preset=preset,
        timing=MemoryTiming(latency=latency, bytes_per_cycle=bytes_per_cycle),
        gemmini=gemmini,
    )


ENCODERS: Final = (
    Encoder(workload="attention", details=works.Attention(heads=12, seq=512, dim=64), bound=0.985),
    _layer("minilm", 128, 0.985, gemmini=0.825),
    _layer("bert-base", 128, 0.993, gemmini=0.869),
    _layer("bert-base", 512, 0.996, gemmini=0.894),
    Encoder(
        workload="encoder",
        details=works.Encoder(model="bert-base", layers=4, seq=128),
        bound=0.993,
    ),
    _layer("minilm", 128, 0.975, preset="rebalanced"),
    _layer("bert-base", 128, 0.98, preset="rebalanced"),
    _layer("bert-base", 512, 0.98, preset="rebalanced"),
    _layer("minilm", 128, 0.975, latency=100),
    _layer("bert-base", 128, 0.98, latency=100),
    _layer("bert-base", 128, 0.95, bytes_per_cycle=8),
    *(
        Encoder(
            workload="attention",
            details=works.Attention(heads=heads, seq=2048, dim=64, causal=causal),
            lanes=lanes,
            bound=0.98,
        )
        for lanes in (None, 16)
        for heads in (1, 12)
        for causal in (False, True)
    ),
)
"""Gemmini's figures were measured on its generated RTL, with 64 and 256 KiB of local memory.

Scores of rows of 2,048 keys wait in memory.
"""


@dataclass(frozen=True)
class EncoderLine:
    """A workload and its run."""

    encoder: Encoder
    report: Report

    @property
    def reached(self) -> float | None:
        """MAC utilization; None if the run was stopped."""
        return self.report.total.utilization(self.report.setting.config)

    @property
    def right(self) -> bool:
        """Every element is right, and the bound is kept."""
        return self.report.right and self.reached is not None and self.reached >= self.encoder.bound

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "name": self.encoder.name,
            "bound": self.encoder.bound,
            "reached": self.reached,
            "gemmini": self.encoder.gemmini,
            "right": self.right,
            "run": self.report.document(),
        }


def run_encoders(
    tell: Progress,
    runner: Runner = run_workload,
    encoders: Sequence[Encoder] = ENCODERS,
    issue: Issue = "stream",
) -> tuple[EncoderLine, ...]:
    """Measure `encoders`, one after the other."""
    steps = Steps(tell, len(encoders))
    lines = []
    for encoder in encoders:
        steps.begin(encoder.name)
        lines.append(EncoderLine(encoder, runner(encoder.options(issue), steps).report))
    return tuple(lines)
