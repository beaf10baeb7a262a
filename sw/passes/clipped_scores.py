"""Scores that saturate before their row's maximum is subtracted, where that changes a weight."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from celosia.isa import numerics
from celosia.isa.numerics import INT32_MAX, INT32_MIN
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.ir.graph import DeferredSoftmax, Graph, MatMul
from celosia.sw.ir.graphs.finishes import visible_columns

__all__ = ["clipped_scores"]


def clipped_scores(graph: Graph, values: Mapping[str, Array]) -> Counter[str]:
    """How many visible scores of each operator have other numerators than if none saturated.

    `values` are all tensors of `graph` that are not constants.
    """
    found: Counter[str] = Counter()
    for op in graph.ops:
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax):
            found[op.name] = _clipped(op, op.finish, {**graph.constants, **values})
    return +found


def _clipped(op: MatMul, how: DeferredSoftmax, values: Mapping[str, Array]) -> int:
    views = (op.a, op.b, op.bias, op.onto)
    a, b, bias, onto = (view and values[view.tensor][view.slices] for view in views)
    assert a is not None
    assert b is not None
    keys = b if op.b_transposed else b.T
    if bias is None and onto is None and not _may_saturate(a, keys, how):
        return 0
    sums = numerics.matmul(a, keys.T, None if bias is None else bias[0])
    if onto is not None:
        sums = numerics.wrap32(sums.astype(np.int64) + onto)
    scores = numerics.attention_scores(sums, how.scale, stored=how.stored).astype(np.int64)
    whole = numerics.requantize(sums, how.scale, low=INT32_MIN, high=INT32_MAX).astype(np.int64)
    visible = visible_columns(how.mask, scores)
    visible = np.ones(scores.shape, bool) if visible is None else visible
    rows = (visible & (scores != whole)).any(axis=1)
    if not rows.any():
        return 0
    seen = visible[rows]
    weights = [_weights(each[rows], seen) for each in (scores, whole)]
    return int(np.count_nonzero(weights[0] != weights[1]))


def _may_saturate(a: Array, keys: Array, how: DeferredSoftmax) -> bool:
    """Whether a product can be so large, by the lengths of its rows."""
    longest = (
        np.sqrt(np.square(x.astype(np.float64)).sum(axis=1).max(initial=0)) for x in (a, keys)
    )
    limit = 1 << (16 if how.stored else numerics.SCORE_BITS) - 1
    return float(np.prod([*longest])) * how.scale >= limit - 1


def _weights(scores: Array, visible: Array) -> Array:
    maxima = np.where(visible, scores, INT32_MIN).max(axis=1, keepdims=True)
    distances = np.maximum(np.minimum(scores - maxima, 0), INT32_MIN)
    exponents = numerics.exponent(distances).astype(np.int64)
    return numerics.numerators(np.where(visible, exponents, 0))
