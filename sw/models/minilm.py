"""The products of the first encoder layer of all-MiniLM-L6-v2, on a sentence's real activations.

The layer is computed in float32; the six products with weights are then quantized: one scale for
each weight matrix, by its largest element; one for each input and result, of least squared error on
this sentence; int32 bias.  Weights stay as the model file has them, one row for each output: B is
transposed.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import nearest
from celosia.sw.ir.matmul import MatMul
from celosia.sw.quantize.ranges import INT8_LARGEST, best_step
from celosia.sw.reference.encoder import Floats, Linear, encode
from celosia.sw.reference.published import (
    MAX_TOKENS,
    PACKAGE,
    MissingModelError,
    read_embeddings,
    read_encoder,
    tokenize,
)

__all__ = [
    "DEFAULT_TEXT",
    "MAX_TOKENS",
    "PACKAGE",
    "LinearProduct",
    "MissingModelError",
    "count_tokens",
    "linear_products",
]

DEFAULT_TEXT: Final = "A celosia is a small plant whose flowers look like flames or like feathers."


@dataclass(frozen=True, eq=False)
class LinearProduct:
    """One product of the layer, quantized."""

    name: str
    problem: MatMul
    a: NDArray[np.int8]
    """Tokens by inputs of the layer."""
    b: NDArray[np.int8]
    """Outputs x inputs, as in the model file."""
    bias: NDArray[np.int32]
    real: Floats
    """The result in float32."""
    step: float
    """What 1 in the int8 result stands for."""


def linear_products(text: str = DEFAULT_TEXT) -> list[LinearProduct]:
    """The layer's products for `text`, in order.

    Raises `ValueError` for a text that is empty or too long, `MissingModelError` without a model.
    """
    tokens = tokenize([text])
    weights = read_encoder(layers=1)
    seen: dict[str, Floats] = {}
    encode(weights, read_embeddings().sums(tokens), [len(tokens[0])], seen.__setitem__)
    layer = weights.layers[0]
    return [
        _quantize(name, seen[f"0.{source}"], linear)
        for name, source, linear in (
            ("Q", "input", layer.query),
            ("K", "input", layer.key),
            ("V", "input", layer.value),
            ("attention output", "context", layer.output),
            ("FFN 1", "attention", layer.up),
            ("FFN 2", "hidden", layer.down),
        )
    ]


def count_tokens(text: str) -> int:
    """Tokens of `text`, marks included; raises as `linear_products` does."""
    return len(tokenize([text])[0])


def _quantize(name: str, x: Floats, linear: Linear) -> LinearProduct:
    real, weights = linear(x), np.ascontiguousarray(linear.weights.T)
    # The largest weights meet the largest activations: they must not be clipped.
    a_step, b_step = best_step(x), float(np.abs(weights).max()) / INT8_LARGEST
    step = best_step(real)
    sums = a_step * b_step
    problem = MatMul(
        m=x.shape[0],
        n=weights.shape[0],
        k=weights.shape[1],
        b_transposed=True,
        bias=True,
        scale=float(np.float32(sums / step)),
    )
    whole_bias = nearest(linear.bias.astype(np.float64) / sums, np.int32, "bias")
    a, b = _to_int8(x, a_step), _to_int8(weights, b_step)
    return LinearProduct(name, problem, a, b, whole_bias, real, step)


def _to_int8(values: Floats, step: float) -> NDArray[np.int8]:
    whole = np.clip(values / np.float32(step), -INT8_LARGEST, INT8_LARGEST)
    return nearest(whole, np.int8, "int8 operand")
