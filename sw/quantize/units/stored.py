"""The units of an accelerator whose stores finish all that it computes: products, with a ReLU."""

from collections.abc import Collection
from dataclasses import replace

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Finishing, Product, Units

__all__ = ["units_of"]

_REASON = "stores finish no more than products with a ReLU"


def units_of(
    graph: FloatGraph, apart: Collection[str] = frozenset(), *, per_tensor: bool = False
) -> Units:
    """The units of a graph behind `recognize`: all, or `per_tensor` those that stores finish.

    The host puts the tensors in `apart` together.

    A ReLU that the host reads is the host's: it reads sums, and loses nothing of them.
    """
    units = find_units(graph, apart)
    if not per_tensor:
        return units
    units = _some(units, {name for name, unit in units.units.items() if _is_stored(unit)})
    products = {unit.value.tensor for unit in units.of(Product)}
    read = plan_segments(graph, units, products).host_reads
    return _some(units, {name for name in units.units if name in products or name not in read})


def _is_stored(unit: object) -> bool:
    relu = isinstance(unit, Finishing) and unit.function == "relu"
    return relu or isinstance(unit, Product)


def _some(units: Units, kept: set[str]) -> Units:
    """Some units, by the tensors that they compute; the host computes what others stand for."""
    found = {name: unit for name, unit in units.units.items() if name in kept}
    keys = {unit.value.key for unit in found.values()}
    keys |= {form.key for unit in found.values() for form in unit.reads()}
    left = (unit for name, unit in units.units.items() if name not in kept)
    return replace(
        units,
        units=found,
        values={key: value for key, value in units.values.items() if key in keys},
        refusals=units.refusals | {name: _REASON for unit in left for name in unit.nodes},
    )
