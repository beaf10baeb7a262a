"""The units of an accelerator whose stores finish all that it computes: products, with a ReLU."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.quantize.caps import uncapped
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Finishing, Join, Product, Units
from celosia.sw.quantize.units.wide_operands import widened

__all__ = ["units_of"]

_MORE: Final = "stores finish no more than products with a ReLU"
_READ: Final = "the host reads it, and has its sums"


def units_of(
    graph: FloatGraph,
    apart: Collection[str] = frozenset(),
    caps: Mapping[str, float] | None = None,
    *,
    per_tensor: bool = False,
    wide: Collection[str] = frozenset(),
) -> Units:
    """The units of a graph behind `recognize`: all, or `per_tensor` those that stores finish.

    The host puts the tensors in `apart` together; the products in `wide` read int16.  Scores that
    a tanh keeps small are multiplied by the factors in `caps` instead (`uncapped`).

    A ReLU that the host reads is the host's: it reads sums, and loses nothing of them.

    Raises `GraphError` that names a product which cannot read int16.
    """
    units = find_units(uncapped(graph, caps), apart)
    if wide:
        expect(not per_tensor, "products with one scale do not read int16")
        return widened(units, wide, graph)
    if not per_tensor:
        return units
    units = _some(units, {name for name, unit in units.units.items() if _is_stored(unit)}, _MORE)
    products = {unit.value.tensor for unit in units.of(Product)}
    read = plan_segments(graph, units, products).host_reads
    kept = {name for name in units.units if name in products or name not in read}
    return _some(units, kept, _READ)


def _is_stored(unit: object) -> bool:
    relu = isinstance(unit, Finishing) and unit.function == "relu"
    return relu or isinstance(unit, Product)


def _some(units: Units, kept: set[str], reason: str) -> Units:
    """Some units, by the tensors that they compute; the host computes the others for a reason."""
    found = {name: unit for name, unit in units.units.items() if name in kept}
    keys = {unit.value.key for unit in found.values()}
    keys |= {form.key for unit in found.values() for form in unit.reads()}
    left = (unit for name, unit in units.units.items() if name not in kept)
    others = {name: reason for unit in left if not isinstance(unit, Join) for name in unit.nodes}
    return replace(
        units,
        units=found,
        values={key: value for key, value in units.values.items() if key in keys},
        refusals=units.refusals | others,
    )
