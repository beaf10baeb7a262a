"""Which products of a model in a file have int4 weights, or int16 operands: measured and chosen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
from celosia.sw.quantize.graphs.formats import Formats, mixed
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate, run_model
from celosia.sw.quantize.precision import (
    Bounds,
    BoundsError,
    Candidate,
    Numbers,
    choose,
    choose_wide,
    decibels_of,
    noise_of,
    share_of,
)
from celosia.sw.quantize.units.names import product_names
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES

__all__ = [
    "ALL_INT4",
    "Compared",
    "Precision",
    "PrecisionChoice",
    "ProductPrecision",
    "Reached",
    "decide",
    "gain_note",
    "left_out",
]

_SAMPLES: Final = 8
"""Samples that outputs are compared on, at most."""
_SHARE: Final = 4
"""At most one of so many samples is left out of the calibration."""
_GAIN: Final = 0.02
"""The share of predicted cycles from which on a gain is worth a note."""

_SAID: Final = {Numbers.INT4: "int4 weights", Numbers.INT16: "int16 operands"}
"""What products have that do not have int8 alone."""

ALL_INT4: Final = WEIGHT_CHOICES["int4-vocabulary"]
"""The types where everything that can be is int4."""


@dataclass(frozen=True)
class Precision:
    """How the types of weights are chosen, and for what."""

    rule: PrecisionFile | Bounds | None
    """A file, or what a choice has to reach; None: all have int8, and what int4 would gain is
    said."""
    hardware: tuple[AcceleratorConfig, MemoryTiming]


@dataclass(frozen=True)
class Compared:
    """What outputs are compared on."""

    samples: Sequence[Mapping[str, Array]]
    fresh: bool = False
    """The model is not calibrated on them."""

    @property
    def name(self) -> str:
        """What they are called."""
        count = len(self.samples)
        left = f"{count} sample{'s' * (count > 1)} that calibration left out"
        return left if self.fresh else "calibration data"

    @property
    def doubt(self) -> str:
        """How sure what they show is."""
        several = self.fresh and len(self.samples) > 1
        return f"on {self.name}" + ", less a standard error" * several


@dataclass(frozen=True)
class ProductPrecision:
    """A product, and what other numbers in it alone would do: those that were tried."""

    name: str
    inputs: int
    outputs: int
    kind: Numbers
    """What it got."""
    sqnr_db: float | None
    """With them in this product alone; None: it was not measured."""
    saved: int
    """Predicted cycles that they save in this product alone; negative: they take more."""


@dataclass(frozen=True)
class Reached:
    """What a choice reaches."""

    sqnr_db: float
    """The SQNR of the output that has least."""
    cycles: int
    """Predicted cycles of the accelerator."""


@dataclass(frozen=True)
class PrecisionChoice:
    """What products multiply, as it was chosen."""

    products: tuple[ProductPrecision, ...]
    eight: Reached
    """All operands and weights are int8."""
    chosen: Reached
    how: str
    """The option that chose."""
    tried: Numbers = Numbers.INT4
    """What was measured in each product alone."""
    on: str = "calibration data"
    """What outputs were compared on."""

    @property
    def note(self) -> str:
        """What is to be said of it in one sentence."""
        parts = [part for kind, what in _SAID.items() if (part := self._share(kind, what))]
        return (
            f"{' and '.join(parts) or self._share(Numbers.INT4, 'int4 weights', none=True)}, "
            f"by {self.how}: {self.chosen.sqnr_db:.1f} dB on {self.on}, "
            f"{self.eight.sqnr_db:.1f} with int8; {self.chosen.cycles:,} predicted cycles, "
            f"{self.eight.cycles:,} with int8"
        )

    def _share(self, kind: Numbers, what: str, *, none: bool = False) -> str:
        """How many products have such numbers; nothing, if none has and that is not asked."""
        some = [each for each in self.products if each.kind is kind]
        if not some and not none:
            return ""
        sizes = [
            sum(each.inputs * each.outputs for each in each_of) for each_of in (some, self.products)
        ]
        share = f"{sizes[0] / sizes[1]:.0%} of all" + " weights" * kind.wide
        return f"{len(some)} of {len(self.products)} products have {what}, {share}"


def left_out(
    samples: Sequence[Mapping[str, Array]],
) -> tuple[Sequence[Mapping[str, Array]], Compared]:
    """The samples to calibrate on, and those that outputs are compared on.

    These are a quarter at most, evenly among the others; of fewer than four, all are both.
    """
    count = min(_SAMPLES, len(samples) // _SHARE)
    if not count:
        return samples, Compared(samples)
    places = {(2 * number + 1) * len(samples) // (2 * count) for number in range(count)}
    kept = [sample for number, sample in enumerate(samples) if number not in places]
    return kept, Compared([samples[number] for number in sorted(places)], fresh=True)


def gain_note(graph: FloatGraph, precision: Precision) -> str | None:
    """What int4 weights would gain; None: next to nothing, or the graph is not quantized."""
    costs = Costs(*precision.hardware)
    try:
        (eight, _), (four, _) = (costs.segments(graph, each) for each in (INT8_WEIGHTS, ALL_INT4))
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
    formats: tuple[Formats, Formats, Formats],
    compared: Compared,
    precision: Precision,
    tell: Progress,
) -> tuple[Formats, PrecisionChoice]:
    """Formats with what is chosen, of those with int8, int4 weights and int16 operands.

    Where int8 misses a bound of accuracy, operands become int16; else weights become int4.

    Raises `InputError` for names of a file, and for bounds that nothing meets.
    """
    eight, four, sixteen = formats
    models = _Models(graph, formats, compared, Costs(*precision.hardware))
    units = models.units
    names = product_names(units, graph)
    packed = [name for name in names if four.integers[name].kind is WeightType.INT4]
    wide = [name for name in names if name in sixteen.int16_operands]
    rule, tried, alone = precision.rule, Numbers.INT4, dict[str, float]()
    assert rule is not None
    if not isinstance(rule, PrecisionFile) and wide and models.misses(rule):
        tried = Numbers.INT16
    saved = models.saved(wide if tried.wide else packed, tried, tell)
    if isinstance(rule, PrecisionFile):
        kinds = rule.kinds([*names.values()], {names[name] for name in wide})
        chosen = Chosen(
            frozenset(n for n in names if kinds[names[n]] is Numbers.INT4),
            frozenset(n for n in names if kinds[names[n]].wide),
        )
        how = f"--precision {rule.path}"
    else:
        alone = models.alone(saved, tried, tell)
        tell("choosing products", None)
        least = models.noise(_NOTHING)
        candidates = [Candidate(n, alone[n] - least, saved[n]) for n in saved]
        choosing = choose_wide if tried.wide else choose
        try:
            found = choosing(
                candidates,
                rule,
                models.cycles(_NOTHING),
                lambda some: models.doubted(Chosen.of(some, tried)),
            )
        except BoundsError as problem:
            raise InputError(f"{problem} ({compared.doubt})") from None
        chosen, how = Chosen.of(found, tried), "--precision auto"
    products = tuple(
        ProductPrecision(
            names[name],
            inputs=eight.integers[name].weights.shape[0],
            outputs=eight.integers[name].weights.shape[1],
            kind=chosen.kind(name),
            sqnr_db=decibels_of(alone[name]) if name in alone else None,
            saved=saved.get(name, 0),
        )
        for name in names
    )
    choice = PrecisionChoice(
        products=products,
        eight=models.reached(_NOTHING),
        chosen=models.reached(chosen),
        how=how,
        tried=tried,
        on=compared.name,
    )
    return models.formats(chosen), choice


@dataclass(frozen=True)
class Chosen:
    """Products that do not multiply int8 alone, by the tensors that they compute."""

    packed: frozenset[str] = frozenset()
    """The products with int4 weights."""
    wide: frozenset[str] = frozenset()
    """The products with int16 operands."""

    @classmethod
    def of(cls, names: frozenset[str], kind: Numbers) -> "Chosen":
        """Products that all multiply the same."""
        return cls(wide=names) if kind.wide else cls(names)

    def kind(self, name: str) -> Numbers:
        """What a product multiplies."""
        if name in self.wide:
            return Numbers.INT16
        return Numbers.INT4 if name in self.packed else Numbers.INT8


_NOTHING: Final = Chosen()


class _Models:
    """The models in which some products do not multiply int8 alone."""

    def __init__(
        self,
        graph: FloatGraph,
        formats: tuple[Formats, Formats, Formats],
        compared: Compared,
        costs: Costs,
    ):
        self.graph, self.costs = graph, costs
        self.each, usual = formats, formats[0]
        self.units = units_of(graph, usual.apart, usual.caps, per_tensor=usual.per_tensor)
        self.samples, self.fresh = compared.samples[:_SAMPLES], compared.fresh
        self.real = [interpret_visibly(graph, each) for each in self.samples]
        self.shares = cache(self._shares)
        self.cycles = cache(self._cycles)

    def noise(self, chosen: Chosen) -> float:
        """The noise of the worst output, as a share of its signal."""
        return max((share for share, _ in self.shares(chosen)), default=0.0)

    def doubted(self, chosen: Chosen) -> float:
        """What that may be on other inputs: a standard error more.

        A search for the cheapest choice within a bound finds those that meet it by chance.
        """
        return max((share + error for share, error in self.shares(chosen)), default=0.0)

    def misses(self, bounds: Bounds) -> bool:
        """Whether int8 alone is not as accurate as it has to be."""
        least = bounds.least_db
        return least is not None and self.doubted(_NOTHING) > noise_of(least)

    def saved(self, names: Sequence[str], kind: Numbers, tell: Progress) -> dict[str, int]:
        """The predicted cycles that such numbers in each product alone save."""
        found = {}
        for number, name in enumerate(names):
            tell(f"predicting products in {kind.name.lower()}", number / len(names))
            alone = self.cycles(Chosen.of(frozenset((name,)), kind))
            found[name] = self.cycles(_NOTHING) - alone
        return found

    def alone(self, names: Collection[str], kind: Numbers, tell: Progress) -> dict[str, float]:
        """The noise with such numbers in each product alone."""
        found = {}
        for number, name in enumerate(names):
            tell(f"measuring products in {kind.name.lower()}", number / len(names))
            found[name] = self.noise(Chosen.of(frozenset((name,)), kind))
        return found

    def formats(self, chosen: Chosen) -> Formats:
        """Formats with what is chosen."""
        return mixed(self.each, chosen.packed, chosen.wide, self.units)

    def reached(self, chosen: Chosen) -> Reached:
        """What a choice reaches."""
        return Reached(decibels_of(self.noise(chosen)), self.cycles(chosen))

    def _model(self, chosen: Chosen) -> QuantizedGraph:
        return instantiate(self.graph, self.formats(chosen))

    def _cycles(self, chosen: Chosen) -> int:
        """Predicted cycles of all segments."""
        return sum(self.costs.integer(each.graph) for each in self._model(chosen).segments)

    def _shares(self, chosen: Chosen) -> list[tuple[float, float]]:
        """The noise of each output as a share of its signal, and its standard error.

        Rows of padding are left out.  The error is that of a ratio of sums over samples; 0 of one
        sample, and of those that the model is calibrated on.
        """
        model, sums = self._model(chosen), dict[str, list[tuple[float, float]]]()
        for sample, (real, rows) in zip(self.samples, self.real, strict=True):
            found = run_model(model, sample, count=False).outputs
            for name, value in real.items():
                if value.dtype.kind != "f" or not value.size:
                    continue
                seen = rows[name].visible if name in rows else np.ones(value.shape[:-1], bool)
                seen = seen if seen.any() else np.ones_like(seen)
                signal = value[seen].astype(np.float64)
                lost = signal - found[name][seen]
                both = float(np.square(lost).sum()), float(np.square(signal).sum())
                sums.setdefault(name, []).append(both)
        found = [share_of(each) for each in sums.values() if any(signal for _, signal in each)]
        return found if self.fresh else [(share, 0.0) for share, _ in found]
