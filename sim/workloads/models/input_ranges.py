"""What calibration has seen, and notes on runs and calibrations that it does not fit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.quantize.units.units import Product, Units

__all__ = ["Ranges", "far_outside", "few_rows", "input_ranges"]

Ranges = Mapping[str, tuple[float, float]]
"""The least and the largest number of each input of numbers, by its name."""

_FAR: Final = 0.5
"""An input is far outside of a range where it leaves it by more than this share of its width."""
_KEPT_DB: Final = 30.0
"""It is, too, where less is left of it once it is cut off at the range's ends: many elements are a
little outside.  Eight bits keep more of most inputs, so that this is what is lost."""
_ENOUGH: Final = 2
"""Rows for each column of a product that calibration needs: fewer cost decibels."""
_NEEDED: Final = (128, 512)
"""So many rows are needed for the narrowest products, and do for the widest."""


def input_ranges(
    inputs: Mapping[str, TensorType], samples: Sequence[Mapping[str, Array]]
) -> dict[str, tuple[float, float]]:
    """The ranges of inputs in calibration; minus infinity, which hides a key, is none of it."""
    found = {}
    for name, kind in inputs.items():
        if not kind.is_float or not kind.size:
            continue
        arrays = [array[np.isfinite(array)] for array in (sample[name] for sample in samples)]
        if any(array.size for array in arrays):
            low = min(float(array.min()) for array in arrays if array.size)
            found[name] = (low, max(float(array.max()) for array in arrays if array.size))
    return found


def far_outside(ranges: Ranges, given: Mapping[str, Array]) -> Iterator[str]:
    """A note on each input of a run that is far outside of its range in calibration."""
    for name, (low, high) in ranges.items():
        array = given[name][np.isfinite(given[name])]
        if not array.size:
            continue
        least, most = float(array.min()), float(array.max())
        beyond, width = max(low - least, most - high), high - low
        if beyond > _FAR * width or decibels(array, array.clip(low, high)) < _KEPT_DB:
            far = f"{beyond / width:,.1f} times its width" if width else f"{beyond:,.4g}"
            yield (
                f"{name}: its elements are in {least:,.4g}..{most:,.4g}, those of the calibration "
                f"in {low:,.4g}..{high:,.4g}: outside of that by {far}, so much of it saturates"
            )


def few_rows(
    graph: FloatGraph, units: Units, masks: Sequence[str], samples: Sequence[Mapping[str, Array]]
) -> Iterator[str]:
    """A note where the product that needs the most rows of calibration has too few."""
    types = graph.types()
    nodes = graph.producers()
    worst: tuple[int, int, int, str] | None = None
    for name, unit in units.units.items():
        if isinstance(unit, Product):
            value = units.values[unit.x.tensor]
            rows, _ = value.shape(types[value.tensor])
            seen = sum(_shown(sample, masks, rows) for sample in samples)
            columns = len(unit.linear.weights)
            least, most = _NEEDED
            needed = min(max(_ENOUGH * columns, least), most)
            if seen < needed and (worst is None or needed - seen > worst[1] - worst[0]):
                worst = (seen, needed, columns, nodes[unit.nodes[0]].origin or name)
    if worst is not None:
        seen, needed, columns, place = worst
        yield (
            f"few rows of calibration: {seen:,} for the {columns:,} columns of {place}: steps and "
            f"weights fit the model better with {needed:,} or more"
        )


def _shown(sample: Mapping[str, Array], masks: Sequence[str], rows: int) -> int:
    """The rows of a sample that calibration looks at: tokens that a mask hides are left out."""
    if len(masks) == 1 and (mask := np.asarray(sample[masks[0]])).size == rows:
        return int(np.count_nonzero(mask))
    return rows
