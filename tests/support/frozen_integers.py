"""The integers of quantized models as digests, whatever their tensors and operators are called.

Run as ``python -m tests.support.frozen_integers NAME...``, it prints a JSON object: a digest for
each export of the catalog and for ``random encoder``, two for ``minilm``.  Sums of floating-point
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

from celosia.sw.ir.graph import Graph, View
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.models.sentences import quantize_published
from celosia.sw.reference.encoder import EncoderShape
from tests.support.quantized_exports import quantized

__all__ = ["digest_of_graph", "frozen_environment"]

LENGTHS = (5, 1, 8)
"""Tokens of the texts of encoders."""
SHAPE = EncoderShape(layers=2, width=48, heads=4, hidden=96)
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


def digest_of_model(name: str) -> str:
    """The digest of an export's segments, and of what the host makes integers by."""
    model = quantized(name)
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
        else:
            found[name] = digest_of_model(name)
    return found


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:])))
