"""What is element by element is moved through views, and means the same."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.layouts import (
    find_affines,
    find_joined_sums,
    find_lookups,
    find_turned,
)
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Finishing, Product
from celosia.sw.quantize.units.vectors import Addition, Multiplication, Rectified, Subtraction

ROWS, COLS = 12, 8


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Graph(GraphBuilder):
    """A builder with products of one input."""

    def __init__(self):
        super().__init__("test")
        self.x = self.input("x", TensorType("float32", (1, ROWS, COLS)))

    def product(self, seed):
        return self.op("matmul", self.x, self.constant(random(COLS, COLS, seed=seed)))

    def image(self, seed):
        """A product as an image, channels first."""
        rows = self.op("reshape", self.product(seed), shape=(1, 3, 4, COLS))
        return self.op("transpose", rows, permutation=(0, 3, 1, 2))


def same(graph, other):
    given = {"x": random(1, ROWS, COLS, seed=7)}
    for found, wanted in zip(
        interpret(other, given).values(), interpret(graph, given).values(), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def units(graph):
    recognized = recognize(graph)
    assert not recognized.refusals
    same(graph, recognized.graph)
    found = find_units(recognized.graph)
    return [type(unit) for unit in found.units.values()], found, recognized.graph


@pytest.mark.parametrize("channels_first", [False, True])
def test_a_normalization_of_channels_behind_a_view_goes_into_weights(channels_first):
    """As LeViT has it: a product, a reshape, factors and addends of a batch normalization."""
    g = Graph()
    if channels_first:
        views, shape = g.image(1), (COLS, 1, 1)
    else:
        views, shape = g.op("reshape", g.product(1), shape=(ROWS, COLS)), (COLS,)
    scaled = g.op("mul", views, g.constant(random(*shape, seed=2)))
    graph = g.finish({"y": g.op("add", g.constant(random(*shape, seed=3)), scaled)})
    kinds, found, _ = units(graph)
    assert kinds == [Product]
    (product,) = found.of(Product)
    weights = random(COLS, COLS, seed=1) * random(COLS, seed=2)
    np.testing.assert_allclose(product.linear.weights, weights, rtol=1e-6)
    np.testing.assert_allclose(product.linear.bias, random(COLS, seed=3), rtol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_what_a_constant_does_to_columns_is_moved_if_the_constant_stands_behind(op, turned):
    """A constant less the product, or over it, is no factor or addend of its columns."""
    g = Graph()
    rows = g.op("reshape", g.product(1), shape=(ROWS, COLS))
    constant = g.constant(1 + np.abs(random(COLS, seed=2)))
    graph = g.finish({"y": g.op(op, *((constant, rows) if turned else (rows, constant)))})
    done = rewrite(graph, find_affines)
    assert not done.refusals
    stays = turned and op in {"sub", "div"}
    order = ["matmul", "reshape", op] if stays else ["matmul", op, "reshape"]
    assert [node.op for node in done.graph.nodes] == order
    same(graph, done.graph)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_columns_that_share_a_row_of_a_view_keep_what_is_neutral_for_them(op):
    """A view that shows some columns says nothing of the others: they are left as they were."""
    g = Graph()
    shown = g.op("slice", g.product(1), starts=(0, 0, 2), sizes=(1, ROWS, 3), steps=(1,) * 3)
    constant = g.constant(1 + np.abs(random(3, seed=2)))
    graph = g.finish({"y": g.op(op, shown, constant)})
    done = rewrite(graph, find_affines)
    assert not done.refusals
    assert [node.op for node in done.graph.nodes] == ["matmul", op, "slice"]
    (vector,) = (
        done.graph.constants[name]
        for node in done.graph.nodes
        for name in node.inputs
        if node.op == op and name in done.graph.constants
    )
    neutral = 1 if op in {"mul", "div"} else 0
    assert [*vector[:2], *vector[5:]] == [neutral] * 5
    same(graph, done.graph)


@pytest.mark.parametrize("why", ["rows", "read", "output"])
def test_factors_stay_where_they_are_no_columns_or_others_read_the_product(why):
    g = Graph()
    product = g.product(1)
    rows = g.op("reshape", product, shape=(ROWS, COLS))
    factors = random(*((ROWS, 1) if why == "rows" else (COLS,)), seed=2)
    outputs = {"y": g.op("mul", rows, g.constant(factors))}
    if why == "read":
        outputs["z"] = g.op("abs", rows)
    if why == "output":
        outputs["z"] = rows
    done = rewrite(g.finish(outputs), find_affines)
    assert [node.op for node in done.graph.nodes].index("reshape") == 1
    assert not done.refusals


def test_positions_that_are_added_to_a_class_and_patches_finish_the_product_of_patches():
    """As ViT has it: the class is known behind the sum, and nothing is added by the host."""
    g = Graph()
    joined = g.op("concat", g.constant(random(1, 1, COLS, seed=2)), g.product(1), axis=1)
    positions = g.constant(random(1, ROWS + 1, COLS, seed=3))
    graph = g.finish({"y": g.op("add", joined, positions)})
    kinds, found, after = units(graph)
    assert kinds == [Product, Finishing]
    host = [node.op for node in after.nodes if node.name not in found.nodes]
    assert host == ["concat"]


def test_a_number_that_is_added_to_parts_is_added_to_each():
    g = Graph()
    joined = g.op("concat", g.product(1), g.constant(random(1, 2, COLS, seed=2)), axis=1)
    graph = g.finish({"y": g.op("add", joined, g.constant(random(1, 1, COLS, seed=3)))})
    done = rewrite(graph, find_joined_sums)
    assert [node.op for node in done.graph.nodes] == ["matmul", "add", "concat"]
    same(graph, done.graph)


def test_sums_of_images_are_those_of_products():
    """Channels come first in each term, and in the sum."""
    g = Graph()
    more = g.op("add", g.image(3), g.op("add", g.image(1), g.image(2)))
    graph = g.finish({"y": g.op("transpose", more, permutation=(0, 2, 3, 1))})
    same(graph, rewrite(graph, find_turned).graph)
    kinds, found, after = units(graph)
    assert (kinds.count(Product), kinds.count(Finishing)) == (3, 2)
    assert {node.op for node in after.nodes if node.name not in found.nodes} <= {"reshape"}


def test_a_relu_is_turned_with_the_sum_in_front_of_it_and_not_behind_a_product():
    """Residual blocks; what a product finishes is found behind a transpose as well."""
    g = Graph()
    total = g.op("relu", g.op("add", g.image(1), g.image(2)))
    more = g.op("relu", g.op("add", total, g.image(3)))
    graph = g.finish({"y": g.op("transpose", more, permutation=(0, 2, 3, 1))})
    turned = rewrite(graph, find_turned).graph
    assert {n.type.shape for n in turned.nodes if n.op in {"relu", "add"}} == {(1, 3, 4, COLS)}
    kinds, _, _ = units(graph)
    assert Counter(kinds) == {Product: 3, Finishing: 2, Rectified: 2}
    g = Graph()
    graph = g.finish({"y": g.op("relu", g.image(1))})
    assert rewrite(graph, find_turned).graph.nodes == graph.nodes


@pytest.mark.parametrize("first", ["constant", "image"])
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_operands_keep_their_order_in_front_of_a_transpose(op, first):
    g = Graph()
    one, other = g.image(1), g.constant(random(COLS, 3, 4, seed=3))
    graph = g.finish({"y": g.op(op, *((other, one) if first == "constant" else (one, other)))})
    done = rewrite(graph, find_turned)
    assert [node.op for node in done.graph.nodes][-2:] == [op, "transpose"]
    same(graph, done.graph)


def test_a_constant_of_channels_is_turned_with_its_sum():
    g = Graph()
    total = g.op("add", g.image(1), g.constant(random(COLS, 3, 4, seed=3)))
    graph = g.finish({"y": total})
    done = rewrite(graph, find_turned)
    same(graph, done.graph)
    assert [node.op for node in done.graph.nodes][-2:] == ["add", "transpose"]


@pytest.mark.parametrize(
    ("op", "unit"), [("add", Addition), ("mul", Multiplication), ("sub", Subtraction)]
)
def test_parts_of_what_is_transposed_meet_in_front_of_the_transpose(op, unit):
    """Gates of channels that stand in front of rows, as in LFM2: the accelerator has both."""
    g = Graph()
    image = g.image(1)
    how: dict[str, Any] = {"sizes": (1, COLS // 2, 3, 4), "steps": (1, 1, 1, 1)}
    parts = [g.op("slice", image, starts=(0, first, 0, 0), **how) for first in (0, COLS // 2)]
    graph = g.finish({"y": g.op("transpose", g.op(op, *parts), permutation=(0, 2, 3, 1))})
    done = rewrite(graph, find_turned)
    same(graph, done.graph)
    (met,) = (node for node in done.graph.nodes if node.op == op)
    assert met.type.shape == (1, 3, 4, COLS // 2)
    kinds, _, _ = units(graph)
    assert kinds == [Product, unit]


def test_transposes_that_others_undo_are_no_layout():
    """Patches are an image, and then rows again: what is added to these stays where it is."""
    g = Graph()
    flat = g.op("reshape", g.image(1), shape=(1, COLS, ROWS))
    rows = g.op("transpose", flat, permutation=(0, 2, 1))
    graph = g.finish({"y": g.op("add", rows, g.constant(random(1, ROWS, COLS, seed=3)))})
    assert rewrite(graph, find_turned).graph.nodes == graph.nodes
    kinds, _, _ = units(graph)
    assert kinds == [Product, Finishing]


@pytest.mark.parametrize("texts", [1, 2])
def test_what_no_product_finishes_is_added_by_the_accelerator(texts):
    """Curves of products, and constant rows that are the same for all texts."""
    builder = GraphBuilder("sum")
    x = builder.input("x", TensorType("float32", (texts, 6, 16)))
    weights = builder.constant(random(16, 16))
    one = builder.op("relu", builder.op("matmul", x, weights))
    other = builder.op("silu", builder.op("matmul", x, weights), alpha=1.0)
    total = builder.op("add", one, other)
    known = builder.constant(random(1, 6, 16, seed=1))
    found = find_units(builder.finish({"y": builder.op("add", known, total)}))
    first, second = found.of(Addition)
    assert (first.value.tensor, first.b.rows) == (total, texts * 6)
    assert (second.a.tensor, second.a.rows, second.b.rows) == (total, texts * 6, 6)
    assert {form.role for form in (*first.reads(), *second.reads())} == {"wide"}


@pytest.mark.parametrize("first", ["norm", "given"])
def test_what_a_norm_makes_is_added_to_what_is_given(first):
    """Norms behind layers, as OLMo 2 has them: the residual of the first is embeddings."""
    builder = GraphBuilder("sum")
    x = builder.input("x", TensorType("float32", (1, 6, 16)))
    made = builder.op("matmul", x, builder.constant(random(16, 16)))
    normed = builder.op("rmsnorm", made, builder.constant(random(16)), axis=2, epsilon=1e-5)
    total = builder.op("add", *((normed, x) if first == "norm" else (x, normed)))
    other = builder.op("add", x, builder.op("neg", x))
    found = find_units(builder.finish({"y": total, "z": other}))
    (addition,) = found.of(Addition)
    assert addition.nodes == (total,), "what the host makes is added by the host"
    assert {form.role for form in addition.reads()} == {"wide"}


WORDS = 5


class Lookup(GraphBuilder):
    """A builder with rows that are looked up in a table."""

    def __init__(self):
        super().__init__("test")
        self.places = self.input("places", TensorType("int64", (2, 3)))
        self.table = self.constant(random(WORDS, COLS, seed=1))

    def rows(self):
        return self.op("gather", self.table, self.places, axis=0)


LOOKED_UP = np.array([[0, 4, 2], [1, 1, 3]])


def looked_up(graph):
    """What `find_lookups` leaves of a graph, which means the same."""
    done = rewrite(graph, find_lookups)
    assert not done.refusals
    given = {"places": LOOKED_UP}
    found, wanted = (interpret(each, given)["y"] for each in (done.graph, graph))
    np.testing.assert_array_equal(found, wanted)
    return [node.op for node in done.graph.nodes], done.graph


@pytest.mark.parametrize("shape", [(), (COLS,), (1, 1, COLS), (2, 3, 1)])
@pytest.mark.parametrize("op", ["mul", "add", "sub", "div"])
def test_a_table_takes_what_is_done_to_each_column_of_what_is_looked_up_in_it(op, shape):
    """As where words are multiplied by the root of their width, or all have one type."""
    g = Lookup()
    number = np.full(shape, 8, np.float32) if shape in {(), (2, 3, 1)} else random(*shape, seed=2)
    graph = g.finish({"y": g.op(op, g.rows(), g.constant(number))})
    ops, done = looked_up(graph)
    assert ops == ["gather"]
    (table,) = (value for value in done.constants.values() if value.shape == (WORDS, COLS))
    how = {"mul": np.multiply, "add": np.add, "sub": np.subtract, "div": np.divide}[op]
    of_column = np.broadcast_to(number, (2, 3, COLS))[0, 0]
    np.testing.assert_array_equal(table, how(random(WORDS, COLS, seed=1), of_column))


@pytest.mark.parametrize(
    "why",
    ["rows differ", "others read the rows", "others read the table", "the rows are an output"],
)
def test_a_table_stays_where_others_see_it_or_its_rows_differ(why):
    g = Lookup()
    rows = g.rows()
    outputs = {"y": g.op("mul", rows, g.constant(np.float32(8)))}
    if why == "rows differ":
        outputs = {"y": g.op("mul", rows, g.constant(random(2, 3, 1, seed=2)))}
    elif why == "others read the rows":
        outputs["z"] = g.op("tanh", rows)
    elif why == "others read the table":
        outputs["z"] = g.op("gather", g.table, g.places, axis=1)
    else:
        outputs["z"] = rows
    ops, _ = looked_up(g.finish(outputs))
    assert "mul" in ops


def test_columns_of_a_table_are_no_rows():
    g = Lookup()
    columns = g.op("gather", g.table, g.places, axis=1)
    ops, _ = looked_up(g.finish({"y": g.op("mul", columns, g.constant(np.float32(8)))}))
    assert ops == ["gather", "mul"]
