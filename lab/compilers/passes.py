"""What each pass from a file to a recognized graph gains: models are predicted without it.

Passes are those of `celosia.sw.frontend.recognize.recognize.road`, left out one at a time.  One
that changes nothing of a model gains nothing there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Key, Record
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.workload import ModelFiles, run_ways, workload_of
from celosia.sim.run.models.time_share import TimeShare, predict_shares
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.models.steps import Model

__all__ = ["Cycles", "ModelPasses", "PassGain", "by_pass", "run_passes_bench"]

TOKENS: Final = 64
"""Tokens of the corpus' models."""


@dataclass(frozen=True, kw_only=True)
class Cycles(Record):
    """The time of a model."""

    accelerator: int
    """Predicted cycles of the accelerator."""
    host: int
    """Cycles of a host for what is left to it: elements times cycles, a model."""
    rtl: int | None = None
    """Cycles of the RTL; null: it was not asked."""

    @property
    def total(self) -> int:
        """All predicted cycles: one works, then the other."""
        return self.accelerator + self.host


@dataclass(frozen=True, kw_only=True)
class PassGain(Record):
    """A model without one of the passes that change it."""

    name: str
    """The pass."""
    without: Cycles | None
    """The time without it; null: then it cannot be quantized."""
    gain: float | None
    """Predicted cycles of accelerator and host without it, over those with it."""


@dataclass(frozen=True, kw_only=True)
class ModelPasses(Record):
    """A model with all passes, and without each that changes it."""

    model: str
    """Its name, or its file."""
    cycles: Cycles
    """The time with all passes."""
    passes: tuple[PassGain, ...]
    """The passes that change it, in the order of the road."""
    wrong: tuple[str, ...]
    """The passes without which a result on the RTL was wrong, and `all` for the model itself."""

    @Key
    def right(self) -> bool:
        """Whether all results on the RTL were right, as far as they were looked at."""
        return not self.wrong


def run_passes_bench(
    tell: Progress, asked: ModelFiles | None = None, preset: str = "base"
) -> tuple[ModelPasses, ...]:
    """Each model of the corpus, or each file that is asked for.

    Raises `InputError` and `ImportProblem` for a file that cannot be read.
    """
    asked = asked or ModelFiles()
    config, timing = resolve_config(preset), MemoryTiming()
    return tuple(
        _model_passes(name, make(), config, timing, tell, rtl=asked.rtl)
        for name, make in _models(asked)
    )


def _models(asked: ModelFiles) -> Iterator[tuple[str, Callable[[], FloatGraph]]]:
    if asked.paths:
        for name, graph in asked.graphs():
            yield name, lambda graph=graph: graph
        return
    exports = import_extra("celosia.lab.exports.imported", "onnx")
    catalog = import_extra("celosia.lab.exports.catalog", "onnx")
    for name in catalog.EXPORTS:
        yield (
            name,
            lambda name=name: exports.imported_export(name, tokens=TOKENS).imported.graph,
        )


def _model_passes(
    name: str,
    graph: FloatGraph,
    config: AcceleratorConfig,
    timing: MemoryTiming,
    tell: Progress,
    *,
    rtl: bool,
) -> ModelPasses:
    """The time of one model with and without its passes."""
    costs, wrong = Costs(config, timing), []

    def measured(without: str | None) -> Cycles | None:
        tell(f"{name}, {'all passes' if without is None else f'without {without}'}", None)
        model = Model.of(recognize(graph, without=() if without is None else (without,)))
        try:
            share = predict_shares(model.recognized.graph, costs)
        except ValueError:
            return None
        cycles = None
        if rtl:
            workload = workload_of(name, model)
            programs = {"RTL": workload.compiled(config)}
            found, right = run_ways(workload, programs, config, tell)
            cycles = found["RTL"]
            wrong.extend([without or "all"] * (not right))
        return _cycles(share, cycles)

    whole = measured(None)
    assert whole is not None, f"{name} is quantized with all passes"
    passes = []
    for each in recognize(graph).changed:
        without = measured(each)
        gain = without.total / whole.total if without and whole.total else None
        passes.append(PassGain(name=each, without=without, gain=gain))
    return ModelPasses(model=name, cycles=whole, passes=tuple(passes), wrong=tuple(wrong))


def _cycles(share: TimeShare, rtl: int | None) -> Cycles:
    return Cycles(accelerator=share.accelerator, host=share.host_cycles, rtl=rtl)


def by_pass(lines: Sequence[ModelPasses]) -> dict[str, tuple[int, float]]:
    """For each pass that changes a model, how many it does, and the geometric mean of its gains.

    The mean is over models that can be quantized without it.
    """
    gains: dict[str, list[float | None]] = {}
    for line in lines:
        for each in line.passes:
            gains.setdefault(each.name, []).append(each.gain)
    found = {}
    for name, all_gains in gains.items():
        known = [gain for gain in all_gains if gain is not None]
        found[name] = len(all_gains), prod(known) ** (1 / len(known)) if known else 1.0
    return found
