"""Orders of columns go into weights, and out of attention."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.orders import find_orders
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.recognize.rewrite import rewrite

HEADS, ROWS, COLS = 2, 5, 8
NEIGHBOURS = [0, 2, 4, 6, 1, 3, 5, 7]
BACK = [0, 4, 1, 5, 2, 6, 3, 7]


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def ordered(builder, x, order):
    return builder.op("gather", x, builder.constant(np.array(order)), axis=3)


def product(order, *, bias=True, bound=False):
    """Heads of a product, their columns in an order; `bound`: the product is an output, too."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, ROWS, 6)))
    found = builder.op("matmul", x, builder.constant(random(6, HEADS * COLS)))
    if bias:
        found = builder.op("add", builder.constant(random(HEADS * COLS, seed=1)), found)
    heads = builder.op("reshape", found, shape=(1, ROWS, HEADS, COLS))
    heads = builder.op("transpose", heads, permutation=(0, 2, 1, 3))
    outputs = {"y": ordered(builder, heads, order)}
    return builder.finish(outputs | ({"all": found} if bound else {}))


def attention(orders, *, keys=HEADS):
    builder = GraphBuilder("test")
    q, k, v = (
        builder.input(name, TensorType("float32", (1, count, ROWS, COLS)))
        for name, count in (("q", HEADS), ("k", keys), ("v", keys))
    )
    q, k = (ordered(builder, x, order) for x, order in zip((q, k), orders, strict=True))
    attributes = {"scale": 0.3, "causal": True, "first_query": 0}
    return builder.finish({"y": builder.op("attention", q, k, v, **attributes)})


def equal(graph, other):
    given = {name: random(*kind.shape, seed=7) for name, kind in graph.inputs.items()}
    for found, wanted in zip(
        interpret(other, given).values(), interpret(graph, given).values(), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    return [node.op for node in other.nodes]


@pytest.mark.parametrize("bias", [False, True])
def test_weights_take_the_order_of_a_product(bias):
    graph = product(NEIGHBOURS, bias=bias)
    done = rewrite(graph, find_orders)
    assert not done.refusals
    assert "gather" not in equal(graph, done.graph)


def test_a_product_that_others_read_stays():
    graph = product(NEIGHBOURS, bound=True)
    assert "gather" in equal(graph, rewrite(graph, find_orders).graph)


@pytest.mark.parametrize("order", [[0, 0, 1, 1, 2, 2, 3, 3], [1, 0]])
def test_columns_that_are_repeated_or_left_out_are_no_order(order):
    graph = product(order)
    assert "gather" in equal(graph, rewrite(graph, find_orders).graph)


@pytest.mark.parametrize(("place", "axis"), [(0, 2), (-1, 3), ([0], 2), ([[0, 1]], 3), (1, -2)])
def test_what_a_scalar_or_a_matrix_takes_is_no_order(place, axis):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, ROWS, 6)))
    found = builder.op("matmul", x, builder.constant(random(6, HEADS * COLS)))
    heads = builder.op("reshape", found, shape=(1, ROWS, HEADS, COLS))
    y = builder.op("gather", heads, builder.constant(np.array(place)), axis=axis)
    graph = builder.finish({"y": y})
    done = rewrite(graph, find_orders)
    assert not done.refusals
    assert equal(graph, done.graph) == ["matmul", "reshape", "gather"]


def packed(order, *, bound=False):
    """Queries and keys of heads beside each other, by one product; queries are in an order."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, ROWS, 6)))
    found = builder.op("matmul", x, builder.constant(random(6, 2 * HEADS * COLS)))
    found = builder.op("add", builder.constant(random(2 * HEADS * COLS, seed=1)), found)
    heads = builder.op("reshape", found, shape=(1, ROWS, HEADS, 2 * COLS))
    heads = builder.op("transpose", heads, permutation=(0, 2, 1, 3))
    queries, keys = (
        builder.op(
            *("slice", heads),
            starts=(0, 0, 0, first),
            sizes=(1, HEADS, ROWS, COLS),
            steps=(1,) * 4,
        )
        for first in (0, COLS)
    )
    queries = ordered(builder, queries, order)
    scores = {"scores": builder.op("matmul", queries, keys_turned(builder, keys))}
    return builder.finish(scores | ({"all": found} if bound else {}))


def keys_turned(builder, keys):
    return builder.op("neg", builder.op("transpose", keys, permutation=(0, 1, 3, 2)))


def test_parts_of_a_product_get_their_own_where_one_is_reordered():
    """Keys stay columns of the whole: what reads them is behind another view."""
    graph = packed(NEIGHBOURS)
    done = rewrite(graph, find_orders)
    assert not done.refusals
    assert "gather" not in equal(graph, done.graph)
    widths = [node.type.shape[-1] for node in done.graph.nodes if node.op == "matmul"]
    assert HEADS * COLS in widths


def test_a_product_that_is_an_output_keeps_its_parts():
    graph = packed(NEIGHBOURS, bound=True)
    assert "gather" in equal(graph, rewrite(graph, find_orders).graph)


def summed(*, other="input", twice=False):
    """Two products and something else, added in the order of a parallel block."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, ROWS, 6)))
    made = [builder.op("matmul", x, builder.constant(random(6, 6, seed=seed))) for seed in range(3)]
    last = builder.input("r", TensorType("float32", (1, ROWS, 6))) if other == "input" else made[2]
    inner = builder.op("add", *made[:2])
    outputs = {"y": builder.op("add", inner, last)}
    return builder.finish(outputs | ({"z": inner} if twice else {}))


def products_added(graph):
    """How many sums have a product among their operands."""
    made = {node.name for node in graph.nodes if node.op == "matmul"}
    return sum(not made.isdisjoint(node.inputs) for node in graph.nodes if node.op == "add")


def test_each_of_two_products_is_added_to_what_is_no_product():
    graph = summed()
    done = rewrite(graph, find_orders).graph
    equal(graph, done)
    assert (products_added(graph), products_added(done)) == (1, 2)


@pytest.mark.parametrize("how", [{"other": "product"}, {"twice": True}])
def test_other_sums_stay(how):
    graph = summed(**how)
    done = rewrite(graph, find_orders).graph
    assert [node.inputs for node in done.nodes] == [node.inputs for node in graph.nodes]


@pytest.mark.parametrize("keys", [HEADS, 1])
def test_attention_does_not_see_an_order_that_both_have(keys):
    graph = attention((BACK, BACK), keys=keys)
    assert equal(graph, rewrite(graph, find_orders).graph) == ["attention"]


def test_attention_does_not_see_an_order_of_keys_that_are_repeated():
    """All recognizers together: groups are found first."""
    builder = GraphBuilder("test")
    q, k, v = (
        builder.input(name, TensorType("float32", (1, count, ROWS, COLS)))
        for name, count in (("q", 2 * HEADS), ("k", HEADS), ("v", HEADS))
    )
    q, k = (ordered(builder, x, BACK) for x in (q, k))
    repeated = []
    for x in (k, v):
        each = builder.op("reshape", x, shape=(1, HEADS, 1, ROWS, COLS))
        each = builder.op("broadcast", each, shape=(1, HEADS, 2, ROWS, COLS))
        repeated.append(builder.op("reshape", each, shape=(1, 2 * HEADS, ROWS, COLS)))
    attributes = {"scale": 0.3, "causal": True, "first_query": 0}
    graph = builder.finish({"y": builder.op("attention", q, *repeated, **attributes)})
    assert equal(graph, recognize(graph).graph) == ["attention"]


def test_attention_sees_an_order_of_one_of_them():
    for orders in ((BACK, NEIGHBOURS), (BACK, range(COLS))):
        graph = attention(orders)
        done = rewrite(graph, find_orders)
        assert equal(graph, done.graph).count("gather") == 2
        assert not done.refusals


@pytest.mark.parametrize("rows", [6, 7])
def test_what_is_added_to_each_row_is_no_bias_of_columns(rows):
    """Also where there are as many rows as inputs: nothing is tried that numbers would refuse."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, rows, 6)))
    found = builder.op("matmul", x, builder.constant(random(6, HEADS * COLS)))
    found = builder.op("add", found, builder.constant(random(rows, 1, seed=1)))
    heads = builder.op("reshape", found, shape=(1, rows, HEADS, COLS))
    heads = builder.op("transpose", heads, permutation=(0, 2, 1, 3))
    graph = builder.finish({"y": ordered(builder, heads, NEIGHBOURS)})
    done = rewrite(graph, find_orders)
    assert not done.refusals
    assert "gather" in equal(graph, done.graph)
