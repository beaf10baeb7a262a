"""The integer format of each form: its type, what 1 stands for in each column, what stands for 0.

Products' operands are smoothed with the weights that read them, what a curve leaves behind gets the
zero point and the step of least squared error, and what attention weighs is smoothed with the
weights behind it, as `sw/quantize/encoder.py` does it for one family of models.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics.integers import INT16_MAX
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.ir.graph import View
from celosia.sw.quantize.centering import center
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.graphs.stages import Form, Stages
from celosia.sw.quantize.graphs.units import (
    Attention,
    Finishing,
    Function,
    Head,
    Multiplication,
    Normalization,
    Product,
    Unit,
    Value,
)
from celosia.sw.quantize.ranges import INT8_LARGEST, best_step, int16_step, sample_rows
from celosia.sw.quantize.smooth import Smoothing, choose_smoothing, smoothing_factors
from celosia.sw.quantize.spread import HiddenRange, spread_outliers
from celosia.sw.reference.encoder import Floats, Linear

__all__ = ["Format", "Formats", "choose_formats"]

_ROWS: Final = 2048
"""The most rows that the search of a range looks at."""
_VALUE_STRENGTH: Final = 0.5
"""The strength of the smoothing of what attention weighs."""
_LIMITS: Final = np.geomspace(1, 0.25, 25)
"""Fractions of the largest value at which clipping behind a curve is tried."""


_GIVEN_LARGEST: Final = 1 << 22
"""What stands in int32 for the largest number that calibration has seen of an input."""
_LEAST_TOP: Final = 1e-20
_LARGEST: Final = {"int8": (-INT8_LARGEST, INT8_LARGEST), "int32": (-(1 << 30), 1 << 30)}
"""The ends of types of which not all numbers are used: sums on top of int32 must not wrap."""


@dataclass(frozen=True, eq=False)
class Format:
    """How a matrix of real numbers becomes integers."""

    type: str
    steps: NDArray[np.float64]
    """What 1 stands for in each column."""
    zero_point: int = 0

    @property
    def step(self) -> float:
        """What 1 stands for; only for formats in which it is the same in each column."""
        assert (self.steps == self.steps[0]).all(), "columns have steps of their own"
        return float(self.steps[0])

    def integers(self, matrix: Array) -> tuple[Array, int]:
        """Real numbers as integers, and how many were clipped; NaN counts, and becomes 0."""
        info = np.iinfo(self.type)
        least, most = _LARGEST.get(self.type, (info.min, info.max))
        whole = np.rint(matrix / self.steps) + self.zero_point
        inside = (whole >= least) & (whole <= most)
        kept = np.nan_to_num(np.clip(whole, least, most))
        return kept.astype(self.type), int(inside.size - np.count_nonzero(inside))

    def numbers(self, matrix: Array) -> Floats:
        """Integers as real numbers."""
        return ((matrix.astype(np.float64) - self.zero_point) * self.steps).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Formats:
    """Formats of all forms, and products as they are after outliers were spread over channels."""

    forms: dict[Form, Format]
    linears: dict[str, Linear]
    """By the tensor that a product computes."""


def choose_formats(
    stages: Stages,
    seen: Observed,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Formats:
    """The formats of all forms but sums, by what calibration has `seen`."""
    chooser = _Chooser(stages, seen)
    forms = [
        Form(stages.units.units[name].value.key, role)
        for name, roles in stages.made.items()
        for role in roles
        if role != "sums"
    ]
    forms += stages.converted
    # What attention makes is smoothed with what it weighs.
    forms.sort(key=lambda form: form.role != "heads")
    for number, form in enumerate(forms):
        chooser.choose(form)
        progress(number + 1, len(forms))
    return Formats(chooser.forms, chooser.linears)


class _Chooser:
    """The formats that are chosen so far."""

    def __init__(self, stages: Stages, seen: Observed):
        self.stages, self.seen = stages, seen
        self.units = stages.units.units
        self.forms: dict[Form, Format] = {}
        self.factors: dict[str, Floats] = {}
        """What columns of an attention's result are divided by, by its tensor."""
        self.smoothings: dict[Form, Smoothing] = {}
        self.linears = {
            name: unit.linear for name, unit in self.units.items() if isinstance(unit, Product)
        }

    def choose(self, form: Form) -> None:
        value = self.stages.units.values[form.key]
        unit = None if form in self.stages.converted else self.units.get(value.tensor)
        match form.role:
            case "wide":
                if isinstance(unit, Function) and unit.function == "softmax":
                    self.forms[form] = Format("int16", np.full(unit.x.cols, 1 / INT16_MAX))
                    return
                tops, factors = self._tops(form), self._let_through(form)
                step = max(int16_step(tops / factors), self._least_step(form))
                self.forms[form] = Format("int16", factors * np.float64(step))
            case "angles":
                tops = self.seen.tops(form.key)
                self.forms[form] = Format("int16", np.full(tops.size, tops.max() / INT16_MAX))
            case "small":
                self.forms[form] = self._small(form, unit)
            case "heads":
                self.forms[form] = self._heads(form)
            case "onto":
                self.forms[form] = Format("int32", self._score_steps(value))
            case "sums":
                top = max(self._tops(form).max(initial=0), _LEAST_TOP)
                steps = np.full(self.seen.tops(form.key).size, top / _GIVEN_LARGEST)
                self.forms[form] = Format("int32", steps)

    def _said(self, form: Form) -> tuple[float, float] | None:
        """The range that the file says the tensor of a form has."""
        return self.seen.said.get(self.stages.units.values[form.key].tensor)

    def _tops(self, form: Form) -> Floats:
        """The largest magnitude in each column of a form: what was seen, or else what is said."""
        seen, said = self.seen.tops(form.key), self._said(form)
        return seen if said is None else np.full_like(seen, max(np.abs(said)))

    def _least_step(self, form: Form) -> float:
        """The step from which on the epsilon of each norm that reads a form fits its integer."""
        norms = [unit for unit in self.stages.users(form) if isinstance(unit, Normalization)]
        squares = (unit.x.cols * unit.epsilon / ((1 << EPSILON_BITS) - 1) for unit in norms)
        return max(squares, default=0.0) ** 0.5

    def _small(self, form: Form, unit: Unit | None) -> Format:
        said = self._said(form)
        if isinstance(unit, Finishing):
            return self._curve(form, unit)
        if said is not None and not (isinstance(unit, Multiplication) and self._smooths(unit)):
            return Format("int8", np.full(self.seen.tops(form.key).size, _said_step(said)))
        if isinstance(unit, Attention):
            factors = self.factors[unit.value.tensor]
            step = best_step(sample_rows(self.seen.rows(form.key), _ROWS) / factors)
            return Format("int8", factors * np.float64(step))
        if isinstance(unit, Multiplication) and not self._smooths(unit):
            step = best_step(sample_rows(self.seen.rows(form.key), _ROWS))
            return Format("int8", np.full(self.seen.tops(form.key).size, step))
        return Format("int8", self._smoothing(form).steps.astype(np.float64))

    def _smoothing(self, form: Form) -> Smoothing:
        """The smoothing of what products read."""
        if form not in self.smoothings:
            x = self.seen.rows(form.key)
            weights = np.concatenate(self._weights(form, x.shape[1]), axis=1)
            self.smoothings[form] = choose_smoothing(x, weights)
        return self.smoothings[form]

    def _smooths(self, unit: Multiplication) -> bool:
        """Whether columns of a product of two tensors can have steps of their own: those of `b`."""
        b = Form(unit.b.tensor, "wide")
        tensor = self.stages.units.values[b.key].tensor
        return (
            self.stages.made[unit.value.tensor] == ("small",)
            and isinstance(self.units.get(tensor), Product)
            and self.stages.made[tensor] == ("wide",)
            and self.stages.users(b) == [unit]
            and unit.a.tensor != unit.b.tensor
            and self.seen.tops(b.key).size == unit.b.cols
        )

    def _let_through(self, form: Form) -> Floats:
        """The factor of each column of an int16: that of the product with a gate it is part of."""
        for unit in self.stages.users(form):
            match unit:
                case Multiplication(b=View(tensor=form.key)) if self._smooths(unit):
                    return self._smoothing(Form(unit.value.key, "small")).factors
                case _:
                    pass
        return np.ones(self.seen.tops(form.key).size, np.float32)

    def _weights(self, form: Form, cols: int) -> list[Floats]:
        """The weights of all products that read a form, with a row for each of its columns."""
        found = []
        for unit in self.stages.users(form):
            if isinstance(unit, Product):
                linear = self.linears[unit.value.tensor]
                weights = np.zeros((cols, linear.weights.shape[1]), np.float32)
                weights[unit.x.col : unit.x.col + unit.x.cols] = linear.weights
                found.append(weights)
        return found

    # What is behind a curve.

    def _curve(self, form: Form, unit: Finishing) -> Format:
        x = self.seen.rows(form.key)
        users = self.stages.users(form)
        product = unit.product.value.tensor
        if (
            unit.function == "gelu"
            and len(users) == 1
            and isinstance(users[0], Product)
            and users[0].x.cols == x.shape[1]
            and product in self.stages.fused
            and self._said(form) is None
        ):
            return self._spread(unit.product, users[0], x)
        said = self._said(form)
        if said is not None:
            found = HiddenRange.between(min(said[0], 0.0), max(said[1], 1e-6))
            return Format("uint8", np.full(x.shape[1], found.step), found.zero_point)
        found = _best_range(sample_rows(x, _ROWS), unit.function or "")
        return Format("uint8", np.full(x.shape[1], found.step), found.zero_point)

    def _spread(self, up: Product, down: Product, hidden: Floats) -> Format:
        first, second = self.linears[up.value.tensor], self.linears[down.value.tensor]
        spread = spread_outliers(first, second, hidden)
        before = self.seen.rows(up.value.key)
        self.linears[up.value.tensor] = spread.up
        self.linears[down.value.tensor] = center(spread, second, before, hidden)
        return Format("uint8", np.full(hidden.shape[1], spread.range.step), spread.range.zero_point)

    # What attention reads.

    def _heads(self, form: Form) -> Format:
        x = self.seen.rows(form.key)
        steps = np.full(x.shape[1], np.nan)
        users = [unit for unit in self.stages.users(form) if isinstance(unit, Attention)]
        said = self._said(form)
        for role in ("query", "key"):
            for unit in users:
                for head in unit.heads[0]:
                    columns = _columns((head,), role, form.key)
                    if columns.size and np.isnan(steps[columns]).all():
                        best = best_step(sample_rows(x[:, columns], _ROWS))
                        steps[columns] = best if said is None else _said_step(said)
        for unit in users:
            columns = _columns(unit.heads[0], "value", form.key)
            self.factors[unit.value.tensor] = np.ones(
                unit.value.shape(self._kind(unit))[1], np.float32
            )
            if columns.size and np.isnan(steps[columns]).all():
                factors = self._value_factors(unit, x, columns)
                step = best_step(sample_rows(x[:, columns], _ROWS) / factors)
                step = step if said is None else _said_step(said)
                steps[columns] = factors * np.float64(step)
        return Format("int8", np.nan_to_num(steps, nan=1.0))

    def _score_steps(self, value: Value) -> NDArray[np.float64]:
        """What 1 stands for in the scores to which a value is added; formats of heads are known."""
        unit = self.units[value.scores]
        assert isinstance(unit, Attention)
        steps = [
            np.full(head.key.rows, unit.scale * self._one(head.query) * self._one(head.key))
            for head in unit.heads[0]
        ]
        return np.concatenate(steps)

    def _one(self, view: View) -> float:
        """The one step of what a head reads."""
        return float(self.forms[Form(view.tensor, "heads")].steps[view.col])

    def _kind(self, unit: Unit) -> Any:
        return next(n.type for n in self.stages.graph.nodes if n.name == unit.value.tensor)

    def _value_factors(self, unit: Attention, x: Floats, columns: NDArray[np.intp]) -> Floats:
        """The factor of each column of V; columns of the result have that of what they weigh."""
        form = Form(unit.value.key, "small")
        cols = unit.value.shape(self._kind(unit))[1]
        weights = self._weights(form, cols)
        said = self._said(form) or self._said(Form(unit.heads[0][0].value.tensor, "heads"))
        if form in self.stages.converted or not weights or said:
            return np.ones(len(columns), np.float32)
        rows = np.abs(np.concatenate(weights, axis=1)).max(axis=1)
        sources = np.zeros(cols, np.intp)
        for head in unit.heads[0]:
            place = np.searchsorted(columns, head.value.col)
            out = slice(head.out.col, head.out.col + head.out.cols)
            sources[out] = np.arange(place, place + head.value.cols)
        largest = np.zeros(len(columns), np.float32)
        np.maximum.at(largest, sources, rows)
        ranges = np.abs(x[:, columns]).max(axis=0)
        factors = smoothing_factors(ranges, largest[:, np.newaxis], _VALUE_STRENGTH)
        self.factors[unit.value.tensor] = factors[sources]
        return factors


def _said_step(said: tuple[float, float]) -> float:
    """The step of symmetric int8 that has all of a range."""
    return (max(np.abs(said)) or 1.0) / INT8_LARGEST


def _columns(heads: tuple[Head, ...], role: str, key: str) -> NDArray[np.intp]:
    """The columns of the value `key` that heads read in a role, in order."""
    views: list[View] = [getattr(head, role) for head in heads]
    found = {
        column
        for view in views
        if view.tensor == key
        for column in range(view.col, view.col + view.cols)
    }
    return np.array(sorted(found), np.intp)


def _best_range(x: Floats, function: str) -> HiddenRange:
    """The range of uint8 with the least squared error on `x`."""
    least = ACTIVATIONS[function].least if function in ACTIVATIONS else 0.0
    top = max(float(x.max(initial=0)), 1e-6)

    def error(found: HiddenRange) -> float:
        whole = np.clip(np.rint(x / np.float32(found.step)) + found.zero_point, 0, 255)
        lost = (whole - found.zero_point) * np.float32(found.step) - x
        return float(np.vdot(lost, lost))

    return min((HiddenRange.between(least, top * float(clip)) for clip in _LIMITS), key=error)
