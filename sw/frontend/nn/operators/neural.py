"""The operators by which transformers are told: softmax, norms, activations, attention."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.operators.operator import (
    FLOATS,
    Array,
    Kind,
    Operator,
    Reach,
    TensorType,
    broadcast_shapes,
    expect,
    normalized_axis,
    same_types,
)
from celosia.sw.frontend.nn.operators.reductions import mean
from celosia.sw.reference.encoder import erf

__all__ = ["GELU_NUMBERS", "NEURAL"]

_TANH_CUBE: Final = 0.044715
"""The cube's factor in GELU's approximation by tanh (Hendrycks and Gimpel)."""
GELU_NUMBERS: Final = (np.sqrt(2.0), np.sqrt(0.5), np.sqrt(2 / np.pi), _TANH_CUBE)
"""What GELU and its approximation are written with, beside powers of 2."""


def _floats(types: Sequence[TensorType], _: Mapping[str, Any]) -> TensorType:
    same_types(types, FLOATS)
    return types[0]


def _relu(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    most = attributes.get("most", np.inf)
    expect(most > 0, f"its upper end is {most}, not above 0")
    return _floats(types, attributes)


def _relu_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    (x,) = values
    return np.clip(x, x.dtype.type(0), x.dtype.type(attributes.get("most", np.inf)))


def _softmax(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    normalized_axis(attributes["axis"], types[0].rank)
    return _floats(types, attributes)


def _exponentials(x: Array, axis: int) -> tuple[Array, Array]:
    """Exponentials of what `x` is above its maximum, and their sums along an axis."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return powers, powers.sum(axis=axis, keepdims=True)


def _softmax_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    powers, sums = _exponentials(values[0], attributes["axis"])
    return powers / sums


def _norm(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    same_types(types, FLOATS)
    axis = normalized_axis(attributes["axis"], types[0].rank)
    for each in types[1:]:
        fits = broadcast_shapes((types[0], each)) == types[0].shape
        expect(fits, f"{each} does not broadcast to {types[0]}")
    expect(types[0].size == 0 or min(types[0].shape[axis:]) > 0, f"{types[0]} has empty rows")
    return types[0]


def _layernorm_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x = values[0]
    axes = tuple(range(normalized_axis(attributes["axis"], x.ndim), x.ndim))
    centered = x - mean(x, axes, keepdims=True)
    variance = mean(np.square(centered), axes, keepdims=True)
    result = centered / np.sqrt(variance + x.dtype.type(attributes["epsilon"])) * values[1]
    return result if len(values) == 2 else result + values[2]


def _rmsnorm_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x = values[0]
    axes = tuple(range(normalized_axis(attributes["axis"], x.ndim), x.ndim))
    square = mean(np.square(x), axes, keepdims=True)
    return x / np.sqrt(square + x.dtype.type(attributes["epsilon"])) * values[1]


def _gelu(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    form = attributes["form"]
    expect(form in {"erf", "tanh"}, f"form: {form!r} is neither 'erf' nor 'tanh'")
    return _floats(types, attributes)


def _gelu_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x = values[0]
    if attributes["form"] == "erf":
        cumulative = erf((x * np.sqrt(0.5)).astype(np.float32))
    else:
        cumulative = np.tanh(np.sqrt(2 / np.pi) * (x + _TANH_CUBE * x * x * x))
    return (x * (1 + cumulative) * 0.5).astype(x.dtype)


def _hardswish_run(values: Sequence[Array], _attributes: Mapping[str, Any]) -> Array:
    x = values[0]
    return (x * np.clip(x / 6 + 0.5, 0, 1)).astype(x.dtype)


def _silu_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x = values[0]
    return (x / (1 + np.exp(-attributes["alpha"] * x))).astype(x.dtype)


def _rotate(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    kind, table = types
    expect(kind.rank > 0 and kind.shape[-1] % 2 == 0, f"rows of {kind} are not two halves")
    fits = broadcast_shapes((kind, table)) == kind.shape and table.shape[-1:] == kind.shape[-1:]
    expect(fits, f"its table {table} does not broadcast to {kind}")
    return _floats(types, attributes)


def _rotate_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    (a, b), (cosine, sine) = (np.split(each, 2, axis=-1) for each in values)
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)


def _attention(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    kind = same_types(types, FLOATS)
    query, key, value = types[:3]
    for each in types[:3]:
        expect(each.rank == 4, f"{each} has not four axes")
    batch, heads, rows, depth = query.shape
    shared = key.shape[1]
    expect(
        key.shape[0] == value.shape[0] == batch
        and value.shape[1:3] == key.shape[1:3]
        and key.shape[3] == depth,
        f"query {query}, key {key} and value {value} do not fit",
    )
    expect(shared > 0 and heads % shared == 0, f"{heads} heads cannot share {shared} keys")
    scores = TensorType(kind, (batch, heads, rows, key.shape[2]))
    if len(types) > 3:
        fits = broadcast_shapes((types[3], scores)) == scores.shape
        expect(fits, f"its bias {types[3]} does not broadcast to {scores}")
    return TensorType(kind, (batch, heads, rows, value.shape[3]))


def _attention_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    query, key, value = values[:3]
    rows, keys = query.shape[2], key.shape[2]
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = np.repeat(key, groups, axis=1), np.repeat(value, groups, axis=1)
    scores = np.matmul(query, key.swapaxes(-1, -2)) * query.dtype.type(attributes["scale"])
    if "cap" in attributes:
        cap = query.dtype.type(attributes["cap"])
        scores = np.tanh(scores / cap) * cap
    bias = np.zeros((1, 1, rows, keys), scores.dtype)
    if attributes["causal"]:
        last = np.arange(rows)[:, None] + attributes["first_query"]
        seen = np.arange(keys) <= last
        if "window" in attributes:
            seen &= np.arange(keys) > last - attributes["window"]
        if "ring" in attributes:
            seen |= np.arange(keys) > last - attributes["window"] + attributes["ring"]
        bias = np.where(seen, bias, scores.dtype.type(-np.inf))
    if len(values) > 3:
        bias = bias + values[3]
    powers, sums = _exponentials(scores + bias, -1)
    # Where a query sees no key there is nothing to divide by, and by ONNX's rule its row is 0.
    seen = bias.max(axis=-1, keepdims=True, initial=-np.inf) > -np.inf
    return np.matmul(np.where(seen, powers / sums, 0).astype(query.dtype), value)


def _attention_macs(types: Sequence[TensorType], _: TensorType) -> int:
    query, value = types[0], types[2]
    scores = prod(query.shape[:3]) * value.shape[2]
    return scores * (query.shape[3] + value.shape[3])


NEURAL: Final = (
    Operator(
        name="softmax",
        doc="Exponentials along an axis, over their sum.",
        attributes={"axis": Kind.INT},
        infer=_softmax,
        compute=_softmax_run,
        reach=Reach.ROW,
        bound=lambda _: 0.0,
    ),
    Operator(
        name="layernorm",
        doc="(a - mean) / sqrt(variance + `epsilon`) * b + c; mean over the axes from `axis` on.",
        least=2,
        most=3,
        attributes={"axis": Kind.INT, "epsilon": Kind.FLOAT},
        infer=_norm,
        compute=_layernorm_run,
        reach=Reach.ROW,
        weights=True,
    ),
    Operator(
        name="rmsnorm",
        doc="a / sqrt(mean of squares + `epsilon`) * b; mean over the axes from `axis` on.",
        least=2,
        most=2,
        attributes={"axis": Kind.INT, "epsilon": Kind.FLOAT},
        infer=_norm,
        compute=_rmsnorm_run,
        reach=Reach.ROW,
        weights=True,
    ),
    Operator(
        name="relu",
        doc="The larger of a and 0, but no more than `most`, where there is one (6 in ReLU6).",
        attributes={"most": Kind.FLOAT},
        optional=frozenset({"most"}),
        infer=_relu,
        compute=_relu_run,
        reach=Reach.ELEMENT,
        bound=lambda _: 0.0,
        curve=lambda _: (),
    ),
    Operator(
        name="gelu",
        doc="a / 2 * (1 + erf(a / sqrt 2)), or its approximation of form `tanh`.",
        attributes={"form": Kind.TEXT},
        infer=_gelu,
        compute=_gelu_run,
        reach=Reach.ELEMENT,
        curve=lambda _: ({"form": "erf"}, {"form": "tanh"}),
    ),
    Operator(
        name="silu",
        doc="a / (1 + exp(-`alpha` * a)).",
        attributes={"alpha": Kind.FLOAT},
        infer=_floats,
        compute=_silu_run,
        reach=Reach.ELEMENT,
        curve=lambda factor: [{"alpha": a} for a in (factor, -factor) if a > 0],
    ),
    Operator(
        name="hardswish",
        doc="a * min(max(a / 6 + 1/2, 0), 1) (Howard et al., arXiv 1905.02244, section 5.2).",
        infer=_floats,
        compute=_hardswish_run,
        reach=Reach.ELEMENT,
        curve=lambda _: ({},),
    ),
    Operator(
        name="rotate",
        doc="a, the halves of whose rows are turned by the cosines and sines in the halves of b.",
        least=2,
        most=2,
        infer=_rotate,
        compute=_rotate_run,
        reach=Reach.SAMPLE,
    ),
    Operator(
        name="attention",
        doc="softmax(`scale` * a b^T + d) c for each head (batch, heads, rows, columns); heads of"
        " b and c are shared by as many of a. With a `cap`, a scaled score s is `cap` * tanh(s /"
        " `cap`). If `causal`, query i sees keys up to i +"
        " `first_query`, of a `window` the last so many; keys may be in a `ring` of so many places."
        " A query that sees no key gives 0.",
        least=3,
        most=4,
        attributes={
            "scale": Kind.FLOAT,
            "causal": Kind.BOOL,
            "first_query": Kind.INT,
            "window": Kind.INT,
            "ring": Kind.INT,
            "cap": Kind.FLOAT,
        },
        optional=frozenset({"window", "ring", "cap"}),
        infer=_attention,
        compute=_attention_run,
        reach=Reach.SAMPLE,
        macs=_attention_macs,
    ),
)
"""Softmax, norms, activations, attention."""
