"""The integers of quantized models as digests, whatever their tensors and operators are called.

Run as ``python -m tests.support.frozen_integers NAME...``, it prints a JSON object: a digest for
each export of the catalog, for ``random encoder`` and ``random decoder``, and for an export behind
``int4`` and ``int16``: with such weights, or operands; two for ``minilm``.  Sums of floating-point
numbers depend on the kernels that NumPy and OpenBLAS choose for a processor, and a digest on their
last digits: `frozen_environment` names kernels that every x86-64 of the last ten years has.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.ir.graph import Graph, View
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.models.random_decoder import random_decoder
from celosia.sw.models.sentences import quantize_published
from celosia.sw.quantize.graphs.calibrate import calibrate_each
from celosia.sw.quantize.graphs.formats import with_int16
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.wide_operands import may_be_wide
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.reference.language.shape import LayerShape
from tests.support.quantized_exports import inputs, quantized, recognized
from tests.support.quantized_graph import quantize_graph

__all__ = ["digest_of_graph", "frozen_environment"]

LENGTHS = (5, 1, 8)
"""Tokens of the texts of encoders."""
SHAPE = EncoderShape(layers=2, width=48, heads=4, hidden=96)
LAYER = LayerShape(heads=4, key_heads=4, head_width=8, hidden=64)
DECODER = DecoderShape(form="gpt2", width=32, vocabulary=50, layers=(LAYER,))
TEXTS = (Text(9, 1), Text(0, 1))
"""What a step of the random decoder goes on with."""
TOKENS = range(0, 25_600, 100)
"""A text of the published model."""
ADDED = ("dithered", "window", "ring")
"""Fields that came behind the digests: a part of them where they are set."""


def frozen_environment() -> dict[str, str]:
    """The environment in which digests do not depend on the processor."""
    return {
        **os.environ,
        "OPENBLAS_CORETYPE": "Haswell",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    }


def digest_of_graph(graph: Graph) -> str:
    """Operators in their order, with sizes, types and masks, scales as float32, and constants.

    Neither names nor steps, which are what integers stand for, are part of it.
    """
    state = blake2b(digest_size=16)
    places: dict[str, int] = {}

    def take(value: Any) -> None:
        if isinstance(value, View):
            tensor = graph.tensors[value.tensor]
            seen = value.tensor in places
            place = places.setdefault(value.tensor, len(places))
            state.update(repr((place, value.row, value.rows, value.col, value.cols)).encode())
            if not seen:
                state.update(repr((tensor.type, tensor.shape, tensor.cache)).encode())
                if value.tensor in graph.constants:
                    state.update(np.ascontiguousarray(graph.constants[value.tensor]).tobytes())
        elif is_dataclass(value):
            state.update(type(value).__name__.encode())
            for field in fields(value):
                own = getattr(value, field.name)
                if field.name != "name" and (own or field.name not in ADDED):
                    take(own)
        elif isinstance(value, tuple):
            for each in value:
                take(each)
        else:
            state.update(repr(np.float32(value) if isinstance(value, float) else value).encode())

    for op in graph.ops:
        take(op)
    return state.hexdigest()


def digest_of_model(model: QuantizedGraph) -> str:
    """The digest of a model's segments, and of what the host makes integers by."""
    state = blake2b(digest_size=16)
    for segment in model.segments:
        state.update(digest_of_graph(segment.graph).encode())
    for form, found in sorted(model.formats.items(), key=lambda each: str(each[0])):
        state.update(repr((form.key, form.role, found.type, found.zero_point)).encode())
        state.update(found.steps.astype(np.float32).tobytes())
    return state.hexdigest()


def digest_of_array(array: NDArray[Any]) -> str:
    """Type, shape and elements."""
    text = f"{array.dtype} {array.shape} ".encode()
    return blake2b(text + array.tobytes(), digest_size=16).hexdigest()


def digests(names: Iterable[str]) -> Mapping[str, str]:
    """The digests of models, by their names."""
    found = {}
    for name in names:
        if name == "minilm":
            model = quantize_published()
            found[name] = digest_of_graph(model.graph(LENGTHS))
            found[f"{name}, embeddings"] = digest_of_array(model.embed([TOKENS]))
        elif name == "random encoder":
            model = random_quantized_encoder(SHAPE, 0)
            found[name] = digest_of_graph(model.graph(LENGTHS))
        elif name == "random decoder":
            step = random_decoder(DECODER, 0, 24).step(TEXTS, CacheLayout(2, 24))
            (segment,) = step.model.segments
            found[name] = digest_of_graph(segment.graph)
        else:
            kind, _, export = name.rpartition(" ")
            found[name] = digest_of_model(MODELS[kind](export))
    return found


def with_int4_weights(name: str) -> QuantizedGraph:
    """An export whose weights have four bits."""
    samples = [inputs(name, seed) for seed in range(1, 9)]
    return quantize_graph(recognized(name), samples, weights=WEIGHT_CHOICES["int4"])


def with_int16_operands(name: str) -> QuantizedGraph:
    """An export whose products read int16 wherever they can."""
    graph, samples = recognized(name), [inputs(name, seed) for seed in range(1, 9)]
    usual, wide = calibrate_each(lambda _: graph, samples, weights=(INT8_WEIGHTS,), wide=True)
    units = units_of(graph)
    some = frozenset(may_be_wide(graph, units))
    return instantiate(graph, with_int16(usual, wide, some, units))


MODELS = {"": quantized, "int4": with_int4_weights, "int16": with_int16_operands}
"""What makes an export a model of integers, by the word before its name."""


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:])))
