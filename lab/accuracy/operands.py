"""What products' operands of more than eight bits would give: a model of the roundings alone.

The float graph is computed with weights as the quantizer has rounded them, and with what products
and attention read rounded as a line of the table says.  Everything else is exact: int16, numerators
and functions lose next to nothing beside that.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.accuracy.models import CALIBRATION, INPUTS, hidden_model, small_channels
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import compute, interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.models.steps import Calibrate
from celosia.sw.quantize.graphs.emit_products import RADIX
from celosia.sw.quantize.graphs.formats import Format, Formats, with_int16
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.units import Product
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.units.wide_operands import may_be_wide

__all__ = ["ROUNDINGS", "OperandAccuracy", "Operands", "Roundings", "operand_accuracies"]

_HEADROOM: Final = 1.25
"""A wide operand holds this many times the largest element of the calibration."""
_FIRST: Final = re.compile(r"\D(\d+)\D")
"""The first number in the name of a product is that of its layer."""


@dataclass(frozen=True, kw_only=True)
class Operands:
    """How operands of products with weights are rounded."""

    name: str
    bits: int | None = 8
    """With 8, as the quantizer has it, which clips; with more, nothing of the calibration is
    clipped; None: they are exact."""
    rows: bool = False
    """Each row has a step of its own, that of its maximum."""
    first: bool = False
    """Only those of the first layer are; others have 8 bits."""
    wide: bool = False
    """Only those of products whose results are int16 are; others have 8 bits."""
    attention: bool = True
    """What attention reads has 8 bits; else it is exact."""


ROUNDINGS: Final = (
    Operands(name="8 bits"),
    Operands(name="8 bits, a step for each row", rows=True),
    Operands(name="12 bits", bits=12),
    Operands(name="16 bits", bits=16),
    Operands(name="16 bits, of what becomes int16", bits=16, wide=True),
    Operands(name="16 bits, first layer", bits=16, first=True),
    Operands(name="16 bits, first layer, of what becomes int16", bits=16, first=True, wide=True),
    Operands(name="16 bits, attention exact", bits=16, attention=False),
    Operands(name="exact, attention exact", bits=None, attention=False),
)
"""The lines of the table that are a model."""
_INTEGERS: Final = ("int16 where it may be, in integers", "the same, first layer")
_WEIGHTS: Final = "8-bit weights of these alone"


@dataclass(frozen=True)
class OperandAccuracy:
    """A model with operands of products with weights that are rounded in one way."""

    model: str
    """An export of the catalog."""
    operands: str
    """How they are rounded."""
    sqnr_db: float
    """Without the large channels, the mean over inputs, as is the next one."""
    least_sqnr_db: float
    """What the worst input reaches."""


def operand_accuracies(name: str, tell: Progress = silent) -> list[OperandAccuracy]:
    """An export of the catalog with each of the `ROUNDINGS`, and in integers with int16."""
    known, inputs = hidden_model(name)
    samples = [inputs(seed) for seed in CALIBRATION]
    how = Calibrate(samples, "error", lambda what, done, total: tell(f"{name}: {what}", None))
    usual, wide = replace(how, wide=True).make_each(known, (how.weights,))
    graph = known.recognized.graph
    roundings = Roundings(graph, usual, samples)
    given = [inputs(seed) for seed in INPUTS]
    real = [next(iter(interpret(graph, each).values())) for each in given]

    def line(words: str, output: Callable[[Mapping[str, Array]], Array]) -> OperandAccuracy:
        tell(f"{name}: {words}", None)
        reached = []
        for each, wanted in zip(given, real, strict=True):
            small = small_channels(wanted)
            reached.append(decibels(wanted[..., small], output(each)[..., small]))
        return OperandAccuracy(name, words, float(np.mean(reached)), float(min(reached)))

    lines = [line(each.name, lambda x, each=each: roundings.output(x, each)) for each in ROUNDINGS]
    every = wide.int16_operands
    first = frozenset(each for each in every if not _later(each))
    for words, names in ((_INTEGERS[0], every), (_INTEGERS[1], first)):
        model = instantiate(graph, with_int16(usual, wide, names, roundings.units))
        lines.append(line(words, lambda x, m=model: next(iter(run_model(m, x).outputs.values()))))
    exact = Operands(name=_WEIGHTS, bits=None, attention=False)
    weights = Roundings(graph, with_int16(usual, wide, every, roundings.units), samples)
    return [*lines, line(_WEIGHTS, lambda x: weights.output(x, exact))]


def _later(product: str) -> bool:
    """Whether a product is not of the first layer."""
    number = _FIRST.search(product)
    return number is None or int(number[1]) > 0


class Roundings:
    """A float graph whose products have rounded weights and operands.

    `samples` of the calibration say how large operands are.
    """

    def __init__(self, graph: FloatGraph, formats: Formats, samples: Sequence[Mapping[str, Array]]):
        self.graph, self.formats = graph, formats
        self.units, self.types = units_of(graph, formats.apart, formats.caps), graph.types()
        self.products = {unit.value.tensor: unit for unit in self.units.of(Product)}
        self.inner = {
            name for unit in self.products.values() for name in unit.nodes
        } - self.products.keys()
        self.wide = {*may_be_wide(graph, self.units)}
        self.largest: dict[str, float] = {}
        """The largest magnitude that each product has read, in steps of int8."""
        for sample in samples:
            self._run(sample, Operands(name="exact", bits=None, attention=False), seen=True)

    def output(self, inputs: Mapping[str, Array], operands: Operands) -> Array:
        """The first output, with `operands` of products that are rounded so."""
        return self._run(inputs, operands)

    def _run(self, inputs: Mapping[str, Array], operands: Operands, *, seen: bool = False) -> Array:
        values = {**inputs, **self.graph.constants}
        for node in self.graph.nodes:
            if node.name in self.inner:
                continue
            unit = self.products.get(node.name)
            if unit is None:
                found = compute(node, [values[name] for name in node.inputs])
            else:
                found = self._product(unit, values, operands, seen=seen)
            if operands.attention:
                found = self._as_heads(node.name, np.asarray(found))
            values[node.name] = np.asarray(found)
        return values[next(iter(self.graph.outputs.values()))]

    def _product(
        self, unit: Product, values: Mapping[str, Array], operands: Operands, *, seen: bool
    ) -> Array:
        name, value = unit.value.tensor, self.units.values[unit.x.tensor]
        kind = self.formats.forms[Form(unit.x.tensor, "small")]
        steps = kind.steps
        if name in self.formats.int16_operands:
            steps = self.formats.forms[Form(unit.x.tensor, "wide")].steps * RADIX
        matrix = value.matrix(values[value.tensor]).astype(np.float64) / steps
        if seen:
            top = float(np.abs(matrix).max(initial=0))
            self.largest[name] = max(self.largest.get(name, 0.0), top)
        else:
            matrix = self._rounded(name, matrix, kind, operands)
        integer = self.formats.integers[name]
        whole = matrix[:, unit.x.col : unit.x.col + unit.x.cols] @ integer.weights
        real = whole * integer.steps + unit.linear.bias
        return unit.value.tensor_of(real.astype(np.float32), self.types[name])

    def _rounded(
        self, name: str, matrix: NDArray[np.float64], kind: Format, operands: Operands
    ) -> NDArray[np.float64]:
        """A matrix in steps of int8, rounded."""
        usual = (operands.first and _later(name)) or (operands.wide and name not in self.wide)
        if operands.bits is None and not usual:
            return matrix
        if usual or (operands.bits == np.dtype(kind.type).itemsize * 8 and not operands.rows):
            ends = (0, 255) if kind.type == "uint8" else (-INT8_LARGEST, INT8_LARGEST)
            return np.clip(np.rint(matrix) + kind.zero_point, *ends) - kind.zero_point
        if operands.rows:
            steps = np.abs(matrix).max(axis=1, keepdims=True) / INT8_LARGEST
            return np.rint(matrix / np.where(steps > 0, steps, 1)) * steps
        assert operands.bits is not None
        most = (1 << operands.bits - 1) - 1
        step = (self.largest[name] or 1.0) * _HEADROOM / most
        return np.clip(np.rint(matrix / step), -most, most) * step

    def _as_heads(self, name: str, array: Array) -> Array:
        """A tensor that attention reads as int8, or as it is."""
        for form, kind in self.formats.forms.items():
            if form.role != "heads" or self.units.values[form.key].tensor != name:
                continue
            value = self.units.values[form.key]
            whole, _ = kind.integers(value.matrix(array))
            return value.tensor_of(kind.numbers(whole), self.types[name])
        return array
