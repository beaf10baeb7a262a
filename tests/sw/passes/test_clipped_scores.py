"""Scores whose saturation changes a weight are counted, all others are not."""

import numpy as np
import pytest

from celosia.isa.numerics import exponent, numerators
from celosia.sw.ir.graph import NO_MASK, DeferredSoftmax, DivideBySums, Mask, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.passes.clipped_scores import clipped_scores

UNIT = 2.0**10
"""The scale with which a sum of 1 is a score of 1."""


def counted(scores, *, stored: bool, mask: Mask = NO_MASK) -> int:
    """What is counted of rows of scores, as they come on top of a product that is 0."""
    rows, keys = np.shape(scores)
    builder = GraphBuilder("scores")
    q, k, v = (
        builder.input(Tensor(n, "int8", m, 4)) for n, m in (("q", rows), ("k", keys), ("v", keys))
    )
    onto = builder.input(Tensor("onto", "int32", rows, keys))
    numerators = builder.tensor(Tensor("numerators", "uint8", rows, keys))
    sums = builder.tensor(Tensor("sums", "int32", rows, 1))
    out = builder.tensor(Tensor("out", "int8", rows, 4))
    softmax = DeferredSoftmax(UNIT, sums, mask, stored)
    builder.matmul("scores", numerators, q, k, softmax, onto=onto, b_transposed=True)
    builder.matmul("context", out, numerators, v, DivideBySums(sums, 2.0**-15))
    graph = builder.finish("out")
    zeros = {name: np.zeros(graph.tensors[name].shape, np.int8) for name in ("q", "k", "v")}
    inputs = {**zeros, "onto": np.array(scores, np.int32)}
    values = interpret(graph, inputs)
    return clipped_scores(graph, values)["scores"]


@pytest.mark.parametrize(
    ("row", "stored", "count"),
    [
        ([30, 29, -2000], True, 0),  # Far below the maximum, a weight is 0 in any case.
        ([35, 34, 0], True, 1),  # 35 and 34 become equal: one of them weighs more.
        ([-40, -41, -60], True, 2),  # All become equal.
        ([-40, -41, -60], False, 0),
        ([8000, 7999, -9000], False, 0),
        ([8210, 8209, 8208], False, 2),
        ([-8210, -8211, -9000], False, 2),
    ],
)
def test_scores_with_another_weight_are_counted(row, stored, count):
    assert counted([row], stored=stored) == count
    assert counted([row, [0, 0, 0], row], stored=stored) == 2 * count


def test_hidden_scores_do_not_count():
    row = [5, 4, 3000]  # 5 and 4 are lost in exp(-27) of 32 as well.
    near = [5, 4, 36, 35]
    assert counted([row], stored=True) == 0
    assert counted([near], stored=True) == 1
    assert counted([near], stored=True, mask=Mask(keys=2)) == 0
    assert counted([near], stored=True, mask=Mask(causal=True, first_row=1)) == 0


def of_product(queries, keys, scale: float = 1.0) -> int:
    """What is counted of scores, as int16, that are a product alone."""
    (rows, width), count = np.shape(queries), len(keys)
    builder = GraphBuilder("product")
    q, k, v = (
        builder.input(Tensor(n, "int8", m, width))
        for n, m in (("q", rows), ("k", count), ("v", count))
    )
    numerators = builder.tensor(Tensor("numerators", "uint8", rows, count))
    sums = builder.tensor(Tensor("sums", "int32", rows, 1))
    out = builder.tensor(Tensor("out", "int8", rows, width))
    softmax = DeferredSoftmax(scale, sums, stored=True)
    builder.matmul("scores", numerators, q, k, softmax, b_transposed=True)
    builder.matmul("context", out, numerators, v, DivideBySums(sums, 2.0**-15))
    graph = builder.finish("out")
    given = {"q": queries, "k": keys, "v": np.ones((count, width))}
    inputs = {name: np.array(value, np.int8) for name, value in given.items()}
    return clipped_scores(graph, interpret(graph, inputs))["scores"]


def test_products_alone_count_as_well():
    # 64,516, 64,008 and 0: half a unit apart, and both above the end of int16.
    assert of_product([[127] * 4] * 3, [[127] * 4, [126] * 4, [0] * 4]) == 3


@pytest.mark.parametrize("above", [-1, 0, 1, 2])
def test_a_product_that_is_as_long_as_its_factors_saturates_behind_32767(above):
    """A query and a key in one line, of which no product of such lengths is larger, and others."""
    scale = (32767 + above) / 32768
    keys = [[-128] * 4, *([-128, -128 + each // 12, -128, -each] for each in range(128))]
    scores = np.rint(np.float32(scale) * np.array(keys).sum(axis=1) * -64).astype(np.int64)
    assert scores[0] == 32767 + above
    kept, cut = (
        numerators(exponent(each - each.max()).astype(np.int64))
        for each in (scores, np.minimum(scores, 32767))
    )
    assert (above > 0) == (count := int(np.count_nonzero(kept != cut)) > 0)
    assert (of_product([[-64] * 4], keys, scale) > 0) == count
