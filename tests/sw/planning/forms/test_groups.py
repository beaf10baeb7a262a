"""Which operators are computed together, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graph import (
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    Normalized,
    Tensor,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.forms.groups import Head, Heads, Linear, groups, on_chip


def sum_and_norm(*outputs: str, source_cols: int = 8) -> Graph:
    """A residual sum and a normalization of its first columns right behind it."""
    builder = GraphBuilder("sum")
    a = builder.input(Tensor("a", "int8", 6, 8))
    stream = builder.input(Tensor("stream", "int16", 6, 8))
    w = builder.constant("w", np.ones((8, 8), np.int8))
    total = builder.tensor(Tensor("total", "int16", 6, 8))
    builder.matmul("add", total, a, w, AddResidual(1.0, stream, 1.0))
    gamma = builder.constant("gamma", np.ones((1, source_cols), np.int16))
    beta = builder.constant("beta", np.zeros((1, source_cols), np.int32))
    out = builder.tensor(Tensor("out", "int8", 6, source_cols))
    source = total.part(cols=source_cols)
    builder.layernorm("norm", source, [Normalized(out, gamma, beta, 3)])
    return builder.finish(*outputs)


def kinds(graph: Graph, *, fused_norms: bool = True) -> list[str]:
    """What is computed together, as the names of operators."""
    found = []
    for group in groups(graph, fused_norms=fused_norms):
        match group:
            case Heads(heads):
                found.append(" ".join(head.scores.name for head in heads))
            case Linear(op, norm):
                found.append(op.name if norm is None else f"{op.name}+{norm.name}")
            case LayerNorm():
                found.append(group.name)
    return found


def test_a_sum_and_its_normalization_are_computed_together():
    assert kinds(sum_and_norm("out")) == ["add+norm"]
    assert kinds(sum_and_norm("out"), fused_norms=False) == ["add", "norm"]


def test_so_they_are_if_somebody_else_reads_the_sum():
    assert kinds(sum_and_norm("out", "total")) == ["add+norm"]


def test_not_if_only_a_part_is_normalized():
    assert kinds(sum_and_norm("out", source_cols=6)) == ["add", "norm"]


def chained(reads_before: bool, alone: int = 0) -> Graph:
    """Two heads behind so many others; the last one's queries are the context before, or not."""
    builder = GraphBuilder("chain")
    x = builder.input(Tensor("x", "int8", 5, 4))
    query = x
    for head in range(alone + 2):
        p = builder.tensor(Tensor(f"p{head}", "uint8", 5, 5))
        sums = builder.tensor(Tensor(f"sums{head}", "int32", 5, 1))
        out = builder.tensor(Tensor(f"out{head}", "int8", 5, 4))
        how = DeferredSoftmax(0.1, sums)
        builder.matmul(f"scores{head}", p, query, x, how, b_transposed=True)
        builder.matmul(f"context{head}", out, p, x, DivideBySums(sums, 0.001))
        query = out if reads_before and head == alone else x
    return builder.finish(*(f"out{head}" for head in range(alone)), f"out{alone + 1}")


@pytest.mark.parametrize("reads_before", [False, True])
def test_heads_that_read_each_other_are_not_computed_together(reads_before):
    together = ["scores0", "scores1"] if reads_before else ["scores0 scores1"]
    assert kinds(chained(reads_before)) == together


@pytest.mark.parametrize("part", ["queries", "keys", "values"])
def test_a_head_that_reads_another_ones_context(part):
    (both,) = groups(attention_case(2, 5, 4, seed=1).graph, fused_norms=True)
    assert isinstance(both, Heads)
    first, second = both.heads
    assert not second.reads([first])
    context = first.context.out
    changes = {
        "queries": Head(replace(second.scores, a=context), second.context),
        "keys": Head(replace(second.scores, b=context), second.context),
        "values": Head(second.scores, replace(second.context, b=context)),
    }
    assert changes[part].reads([first])


def test_numerators_and_sums_stay_on_the_chip():
    graph = attention_case(2, 5, 4, seed=1).graph
    assert on_chip(graph) == {"numerators", "sums"}


def test_sums_of_another_operator_are_refused():
    graph = chained(reads_before=False)
    ops = list(graph.ops)
    ops[1], ops[2] = ops[2], ops[1]
    with pytest.raises(ValueError, match=r"scores0.*not those of one product right behind it"):
        kinds(replace(graph, ops=tuple(ops)))


def test_a_context_alone_is_refused():
    graph = chained(reads_before=False)
    with pytest.raises(
        ValueError, match=r"context0.*its sums are not those of the operator before"
    ):
        kinds(replace(graph, ops=graph.ops[1:]))
