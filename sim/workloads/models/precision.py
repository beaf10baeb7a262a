"""Which products of a model in a file have int4 weights: measured, predicted and chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.precision_file import PrecisionFile
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.visible_rows import interpret_visibly
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate, run_model
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.quantize.precision import Bounds, BoundsError, Candidate, choose, decibels_of
from celosia.sw.quantize.units.names import product_names
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES, WeightTypes

__all__ = ["Precision", "PrecisionChoice", "ProductPrecision", "Reached", "decide", "gain_note"]

_SAMPLES: Final = 4
"""Samples of the calibration that outputs are compared on, at most."""
_GAIN: Final = 0.02
"""The share of predicted cycles from which on a gain is worth a note."""

ALL_INT4: Final = WEIGHT_CHOICES["int4-vocabulary"]


@dataclass(frozen=True)
class Precision:
    """How the types of weights are chosen, and for what."""

    rule: PrecisionFile | Bounds | None
    """A file, or what a choice has to reach; None: all have int8, and what int4 would gain is
    said."""
    hardware: tuple[AcceleratorConfig, MemoryTiming]

    @property
    def weights(self) -> WeightTypes:
        """The types where everything that can be is int4."""
        return replace(ALL_INT4, lines=self.hardware[0].dim)


@dataclass(frozen=True)
class ProductPrecision:
    """A product, and what int4 weights of it alone would do."""

    name: str
    inputs: int
    outputs: int
    kind: WeightType
    """What it got."""
    sqnr_db: float | None
    """With int4 weights in this product alone; None: it was not measured."""
    saved: int
    """Predicted cycles that int4 weights in this product alone save."""


@dataclass(frozen=True)
class Reached:
    """What a choice of weights reaches."""

    sqnr_db: float
    """On calibration data: that of the output that has least."""
    cycles: int
    """Predicted cycles of the accelerator."""


@dataclass(frozen=True)
class PrecisionChoice:
    """The types of weights that were chosen."""

    products: tuple[ProductPrecision, ...]
    eight: Reached
    """All weights are int8."""
    chosen: Reached
    how: str
    """The option that chose."""

    @property
    def note(self) -> str:
        """What is to be said of it in one sentence."""
        four = [each for each in self.products if each.kind is WeightType.INT4]
        sizes = [sum(each.inputs * each.outputs for each in some) for some in (four, self.products)]
        return (
            f"{len(four)} of {len(self.products)} products have int4 weights, "
            f"{sizes[0] / sizes[1]:.0%} of all, by {self.how}: {self.chosen.sqnr_db:.1f} dB on "
            f"calibration data, {self.eight.sqnr_db:.1f} with int8; {self.chosen.cycles:,} "
            f"predicted cycles, {self.eight.cycles:,} with int8"
        )


def gain_note(graph: FloatGraph, precision: Precision) -> str | None:
    """What int4 weights would gain; None: next to nothing, or the graph is not quantized."""
    costs = Costs(*precision.hardware)

    def predicted(weights: WeightTypes) -> int:
        return sum(map(costs.integer, sketch(graph, weights=weights)[0]))

    try:
        eight, four = predicted(WEIGHT_CHOICES["int8"]), predicted(precision.weights)
    except ValueError:
        return None
    if four > eight * (1 - _GAIN):
        return None
    return (
        f"int4 weights would take {four:,} predicted cycles where int8 take {eight:,}: "
        "--precision auto takes as many as cost 1 dB, and says what they cost"
    )


def decide(
    graph: FloatGraph,
    formats: tuple[Formats, Formats],
    samples: Sequence[Mapping[str, Array]],
    precision: Precision,
    tell: Progress,
) -> tuple[Formats, PrecisionChoice]:
    """Formats with the weights that are chosen, of those with int8 and with int4 weights.

    Raises `InputError` for names of a file, and for bounds that nothing meets.
    """
    eight, four = formats
    models = _Models(graph, eight, four, samples, Costs(*precision.hardware))
    units = units_of(graph, eight.apart, per_tensor=eight.per_tensor)
    names = product_names(units, graph)
    packed = [name for name in names if four.integers[name].kind is WeightType.INT4]
    cycles, saved = models.cycles(frozenset()), {}
    for number, name in enumerate(packed):
        tell("predicting products in int4", number / len(packed))
        saved[name] = cycles - models.cycles(frozenset((name,)))
    alone: dict[str, float] = {}
    if isinstance(precision.rule, PrecisionFile):
        inputs = {names[name]: len(eight.integers[name].weights) for name in names}
        kinds = precision.rule.kinds(inputs, precision.hardware[0].dim)
        chosen = frozenset(n for n in names if kinds[names[n]] is WeightType.INT4)
        how = f"--precision {precision.rule.path}"
    else:
        for number, name in enumerate(packed):
            tell("measuring products in int4", number / len(packed))
            alone[name] = models.noise(frozenset((name,)))
        least = models.noise(frozenset())
        candidates = [Candidate(n, alone[n] - least, saved[n]) for n in packed]
        tell("choosing products", None)
        assert precision.rule is not None
        try:
            chosen = choose(candidates, precision.rule, cycles, models.noise)
        except BoundsError as problem:
            raise InputError(str(problem)) from None
        how = "--precision auto"
    products = tuple(
        ProductPrecision(
            names[name],
            inputs=eight.integers[name].weights.shape[0],
            outputs=eight.integers[name].weights.shape[1],
            kind=WeightType.INT4 if name in chosen else WeightType.INT8,
            sqnr_db=decibels_of(alone[name]) if name in alone else None,
            saved=saved.get(name, 0),
        )
        for name in names
    )
    choice = PrecisionChoice(
        products=products,
        eight=models.reached(frozenset()),
        chosen=models.reached(chosen),
        how=how,
    )
    return models.formats(chosen), choice


class _Models:
    """The models with int4 weights in some products, by the tensors that these compute."""

    def __init__(
        self,
        graph: FloatGraph,
        eight: Formats,
        four: Formats,
        samples: Sequence[Mapping[str, Array]],
        costs: Costs,
    ):
        self.graph, self.eight, self.four, self.costs = graph, eight, four, costs
        self.samples = samples[:_SAMPLES]
        self.real = [interpret_visibly(graph, each) for each in self.samples]
        self.noise = cache(self._noise)
        self.cycles = cache(self._cycles)

    def formats(self, packed: frozenset[str]) -> Formats:
        """Formats with int4 weights in these products."""
        integers = {
            name: self.four.integers[name] if name in packed else each
            for name, each in self.eight.integers.items()
        }
        return replace(self.eight, integers=integers)

    def reached(self, packed: frozenset[str]) -> Reached:
        """What int4 weights in these products reach."""
        return Reached(decibels_of(self.noise(packed)), self.cycles(packed))

    def _model(self, packed: frozenset[str]) -> QuantizedGraph:
        return instantiate(self.graph, self.formats(packed))

    def _cycles(self, packed: frozenset[str]) -> int:
        """Predicted cycles of all segments."""
        return sum(self.costs.integer(each.graph) for each in self._model(packed).segments)

    def _noise(self, packed: frozenset[str]) -> float:
        """The noise of the worst output, as a share of its signal, rows of padding left out."""
        model, sums = self._model(packed), dict[str, np.ndarray]()
        for sample, (real, rows) in zip(self.samples, self.real, strict=True):
            found = run_model(model, sample, count=False).outputs
            for name, value in real.items():
                if value.dtype.kind != "f" or not value.size:
                    continue
                seen = rows[name].visible if name in rows else np.ones(value.shape[:-1], bool)
                seen = seen if seen.any() else np.ones_like(seen)
                signal = value[seen].astype(np.float64)
                lost = signal - found[name][seen]
                both = np.array([np.square(lost).sum(), np.square(signal).sum()])
                sums[name] = sums.get(name, np.zeros(2)) + both
        shares = [lost / signal for lost, signal in sums.values() if signal]
        return float(max(shares, default=0.0))
