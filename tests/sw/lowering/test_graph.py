"""Which operators are written together, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import Function
from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import (
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    MatMul,
    Normalized,
    Requantize,
    Sums,
    Tensor,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.program import Products, Transform
from celosia.sw.lowering.graph import head_shapes, lower_graph
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    layernorm_case,
    random_integer_encoder,
    softmax_case,
)
from celosia.sw.reference.encoder import EncoderShape
from tests.support.levels import CONFIGS

TINY = CONFIGS["tiny"]


def functions(graph: Graph) -> list[Function]:
    """Those of the program's transforms, in order."""
    ops = [written.op for written in lower_graph(graph, TINY).ops]
    return [op.function for op in ops if isinstance(op, Transform)]


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


def test_moments_are_counted_with_the_sum_that_is_normalized_next():
    assert functions(sum_and_norm("out")) == [Function.RESIDUAL, Function.LAYERNORM]


def test_not_if_somebody_else_reads_the_sum():
    separate = [Function.RESIDUAL, Function.MOMENTS, Function.LAYERNORM]
    assert functions(sum_and_norm("out", "total")) == separate


def test_not_if_only_a_part_is_normalized():
    separate = [Function.RESIDUAL, Function.MOMENTS, Function.LAYERNORM]
    assert functions(sum_and_norm("out", source_cols=6)) == separate


def test_numerators_and_sums_stay_on_the_chip():
    lowered = lower_graph(attention_case(2, 5, 4, seed=1).graph, TINY)
    assert lowered.on_chip == {"numerators", "sums"}


def test_shapes_of_heads():
    shape = EncoderShape(layers=2, width=16, heads=2, hidden=32)
    case = encoder_layer_case(random_integer_encoder(shape, 1), (5, 7, 5), 1)
    found = [(each.rows, each.keys, each.depth, each.width) for each in head_shapes(case.graph)]
    assert found == [(5, 5, 8, 8), (7, 7, 8, 8)]
    assert head_shapes(softmax_case(4, 4, seed=1).graph) == ()


def test_heads_that_follow_each_other_overlap():
    lowered = lower_graph(attention_case(2, 5, 4, seed=1).graph, TINY)
    order = [written.operator for written in lowered.ops if isinstance(written.op, Products)]
    last_scores = len(order) - order[::-1].index("scores.head1")
    assert last_scores <= order.index("context.head0")


def chained(reads_before: bool) -> Graph:
    """Two heads; the second one's queries are the first one's context, or not."""
    builder = GraphBuilder("chain")
    x = builder.input(Tensor("x", "int8", 5, 4))
    query = x
    for head in range(2):
        p = builder.tensor(Tensor(f"p{head}", "uint8", 5, 5))
        sums = builder.tensor(Tensor(f"sums{head}", "int32", 5, 1))
        out = builder.tensor(Tensor(f"out{head}", "int8", 5, 4))
        how = DeferredSoftmax(0.1, sums)
        builder.matmul(f"scores{head}", p, query, x, how, b_transposed=True)
        builder.matmul(f"context{head}", out, p, x, DivideBySums(sums, 0.001))
        query = out if reads_before else x
    return builder.finish("out1")


@pytest.mark.parametrize("reads_before", [False, True])
def test_heads_that_read_each_other_do_not_overlap(reads_before):
    ops = lower_graph(chained(reads_before), TINY).ops
    order = [written.operator for written in ops if isinstance(written.op, Products)]
    assert (order.index("context0") < order.index("scores1")) == reads_before


def test_gamma_and_beta_become_a_constant():
    case = layernorm_case(3, 9, seed=2)
    lowered = lower_graph(case.graph, TINY)
    (name,) = set(lowered.graph.constants) - set(case.graph.constants)
    assert name == "layernorm.affine"
    half, constants = TINY.dim // 2, case.graph.constants
    packed = lowered.graph.constants[name].reshape(-1, 2, 2, half)
    for number, output in enumerate(("small", "wide")):
        for kind, which in enumerate(("gamma", "beta")):
            row = packed[:, kind, number].reshape(-1)
            assert (row[:9] == constants[f"{output}.{which}"][0]).all()
            assert not row[9:].any()


def test_without_the_unit_graphs_are_refused():
    with pytest.raises(ValueError, match="no unit for transforms"):
        lower_graph(softmax_case(2, 3, seed=1).graph, PRESETS["small"])


def test_sums_of_another_operator_are_refused():
    graph = chained(reads_before=False)
    ops = list(graph.ops)
    ops[1], ops[2] = ops[2], ops[1]
    with pytest.raises(ValueError, match=r"scores0.*not those of one product right behind it"):
        lower_graph(replace(graph, ops=tuple(ops)), TINY)


def test_a_context_alone_is_refused():
    graph = chained(reads_before=False)
    with pytest.raises(
        ValueError, match=r"context0.*its sums are not those of the operator before"
    ):
        lower_graph(replace(graph, ops=graph.ops[1:]), TINY)


def test_a_bias_that_is_computed_is_refused():
    builder = GraphBuilder("bias")
    a = builder.input(Tensor("a", "int8", 1, 4))
    w = builder.constant("w", np.ones((4, 4), np.int8))
    bias = builder.tensor(Tensor("bias", "int32", 1, 4))
    out = builder.tensor(Tensor("out", "int8", 1, 4))
    builder.matmul("first", bias, a, w, Sums())
    builder.matmul("second", out, a, w, Requantize(1.0), bias=bias)
    with pytest.raises(ValueError, match=r"second: bias\[0:1, 0:4\] is no constant"):
        lower_graph(builder.finish("out"), TINY)


def test_a_bias_may_be_an_input():
    graph = sum_and_norm("out")
    bias = Tensor("bias", "int32", 1, 8)
    op = graph.ops[0]
    assert isinstance(op, MatMul)
    changed = replace(
        graph,
        tensors={**graph.tensors, "bias": bias},
        inputs=(*graph.inputs, "bias"),
        ops=(replace(op, bias=View("bias", 0, 0, 1, 8)), *graph.ops[1:]),
    )
    assert lower_graph(changed, TINY).ops


def test_an_error_names_the_operator():
    case = attention_case(1, 40, 4, seed=1)
    op = case.graph.ops[0]
    assert isinstance(op, MatMul)
    bias = Tensor("bias", "int32", 1, 40)
    graph = replace(
        case.graph,
        tensors={**case.graph.tensors, "bias": bias},
        inputs=(*case.graph.inputs, "bias"),
        ops=(replace(op, bias=bias.view()), *case.graph.ops[1:]),
    )
    config = TINY.with_values({"parameter_rows": 8})
    with pytest.raises(ValueError, match=r"scores\.head0: 10 rows do not fit into a span of 4"):
        lower_graph(graph, config)
