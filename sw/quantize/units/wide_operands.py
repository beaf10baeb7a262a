"""Products that read int16: which may, and the units of a graph in which some do."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.quantize.units.joins import joined_forms
from celosia.sw.quantize.units.segments import Segments, plan_segments
from celosia.sw.quantize.units.units import Attention, Finishing, Product, Unit, Units
from celosia.sw.quantize.units.values import Form, Role
from celosia.sw.quantize.units.vectors import Multiplication

__all__ = ["may_be_wide", "values_alone", "weighed", "weighed_columns", "wide_forms", "widened"]

_ENDS: Final[tuple[tuple[Role, ...], ...]] = (("wide",), ("heads",))
"""The forms that such products make, if no finish reads them."""


def widened(units: Units, names: Collection[str], graph: FloatGraph) -> Units:
    """The units of `graph` with products that read int16, by the tensors that they compute.

    Raises `GraphError` that names one which cannot.
    """
    able = may_be_wide(graph, units)
    for name in names:
        expect(name in able, f"{name}: cannot read int16")

    def wide(unit: Product) -> Product:
        return replace(unit, wide=unit.value.tensor in names)

    def changed(unit: Unit) -> Unit:
        if isinstance(unit, Finishing):
            return replace(unit, product=wide(unit.product))
        return wide(unit) if isinstance(unit, Product) else unit

    return replace(units, units={name: changed(unit) for name, unit in units.units.items()})


def may_be_wide(graph: FloatGraph, units: Units) -> tuple[str, ...]:
    """The products that may read int16, by the tensors that they compute.

    Their results are int16, alone or with a residual, or only what attention reads; nobody reads
    their sums.  What they read is a whole value that its unit can make as int16, and that nobody
    else reads as int16.
    """
    return tuple(_may(plan_segments(graph, units)))


def _may(segments: Segments) -> Iterator[str]:
    joined, units = joined_forms(segments), segments.units.units
    onto = {u.product.value.tensor for u in segments.units.of(Finishing) if u.residual is not None}
    for unit in segments.units.of(Product):
        name, key = unit.value.tensor, unit.x.tensor
        ends = name in onto if name in segments.fused else segments.made[name] in _ENDS
        small, wide = Form(key, "small"), Form(key, "wide")
        if not ends or small in joined or small in segments.converted or segments.users(wide):
            continue
        # Attention makes one form: other readers would have the host convert it.
        source = units.get(segments.units.values[key].tensor)
        if isinstance(source, Attention) and len(segments.users(small)) > 1:
            continue
        if source is None or source.value.tensor in segments.host_reads:
            continue
        if source.makes({"wide"}) == {"wide"}:
            yield name


def wide_forms(units: Units, name: str) -> tuple[Form, ...]:
    """The forms whose steps are other ones if a product reads int16.

    They are those of its operand, of the factor that this lets through, and of values.
    """
    unit = units.units[name]
    assert isinstance(unit, Product)
    key = unit.x.tensor
    found = [Form(key, "wide"), Form(unit.value.key, "heads")]
    source = units.units.get(units.values[key].tensor)
    if isinstance(source, Multiplication):
        found.append(Form(source.b.tensor, "wide"))
    return tuple(found)


def values_alone(segments: Segments, unit: Product) -> bool:
    """Whether attention reads what a product makes as values, and nobody as anything else."""
    key, readers = unit.value.key, segments.users(Form(unit.value.key, "heads"))
    heads = [h for each in readers if isinstance(each, Attention) for t in each.heads for h in t]
    others = {view.tensor for head in heads for view in (head.query, head.key)}
    attends = all(isinstance(each, Attention) for each in readers)
    return bool(heads) and attends and key not in others


def weighed(segments: Segments, unit: Product) -> bool:
    """Whether values have two bytes: only if what attention makes of them is int16, too.

    Attention of a later segment reads them in one.
    """
    place = segments.segment_of[unit.value.tensor]
    readers = {each.value.tensor for each in segments.users(Form(unit.value.key, "heads"))}
    fine = all(segments.made[each] == ("wide",) for each in readers)
    here = all(segments.segment_of[each] == place for each in readers)
    return fine and here and values_alone(segments, unit)


def weighed_columns(segments: Segments, unit: Product) -> list[tuple[int, int]]:
    """The first column and the width of each head of values."""
    readers = segments.users(Form(unit.value.key, "heads"))
    units = [each for each in readers if isinstance(each, Attention)]
    views = [head.value for each in units for text in each.heads for head in text]
    return sorted({(view.col, view.cols) for view in views if view.tensor == unit.value.key})
