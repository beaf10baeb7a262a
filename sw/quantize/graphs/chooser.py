"""Chooses the integer format of each form, by what calibration has seen.

Products' operands are smoothed with the weights that read them, what a curve leaves behind gets the
zero point and the step of least squared error, and what attention weighs is smoothed with the
weights behind it.  Operands of int16 are smoothed for their weights alone.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics.integers import INT16_MAX
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.sw.quantize.curves import center, choose_curve
from celosia.sw.quantize.graphs.emit_products import RADIX, WIDE_LARGEST
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.graphs.heads import HeadSteps
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.linear import IntegerLinear, quantize_linear
from celosia.sw.quantize.norm import least_growth
from celosia.sw.quantize.ranges import (
    INT8_LARGEST,
    INT16_HEADROOM,
    Clip,
    int8_step,
    int16_step,
    said_step,
    sample_rows,
    top_of,
)
from celosia.sw.quantize.rounding import Correlation, correlation
from celosia.sw.quantize.smooth import Smoothing, choose_smoothing, weight_factors
from celosia.sw.quantize.spread import HiddenRange, best_range, spread_outliers
from celosia.sw.quantize.units.joins import joined_forms
from celosia.sw.quantize.units.segments import Segments
from celosia.sw.quantize.units.units import (
    Attention,
    Finishing,
    Function,
    Join,
    Normalization,
    Product,
    Unit,
)
from celosia.sw.quantize.units.values import Form, Role
from celosia.sw.quantize.units.vectors import Multiplication, Rectified
from celosia.sw.quantize.units.wide_operands import may_be_wide, values_alone
from celosia.sw.reference.encoder import Floats

__all__ = ["Chooser"]

_ROWS: Final = 2048
"""The most rows that the search of a range looks at, and the rounding of weights."""


_GIVEN_LARGEST: Final = 1 << 22
"""What stands in int32 for the largest number that calibration has seen of an input."""
_SHARED: Final = 10 ** (0.1 / 10)
"""How many times the squared error of a form's own format that of a shared one may have: 0.1 dB."""
_LEAST_TOP: Final = 1e-20


class Chooser:
    """The formats that are chosen so far."""

    def __init__(
        self,
        segments: Segments,
        seen: Observed,
        clip: Clip,
        *,
        per_tensor: bool,
    ):
        self.segments, self.seen, self.per_tensor = segments, seen, per_tensor
        self.clip: Clip = clip
        self.units = segments.units.units
        self.forms: dict[Form, Format] = {}
        self.smoothings: dict[Form, Smoothing] = {}
        self.linears = {unit.value.tensor: unit.linear for unit in segments.units.of(Product)}
        self.curves = {
            name: choose_curve(unit.function, unit.alpha, seen.rows(_source(unit)))
            for name, unit in self.units.items()
            if isinstance(unit, Finishing | Function) and unit.function in ACTIVATIONS
        }
        self.hidden: dict[str, Floats] = {}
        """Rows behind a curve whose outliers are spread over channels, by the value's key."""
        self.correlations: dict[tuple[Form, int, int, bool], Correlation] = {}
        """By a form that products read, the columns of it, and whether they are centered."""
        self.heads = HeadSteps(segments, seen, self._weights, clip)
        self.joined = joined_forms(segments)

    def choose(self, form: Form) -> None:
        """Choose the format of a form, and before it that of what it is a part of."""
        joined = self.joined.get(form)
        if joined is None:
            self.forms[form] = self._own(form)
            return
        if joined.whole not in self.forms:
            self.choose(joined.whole)
        found, place = self.forms[joined.whole], joined.place
        self.forms[form] = replace(found, steps=found.steps[place.col : place.col + place.cols])

    def apart(self) -> frozenset[str]:
        """The tensors whose parts have other readers that lose too much by the one format."""
        found = set[str]()
        for form, joined in self.joined.items():
            if self.segments.users(form):
                rows = self.seen.rows(form.key)
                self.choose(form)
                most = _SHARED * _lost(self._own(form), rows)
                if _lost(self.forms[form], rows) > most:
                    found.add(self.segments.units.values[joined.whole.key].tensor)
        return frozenset(found)

    def _own(self, form: Form) -> Format:
        """The format of a form by itself."""
        value = self.segments.units.values[form.key]
        unit = None if form in self.segments.converted else self.units.get(value.tensor)
        return _fitting(self._usual(form, unit), unit)

    def _usual(self, form: Form, unit: Unit | None) -> Format:
        match form.role:
            case "wide":
                end = _end(unit)
                if end is not None:
                    return Format("int16", np.full(self.seen.tops(form.key).size, end / INT16_MAX))
                tops, factors = self._tops(form), self._let_through(form)
                step = max(int16_step(tops / factors), self._least_step(form))
                return Format("int16", factors * np.float64(step))
            case "angles":
                tops = self.seen.tops(form.key)
                return Format("int16", np.full(tops.size, tops.max() / INT16_MAX))
            case "small":
                return self._small(form, unit)
            case "heads":
                return Format("int8", self.heads.of(form))
            case _:
                top = max(self._tops(form).max(initial=0), _LEAST_TOP)
                steps = np.full(self.seen.tops(form.key).size, top / _GIVEN_LARGEST)
                return Format("int32", steps)

    def _tops(self, form: Form) -> Floats:
        """The largest magnitude in each column of a form: what was seen, or else what is said."""
        seen, said = self.seen.tops(form.key), self.heads.said(form.key)
        return seen if said is None else np.full_like(seen, max(np.abs(said)))

    def _said(self, form: Form, unit: Unit | None) -> tuple[float, float] | None:
        """The range that is said of a form, no farther than its unit goes."""
        said, end = self.heads.said(form.key), unit.most if isinstance(unit, Finishing) else None
        return said if said is None or end is None else (0.0, min(max(said[1], 1e-6), end))

    def _least_step(self, form: Form) -> float:
        """The step from which on the epsilon of each norm that reads a form fits its integer."""
        norms = [unit for unit in self.segments.users(form) if isinstance(unit, Normalization)]
        squares = (unit.x.cols * unit.epsilon / ((1 << EPSILON_BITS) - 1) for unit in norms)
        return max(squares, default=0.0) ** 0.5

    def _small(self, form: Form, unit: Unit | None) -> Format:
        said = self._said(form, unit)
        if self.per_tensor or (isinstance(unit, Multiplication) and not self._smooths(unit)):
            step = int8_step(self.seen.rows(form.key), self.clip)
            step = step if said is None else said_step(said)
            return Format("int8", np.full(self.seen.tops(form.key).size, step))
        if isinstance(unit, Finishing):
            return self._curve(form, unit)
        if isinstance(unit, Join) and self._has_part(unit, Finishing):
            return self._of_parts(form, unit)
        if said is not None and not isinstance(unit, Multiplication):
            return Format("int8", np.full(self.seen.tops(form.key).size, said_step(said)))
        if isinstance(unit, Attention):
            return Format("int8", self.heads.contexts[unit.value.tensor].steps.astype(np.float64))
        return Format("int8", self._smoothing(form).steps.astype(np.float64))

    def _smoothing(self, form: Form) -> Smoothing:
        """The smoothing of what products read."""
        if form not in self.smoothings:
            x = self.seen.rows(form.key)
            weights = np.concatenate(self._weights(form, x.shape[1]), axis=1)
            found = choose_smoothing(x, weights)
            if self.clip != "error":
                found = replace(found, step=int8_step(x / found.factors, self.clip))
            self.smoothings[form] = found
        return self.smoothings[form]

    def wide(self, usual: Formats) -> Formats:
        """The formats with which products read int16 where they may."""
        self.forms, names = {**self.forms}, []
        for name in may_be_wide(self.segments.graph, self.segments.units):
            unit = self.units[name]
            assert isinstance(unit, Product)
            if self.forms[Form(unit.x.tensor, "small")].type == "int8":
                self._widen(unit)
                names.append(name)
        integers = {name: self.integer(name, WeightType.INT8, "wide") for name in names}
        return replace(
            usual,
            forms=self.forms,
            integers={**usual.integers, **integers},
            int16_operands=frozenset(names),
        )

    def _widen(self, unit: Product) -> None:
        """Choose formats for a product that reads int16: nothing of the calibration is clipped."""
        key = unit.x.tensor
        small, wide, values = Form(key, "small"), Form(key, "wide"), Form(unit.value.key, "heads")
        source = self.units.get(self.segments.units.values[key].tensor)
        steps, tops = self.forms[small].steps, self.seen.tops(key)
        gate = source if isinstance(source, Multiplication) and self._smooths(source) else None
        if gate or isinstance(source, Normalization):
            rows = self.seen.rows(key)
            weights = np.concatenate(self._weights(small, rows.shape[1]), axis=1)
            steps = weight_factors(rows, weights).astype(np.float64)
        reach = float((tops / steps).max()) or 1.0
        found = Format("int16", steps * (reach * INT16_HEADROOM / WIDE_LARGEST))
        self.forms[wide] = _fitting(found, source)
        if gate:
            factor = Form(gate.b.tensor, "wide")
            tops = (self._tops(factor) / steps).astype(np.float32)
            step = max(int16_step(tops), self._least_step(factor))
            self.forms[factor] = Format("int16", steps * step)
        if values_alone(self.segments, unit):
            known = self.forms[values]
            share = float((self.seen.tops(values.key) / known.steps).max()) / INT8_LARGEST
            self.forms[values] = replace(known, steps=known.steps * (share or 1.0))

    def integer(self, name: str, kind: WeightType, role: Role = "small") -> IntegerLinear:
        """A product with rounded weights of a type; the formats of all forms are chosen.

        Its operand has this `role`; of an int16 one, 1 is that of its high byte.
        """
        unit = self.units[name]
        assert isinstance(unit, Product)
        form, columns = Form(unit.x.tensor, role), slice(unit.x.col, unit.x.col + unit.x.cols)
        # Behind a curve means are large; elsewhere those of other texts are other ones.
        found = self.forms[form]
        centered = kind is not WeightType.INT8 and found.type == "uint8"
        place = (form, columns.start, columns.stop, centered)
        if place not in self.correlations:
            rows = self.hidden[form.key] if form.key in self.hidden else self.seen.rows(form.key)
            whole, _ = found.integers(sample_rows(rows, _ROWS))
            x = whole[:, columns].astype(np.float32) - np.float32(found.zero_point)
            self.correlations[place] = correlation(x, centered=centered)
        inputs = self.correlations[place]
        return quantize_linear(
            self.linears[name],
            found.steps[columns] * (RADIX if role == "wide" else 1),
            found.zero_point,
            inputs,
            per_tensor=self.per_tensor,
            kind=kind,
        )

    def _smooths(self, unit: Multiplication) -> bool:
        """Whether columns of a product of two tensors can have steps of their own: those of `b`."""
        b = Form(unit.b.tensor, "wide")
        tensor = self.segments.units.values[b.key].tensor
        return (
            self.segments.made[unit.value.tensor] == ("small",)
            and isinstance(self.units.get(tensor), Product)
            and self.segments.made[tensor] == ("wide",)
            and self.segments.users(b) == [unit]
            and unit.a.tensor != unit.b.tensor
            and b not in self.joined
            and self.seen.tops(b.key).size == unit.b.cols
        )

    def _let_through(self, form: Form) -> Floats:
        """The factor of each column of an int16: that of a product or a rotation it goes into."""
        key = form.key
        for unit in self.segments.users(form):
            if isinstance(unit, Multiplication) and unit.b.tensor == key and self._smooths(unit):
                return self._smoothing(Form(unit.value.key, "small")).factors
        ones = np.ones(self.seen.tops(key).size, np.float32)
        return self.heads.turned.get(key, ones)

    def _weights(self, form: Form, cols: int) -> list[Floats]:
        """The weights of all products that read a form, with a row for each of its columns."""
        found = []
        for unit in self.segments.users(form):
            if isinstance(unit, Product):
                linear = self.linears[unit.value.tensor]
                weights = np.zeros((cols, linear.weights.shape[1]), np.float32)
                weights[unit.x.col : unit.x.col + unit.x.cols] = linear.weights
                found.append(weights)
        return found

    # What is put together of several.

    def _has_part(self, unit: Join, kind: type[Unit]) -> bool:
        return any(isinstance(self.units[name], kind) for name in unit.parts)

    def _of_parts(self, form: Form, unit: Join) -> Format:
        """One step, which curves need; norms have no zero point."""
        x, said = self.seen.rows(form.key), self.heads.said(form.key)
        if self._has_part(unit, Normalization):
            step = int8_step(x, self.clip) if said is None else said_step(said)
            return Format("int8", np.full(x.shape[1], step))
        if said is not None:
            found = HiddenRange.between(min(said[0], 0.0), max(said[1], 1e-6))
        else:
            found = best_range(sample_rows(x, _ROWS), min(float(x.min(initial=0)), 0.0))
        return Format("uint8", np.full(x.shape[1], found.step), found.zero_point)

    # What is behind a curve.

    def _curve(self, form: Form, unit: Finishing) -> Format:
        x = self.seen.rows(form.key)
        users = self.segments.users(form)
        product = unit.product.value.tensor
        if (
            self.clip == "error"
            and unit.function == "gelu"
            and len(users) == 1
            and isinstance(users[0], Product)
            and users[0].x.cols == x.shape[1]
            and product in self.segments.fused
            and self.heads.said(form.key) is None
        ):
            return self._spread(unit, users[0], x)
        found = self._range(form, unit, x)
        return Format("uint8", np.full(x.shape[1], found.step), found.zero_point)

    def _range(self, form: Form, unit: Finishing, x: Floats) -> HiddenRange:
        """The range behind a curve whose outliers are not spread."""
        said = self._said(form, unit)
        if said is not None:
            return HiddenRange.between(min(said[0], 0.0), max(said[1], 1e-6))
        least = ACTIVATIONS[unit.function].least if unit.function in ACTIVATIONS else 0.0
        if self.clip == "error":
            return best_range(sample_rows(x, _ROWS), least)
        return HiddenRange.between(least, top_of(x[x > 0], self.clip) or 1.0)

    def _spread(self, unit: Finishing, down: Product, hidden: Floats) -> Format:
        up, computed = unit.product, self.curves[unit.value.tensor]
        first, second = self.linears[up.value.tensor], self.linears[down.value.tensor]
        spread = spread_outliers(first, second, hidden)
        before = self.seen.rows(up.value.key)
        self.linears[up.value.tensor] = spread.up
        self.linears[down.value.tensor] = center(spread, second, before, hidden, computed)
        self.hidden[unit.value.key] = computed(sample_rows(spread.entering(before), _ROWS))
        return Format("uint8", np.full(hidden.shape[1], spread.range.step), spread.range.zero_point)


def _lost(found: Format, rows: Floats) -> float:
    """The squared error of rows as integers."""
    whole, _ = found.integers(rows)
    lost = found.numbers(whole) - rows
    return float(np.vdot(lost, lost))


def _end(unit: Unit | None) -> float | None:
    """Where the int16 of a unit's results ends, by saturation; None: some way above all seen."""
    if isinstance(unit, Finishing | Rectified):
        return unit.most
    return 1.0 if isinstance(unit, Function) and unit.function == "softmax" else None


def _source(unit: Finishing | Function) -> str:
    """The value that a curve takes."""
    return unit.product.value.key if isinstance(unit, Finishing) else unit.x.tensor


def _fitting(found: Format, unit: Unit | None) -> Format:
    """`found`, in larger steps if gamma or beta of a normalization do not fit in its own."""
    if not isinstance(unit, Normalization):
        return found
    norm = unit.norm  # Of each head, where these are normalized.
    return replace(
        found, steps=found.steps * least_growth(norm, found.steps.reshape(-1, norm.gamma.size))
    )
