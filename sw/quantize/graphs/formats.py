"""Integer formats: the type of a form, what 1 stands for in each column, what stands for 0."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.operators.operator import Array, expect
from celosia.sw.ir.graph import View
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.ranges import (
    INT8_LARGEST,
    STORED_KEYS,
)
from celosia.sw.quantize.units.segments import Segments
from celosia.sw.quantize.units.units import (
    Append,
    Attention,
    Product,
    Units,
)
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.units.wide_operands import wide_forms
from celosia.sw.reference.encoder import Floats

__all__ = ["Format", "Formats", "mixed", "with_int16"]

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
        """What 1 stands for.  Raises `GraphError` where it is not the same in each column."""
        expect(bool((self.steps == self.steps[0]).all()), "columns have steps of their own")
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
    """All but those of sums, and of what is added to scores, which have steps of others."""
    integers: dict[str, IntegerLinear]
    """Products, outliers spread over channels, by the tensor that each computes."""
    curves: dict[str, Computed]
    """How curves are computed, by their tensors."""
    stored: frozenset[str]
    """The tensors of attention whose scores may wait in memory, where rows are long."""
    notes: tuple[str, ...] = ()
    """What calibration has found that costs accuracy."""
    sums: frozenset[str] = frozenset()
    """The tensors of products of which the host reads sums, int32: no step is chosen for these."""
    apart: frozenset[str] = frozenset()
    """The tensors that the host puts together, since one step for all of their parts costs more."""
    alike_heads: bool = False
    """Heads of an attention have the scale of its last one, where theirs differ by roundings alone:
    a program repeats what one head does.  Otherwise each has its own."""
    per_tensor: bool = False
    """Weights, and what products read, have one step: stores finish them (`units_of`)."""
    int16_operands: frozenset[str] = frozenset()
    """The tensors of products that read int16; of these, `integers` are for its high bytes."""
    dithered: frozenset[str] = frozenset()
    """The tensors of attention whose numerators are dithered: in rows of any length, so that they
    do not depend on how many keys a program has room for."""
    caps: Mapping[str, float] = field(default_factory=dict)
    """What scores are multiplied by instead of a tanh that keeps them small, by the tensors of
    attention; the host computes those with a tanh that are not in it."""

    def fitted(self, segments: Segments) -> dict[Form, Format]:
        """The format of each form of `segments`, whose graph may have other sizes.

        Raises `GraphError` that names a form or a product that was not calibrated, or was in
        another number of columns that have steps of their own.
        """
        types = segments.graph.types()
        for unit in segments.units.of(Product):
            name, wanted = unit.value.tensor, unit.linear.weights.shape
            expect(name in self.integers, f"{name}: no such product was calibrated")
            found = self.integers[name].weights.shape
            expect(found == wanted, f"{name}: weights of {wanted} were calibrated as {found}")
        forms: dict[Form, Format] = {}
        caches = {unit.value.key: unit for unit in segments.units.of(Append)}
        for form in segments.forms:
            value = segments.units.values[form.key]
            if form.role != "onto" and form.key not in caches:
                forms[form] = self._fitted(form, value.shape(types[value.tensor])[1])
        for form in segments.forms:
            if form.key in caches:
                forms[form] = _held(caches[form.key], forms)
        for form in segments.forms:
            if form.role == "onto":
                attention = segments.units.units[segments.units.values[form.key].scores]
                assert isinstance(attention, Attention)
                forms[form] = Format("int32", _score_steps(attention, forms))
        return forms

    def _fitted(self, form: Form, cols: int) -> Format:
        expect(form in self.forms, f"{form.key}: it was not calibrated as {form.role}")
        found = self.forms[form]
        if found.steps.size == cols:
            return found
        expect(
            bool((found.steps == found.steps[0]).all()),
            f"{form.key}: its {cols} columns were calibrated as {found.steps.size}, "
            "each with a step of its own",
        )
        return replace(found, steps=np.full(cols, found.steps[0]))

    def may_wait(self, unit: Attention, keys: int) -> bool:
        """Whether rows of so many scores of `unit` may wait in memory."""
        return keys > STORED_KEYS and unit.value.tensor in self.stored


def with_int16(usual: Formats, wide: Formats, names: Collection[str], units: Units) -> Formats:
    """`usual`, with products of these `names`, the tensors that they compute, as `wide` has them.

    `wide` has formats with which they read int16.
    """
    forms = [form for name in names for form in wide_forms(units, name) if form in wide.forms]
    return replace(
        usual,
        forms={**usual.forms, **{form: wide.forms[form] for form in forms}},
        integers={**usual.integers, **{name: wide.integers[name] for name in names}},
        int16_operands=frozenset(names),
    )


def mixed(
    each: tuple[Formats, Formats, Formats],
    packed: Collection[str],
    wide: Collection[str],
    units: Units,
) -> Formats:
    """The first of `each`, with `packed` products as the second has them, `wide` ones as the third.

    Products are named by the tensors that they compute.
    """
    usual, four, sixteen = each
    integers = {
        name: four.integers[name] if name in packed else found
        for name, found in usual.integers.items()
    }
    return with_int16(replace(usual, integers=integers), sixteen, wide, units)


def _held(unit: Append, forms: Mapping[Form, Format]) -> Format:
    """The format of a cache: that of what is appended to it."""
    source = forms[Form(unit.parts[0].tensor, "heads")]
    steps = [source.steps[part.col : part.col + part.cols] for part in unit.parts]
    return replace(source, steps=np.concatenate(steps))


def _score_steps(unit: Attention, forms: Mapping[Form, Format]) -> NDArray[np.float64]:
    """What 1 stands for in scores, key by key of each head."""

    def step(view: View) -> np.float64:
        return forms[Form(view.tensor, "heads")].steps[view.col]

    return np.concatenate([
        np.full(head.key.rows, unit.scale_of(head) * float(step(head.query) * step(head.key)))
        for head in unit.heads[0]
    ])
