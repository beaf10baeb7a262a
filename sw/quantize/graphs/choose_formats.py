"""Formats of all forms and products of a graph, by what calibration has seen."""

from collections.abc import Callable, Sequence

from celosia.sw.quantize.graphs.chooser import Chooser
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import Segments, plan_segments
from celosia.sw.quantize.units.weight_kinds import weight_kinds
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = ["choose_each", "choose_formats"]


def choose_formats(
    segments: Segments,
    seen: Observed,
    clip: Clip = "error",
    progress: Callable[[int, int], object] = lambda done, total: None,
    notes: tuple[str, ...] = (),
    *,
    per_tensor: bool = False,
    weights: WeightTypes = INT8_WEIGHTS,
) -> Formats:
    """The formats by what calibration has `seen` of a graph, of whatever sizes.

    `per_tensor`, its segments have the units that stores finish.  Products have `weights`.
    Raises `GraphError` that names a product of odd inputs whose weights are packed in pairs.
    """
    (found,) = choose_each(
        segments, seen, clip, progress, notes, per_tensor=per_tensor, weights=(weights,)
    )
    return found


def choose_each(
    segments: Segments,
    seen: Observed,
    clip: Clip = "error",
    progress: Callable[[int, int], object] = lambda done, total: None,
    notes: tuple[str, ...] = (),
    *,
    per_tensor: bool = False,
    weights: Sequence[WeightTypes],
    wide: bool = False,
) -> tuple[Formats, ...]:
    """`choose_formats` for each of some types of weights, between which only products differ.

    With `wide`, there is one more, with which products read int16 where they may.
    """
    apart = Chooser(segments, seen, clip, per_tensor=per_tensor).apart()
    if apart:
        units = find_units(segments.graph, apart)
        segments = plan_segments(segments.graph, units)
    chooser = Chooser(segments, seen, clip, per_tensor=per_tensor)
    forms = [form for form in segments.forms if form.role != "onto"]
    total = len(forms) + len(chooser.linears) * len(weights)
    for number, form in enumerate(forms):
        chooser.choose(form)
        progress(number + 1, total)
    stored = frozenset(name for name, scores in seen.scores.items() if scores.may_wait)
    dithered = frozenset(name for name, scores in seen.scores.items() if scores.gains_by_dither)
    found, done = [], len(forms)
    for types in weights:
        kinds = weight_kinds(segments, types)
        integers = {}
        for name in chooser.linears:
            integers[name] = chooser.integer(name, kinds[name])
            done += 1
            progress(done, total)
        found.append(
            Formats(
                chooser.forms,
                integers,
                chooser.curves,
                stored,
                notes,
                sums=frozenset(integers) if per_tensor else frozenset(),
                apart=apart,
                per_tensor=per_tensor,
                dithered=dithered,
            )
        )
    return (*found, chooser.wide(found[0])) if wide else tuple(found)
