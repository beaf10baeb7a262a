"""The benchmarks of decoders: how near steps and a prefill are to what is possible at most."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

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

__all__ = ["DECODERS", "PEERS", "STEPS", "Decoder", "DecoderLine", "run_decoders"]

DECODERS: Final = "decoders"
"""The name of the benchmark."""
PEERS: Final = "85 % of the limit on an FPGA (Li et al., arXiv 2502.10659)"
"""What others have published of the same share."""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A step on preset `base`, with the share of a limit that must be reached."""

    model: str
    of: Literal["memory", "array"] = "memory"
    """The limit is that of memory, which sends weights and caches, or of the array, which makes the
    products of a layer alone, without those above the diagonal."""
    contexts: tuple[int, ...]
    """Tokens before the step, of each of its texts."""
    bound: float
    rows: int = 1
    layers: int | None = None
    timing: MemoryTiming = field(default_factory=MemoryTiming)

    @property
    def name(self) -> str:
        """The step in words, for people and for the baseline."""
        usual = MemoryTiming()
        context = str(self.contexts[0])
        if len(self.contexts) > 1:
            context = f"{min(self.contexts)}-{max(self.contexts)} of {len(self.contexts)} texts"
        parts = [f"{self.workload} {self.model}", f"context={context}", f"rows={self.rows}"]
        parts += [] if self.layers is None else [counted(self.layers, "layer")]
        if self.timing.latency != usual.latency:
            parts += [f"latency {self.timing.latency}"]
        if self.timing.bytes_per_cycle != usual.bytes_per_cycle:
            parts += [f"{self.timing.bytes_per_cycle} B/cycle"]
        return " ".join(parts)

    @property
    def workload(self) -> str:
        """The name of the workload."""
        return "decoder" if self.of == "memory" else "decoder-layer"

    def options(self, issue: Issue = "stream") -> RunOptions:
        """The options of the run that measures the step."""
        return RunOptions(
            workload=self.workload,
            details=self._details(),
            target=Target(preset="base", timing=self.timing, issue=issue),
        )

    def _details(self) -> works.Details:
        contexts = ",".join(map(str, self.contexts))
        if self.of == "array":
            return works.DecoderLayer(model=self.model, context=contexts, rows=self.rows)
        return works.Decoder(model=self.model, context=contexts, rows=self.rows, layers=self.layers)


_GPT2: Final = "gpt2-small"
_SLOW: Final = MemoryTiming(latency=100)
_NARROW: Final = MemoryTiming(bytes_per_cycle=8)
_SIXTEEN: Final = tuple(range(17, 385, 23))
"""The contexts of 16 texts."""

STEPS: Final = (
    Decoder(model=_GPT2, contexts=(128,), bound=0.95),
    Decoder(model=_GPT2, contexts=(1024,), bound=0.95),
    Decoder(model=_GPT2, contexts=(128,), bound=0.94, timing=_SLOW),
    Decoder(model=_GPT2, contexts=(1024,), bound=0.94, timing=_SLOW),
    Decoder(model=_GPT2, contexts=(128,), bound=0.96, timing=_NARROW),
    Decoder(model=_GPT2, contexts=(1024,), bound=0.96, timing=_NARROW),
    Decoder(model="opt-125m", contexts=(128,), bound=0.95),
    Decoder(model="tinyllama", contexts=(128,), bound=0.93, layers=4),
    Decoder(model=_GPT2, contexts=_SIXTEEN, bound=0.93),
    Decoder(model=_GPT2, of="array", contexts=(0,), rows=512, bound=0.99),
)


@dataclass(frozen=True)
class DecoderLine:
    """A step and its run."""

    decoder: Decoder
    report: Report

    @property
    def reached(self) -> float | None:
        """The share of the limit; None if the run was stopped."""
        if self.decoder.of == "array":
            return self.report.total.utilization(self.report.setting.config)
        return self.report.memory_limit_share

    @property
    def right(self) -> bool:
        """Every element is right, and the bound is kept."""
        return self.report.right and self.reached is not None and self.reached >= self.decoder.bound

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "name": self.decoder.name,
            "of": self.decoder.of,
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
