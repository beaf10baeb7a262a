"""Decoders of any shape with seeded random integers as weights, for what needs no trained one.

Steps are chosen by the spread of random sums, so that every tensor uses its range: nothing is
calibrated, and a decoder of the size of GPT-2 is there within seconds.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import CONTEXT_FRACTION_BITS
from celosia.isa.numerics.integers import INT16_MAX
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.models.decoder_graph import decoder_float_graph
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.ranges import INT8_LARGEST
from celosia.sw.quantize.spread import HiddenRange
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import Segments, plan_segments
from celosia.sw.quantize.units.units import Attention, Finishing, Product
from celosia.sw.quantize.units.values import Form, Role
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes, largest_weight
from celosia.sw.reference.encoder import Floats

__all__ = ["STREAM", "random_decoder"]

STREAM: Final = 2000.0
"""Standard deviation of the sums of embeddings in int16, which is 1."""
_WEIGHTS: Final = 40.0
"""Standard deviation of weights."""
_SMALL: Final = 32.0
"""Standard deviation of int8."""
_EPSILON: Final = 0.01
"""Added to the mean of squares."""
_ADDED: Final = 300.0
"""Standard deviation of what a layer's part adds to the stream, in int16."""
_WORDS: Final = 4000.0
"""Standard deviation of other int16."""
_SCORES: Final = 2.0
"""Standard deviation of scores."""
_SPREAD: Final = 0.1
"""Standard deviation of gamma and beta."""
_HIDDEN: Final = HiddenRange.between(ACTIVATIONS["gelu"].least, 6.0)
"""The range behind GELU."""

_SUMS: Final = frozenset(("logits",))
"""Products that stay sums."""
_SCORED: Final = np.sqrt(_SCORES) / _SMALL
"""The step of queries and keys."""
_STEPS: Final[Mapping[str, float]] = {
    "embedding": 1 / STREAM,
    "attention_sum": 1 / STREAM,
    "sum": 1 / STREAM,
    "query": _SCORED * _SMALL / _WORDS,
    "key": _SCORED * _SMALL / _WORDS,
    "up": 1 / _WORDS,
    "gated": 1 / _WORDS,
    "context": 2.0 ** (14 - CONTEXT_FRACTION_BITS) / _SMALL,
}
"""What 1 stands for in values of these names; of others it is that of `_SMALL`."""


def random_decoder(
    shape: DecoderShape,
    seed: int,
    length: int = 1,
    *,
    whole: bool = True,
    weights: WeightTypes = INT8_WEIGHTS,
) -> Decoder:
    """The decoder of this shape and seed, from sums of embeddings on, for texts of `length`.

    Without being `whole` it has no last norm and no vocabulary.  Products have `weights`.
    """
    random = np.random.default_rng(seed)

    def tensor(name: str, size: tuple[int, ...]) -> Floats:
        if len(size) > 1:  # Integers are drawn: nothing reads these.
            return np.broadcast_to(np.zeros((), np.float32), size)
        found = _SPREAD * random.standard_normal(size)
        return (found if name.endswith("beta") else 1 + found).astype(np.float32)

    graph = decoder_float_graph(shape, tensor, length, _EPSILON, whole=whole)
    return Decoder(graph, _formats(graph, random, weights))


def _formats(graph: FloatGraph, random: np.random.Generator, weights: WeightTypes) -> Formats:
    """Random integers of all products, and the formats of all forms."""
    found = step_graph(graph, [Text(0, 1)]).graph
    segments = plan_segments(found, find_units(found), _SUMS)
    types, units = found.types(), segments.units
    forms = {}
    for form in segments.forms:
        value = units.values[form.key]
        forms[form] = _format(segments, form, value.shape(types[value.tensor])[1])
    finishes = {unit.product.value.tensor: unit for unit in units.of(Finishing)}
    return Formats(
        forms,
        {
            unit.value.tensor: _linear(
                random, unit, forms, finishes.get(unit.value.tensor), weights
            )
            for unit in units.of(Product)
        },
        {
            unit.value.tensor: Computed(unit.function)
            for unit in units.of(Finishing)
            if unit.function in ACTIVATIONS
        },
        frozenset(unit.value.tensor for unit in units.of(Attention)),
        sums=_SUMS,
    )


def _format(segments: Segments, form: Form, cols: int) -> Format:
    """The format of a form, by the name of its tensor."""
    tensor = segments.units.values[form.key].tensor
    name, unit = tensor.rpartition(".")[2], segments.units.units.get(tensor)
    if form.role == "angles":
        return Format("int16", np.full(cols, 1 / INT16_MAX))
    if isinstance(unit, Finishing) and unit.function == "gelu":
        return Format("uint8", np.full(cols, _HIDDEN.step), _HIDDEN.zero_point)
    kind = "int16" if form.role == "wide" else "int8"
    scored = form.role == "heads" and name != "value"
    step = _SCORED if scored else _STEPS.get(name, 1 / _SMALL)
    return Format(kind, np.full(cols, step))


def _linear(
    random: np.random.Generator,
    unit: Product,
    forms: Mapping[Form, Format],
    finish: Finishing | None,
    types: WeightTypes,
) -> IntegerLinear:
    """Weights, bias and a step for each column, for results of a spread that fills their type."""
    inputs, outputs = unit.linear.weights.shape
    last = unit.value.tensor in _SUMS
    kind = types.last if last else types.inner
    most = largest_weight(kind)
    spread = _WEIGHTS * most / INT8_LARGEST
    sums = _SMALL * spread * np.sqrt(inputs)
    step = _spread(unit, forms, finish) / sums * random.uniform(0.7, 1, outputs)
    bias = (random.standard_normal(outputs) * (0 if last else sums / 8)).astype(np.int32)
    return IntegerLinear(_drawn(random, (inputs, outputs), spread, most), bias, step, kind)


def _spread(unit: Product, forms: Mapping[Form, Format], finish: Finishing | None) -> float:
    """The standard deviation of what a product computes, as a real number."""
    if finish is not None:
        added = finish.residual is not None
        return _ADDED / STREAM if added else 1.0
    sizes: tuple[tuple[Role, float], ...] = (("heads", _SMALL), ("wide", _WORDS))
    for role, size in sizes:
        if Form(unit.value.key, role) in forms:
            return size * float(forms[Form(unit.value.key, role)].steps[0])
    return 1.0


def _drawn(
    random: np.random.Generator, shape: tuple[int, int], spread: float, most: int
) -> NDArray[np.int8]:
    """Weights of this standard deviation, up to `most` of either sign."""
    values = random.standard_normal(shape, np.float32)
    values *= np.float32(spread)
    np.rint(values, out=values)
    return np.clip(values, -most, most, out=values).astype(np.int8)
