"""Formats of a model from samples of its inputs, which may be of different sizes.

Formats are those of named tensors: they know no length.  `instantiate` makes integer graphs of them
for any sizes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType, expect
from celosia.sw.quantize.caps import cap_notes, uncapped
from celosia.sw.quantize.graphs.choose_formats import choose_each
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.observe import Observed, SeenAttention, Watched, fit_caps, observe
from celosia.sw.quantize.graphs.quantized import added_to_scores, check_inputs, padded_masks
from celosia.sw.quantize.ranges import SCORES_LIMIT, Clip
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.units import Attention, Product, Units
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = ["GraphOf", "calibrate", "calibrate_each"]

_Pair = tuple[Watched, Mapping[str, Array]]

GraphOf = Callable[[Mapping[str, TensorType]], FloatGraph]
"""The float graph of a model, behind `recognize`, for inputs of these types."""


def calibrate(
    graph_of: GraphOf,
    samples: Sequence[Mapping[str, Array]],
    progress: Callable[[str, int, int], object] = lambda what, done, total: None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    *,
    clip: Clip = "error",
    per_tensor: bool = False,
    weights: WeightTypes = INT8_WEIGHTS,
) -> Formats:
    """The formats of a model, by `samples` of its inputs, each of sizes of its own.

    Tensors in `ranges`, which a file says, have these instead of what the samples show.  `clip` is
    the criterion by which values of 8 bits are clipped.  `per_tensor`, all that the accelerator
    computes is what stores finish: products whose operands and weights have one step each.
    Products have `weights`.

    Raises `GraphError` for samples that do not fit, or of which there is none, and for values that
    are not finite.
    """
    (found,) = calibrate_each(
        graph_of,
        samples,
        progress,
        ranges,
        clip=clip,
        per_tensor=per_tensor,
        weights=(weights,),
    )
    return found


def calibrate_each(
    graph_of: GraphOf,
    samples: Sequence[Mapping[str, Array]],
    progress: Callable[[str, int, int], object] = lambda what, done, total: None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    *,
    clip: Clip = "error",
    per_tensor: bool = False,
    weights: Sequence[WeightTypes],
    wide: bool = False,
) -> tuple[Formats, ...]:
    """`calibrate` for each of some types of weights, between which only products differ.

    With `wide`, there are also formats of operands that products may read as int16.
    """
    expect(bool(samples), "there is no sample to calibrate on")
    graphs: dict[frozenset[tuple[str, TensorType]], FloatGraph] = {}
    keys = []
    for sample in samples:
        types = {name: TensorType.of(np.asarray(array)) for name, array in sample.items()}
        keys.append(frozenset(types.items()))
        if keys[-1] not in graphs:
            graphs[keys[-1]] = graph_of(types)

    def watched(caps: Mapping[str, float] | None) -> tuple[_Model, list[_Pair]]:
        models = {key: _Model(graph, caps, per_tensor=per_tensor) for key, graph in graphs.items()}
        pairs = []
        for number, (key, sample) in enumerate(zip(keys, samples, strict=True)):
            pairs.append((models[key].watched, models[key].checked(sample, number)))
        return models[keys[0]], pairs

    first, pairs = watched(None)
    fits = fit_caps(pairs)
    caps = {name: fit.factor for name, fit in fits.items() if fit.fits}
    if fits:
        first, pairs = watched(caps)
    _check_biases(first.graph, first.units)
    values = [value for value in first.units.values.values() if not value.scores]
    seen = observe(values, pairs, lambda done, total: progress("calibrating", done, total))
    seen.said.update(ranges or {})
    products = {unit.value.tensor for unit in first.units.of(Product)} if per_tensor else ()
    segments = plan_segments(uncapped(first.graph, caps), first.units, products)
    chosen = choose_each(
        segments,
        seen,
        clip,
        lambda done, total: progress("choosing formats", done, total),
        (*_notes(seen), *cap_notes(first.graph, fits)),
        per_tensor=per_tensor,
        weights=weights,
        wide=wide,
    )
    return tuple(replace(formats, caps=caps) for formats in chosen)


class _Model:
    """A model for inputs of some sizes."""

    def __init__(self, graph: FloatGraph, caps: Mapping[str, float] | None, *, per_tensor: bool):
        self.graph, self.units = graph, units_of(graph, caps=caps, per_tensor=per_tensor)
        masks = sorted(set(padded_masks(graph, self.units)))
        attentions = [SeenAttention(unit, self.units.values) for unit in self.units.of(Attention)]
        self.watched = Watched(graph, masks, attentions)
        self._onto = added_to_scores(self.units.values, graph.nodes)

    def checked(self, sample: Mapping[str, Array], number: int) -> dict[str, Array]:
        """A sample as `check_inputs` returns it; its message says which one does not fit."""
        try:
            return check_inputs(self.graph.inputs, self.watched.masks, sample, self._onto)
        except GraphError as error:
            raise GraphError(f"sample {number} of the calibration: {error}") from None


def _check_biases(graph: FloatGraph, units: Units) -> None:
    """Raise `GraphError` that names a product with a bias that is not finite."""
    nodes = graph.producers()
    for unit in units.of(Product):
        if not np.isfinite(unit.linear.bias).all():
            count = int((~np.isfinite(unit.linear.bias)).sum())
            place = nodes[unit.nodes[-1]].origin or unit.value.tensor
            size = unit.linear.bias.size
            raise GraphError(f"{place}: {count:,} of its {size:,} addends are not finite")


def _notes(seen: Observed) -> Iterator[str]:
    for tensor, scores in seen.scores.items():
        if scores.saturates:
            yield (
                f"{tensor}: maxima of scores are {scores.least:,.0f} to {scores.most:,.0f} in the "
                f"calibration; beyond {SCORES_LIMIT:,.0f} they saturate, and count as equal"
            )
