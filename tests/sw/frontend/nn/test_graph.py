"""A graph counts its products and knows who reads what; one that is not well formed is refused."""

from dataclasses import replace
from weakref import ref

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import join_origin, split_origin
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.frontend.nn.verify import verify


@pytest.mark.parametrize(
    ("origin", "parts"),
    [
        ("/a/b (MatMul)", ("/a/b", "MatMul")),
        ("a (b) (Add)", ("a (b)", "Add")),
        ("Transpose", ("", "Transpose")),
        ("", ("", "")),
    ],
)
def test_an_origin_is_a_name_and_an_operator(origin, parts):
    assert split_origin(origin) == parts
    assert join_origin(*parts) == origin


def attention_graph():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, 4, 5, 8)))
    keys = builder.input("keys", TensorType("float32", (2, 2, 7, 8)))
    found = builder.op(
        "attention", x, keys, keys, scale=0.5, causal=False, first_query=0, name="attention"
    )
    weights = builder.constant(np.ones((8, 3), np.float32), "w")
    return builder.finish({"out": builder.op("matmul", found, weights, name="product")})


def test_multiply_accumulates_are_those_of_products():
    assert attention_graph().macs() == {
        "attention": 2 * 4 * 5 * 7 * (8 + 8),
        "product": 2 * 4 * 5 * 8 * 3,
    }


def test_readers_and_producers():
    graph = attention_graph()
    assert [node.name for node in graph.readers()["keys"]] == ["attention"]
    assert graph.readers()["product"] == []
    assert graph.producers()["product"].inputs == ("attention", "w")
    assert "product: float32[2x4x5x3] = matmul(attention, w)\n" in str(graph)


def test_a_graph_that_is_not_well_formed_is_refused():
    graph = attention_graph()
    first, last = graph.nodes
    for nodes, message in (
        ((last, first), "reads attention, which is not there"),
        ((first, first, last), "a second tensor"),
        ((replace(first, op="magic"), last), "no operator 'magic'"),
        ((first, replace(last, type=TensorType("float32", (1,)))), r"product: it is float32"),
        ((first,), "output out: there is no tensor product"),
    ):
        with pytest.raises(GraphError, match=message):
            verify(replace(graph, nodes=nodes))


def test_inputs_of_an_interpretation_are_checked():
    graph = attention_graph()
    x, keys = (np.zeros(kind.shape, kind.dtype) for kind in graph.inputs.values())
    for inputs, message in (
        ({"x": x}, "keys: this input is missing"),
        ({"x": x, "keys": keys, "more": x}, "more: there is no such input"),
        ({"x": keys, "keys": keys}, r"x: this input is float32\[2x2x7x8\], not"),
    ):
        with pytest.raises(GraphError, match=message):
            interpret(graph, inputs)


def test_an_observer_sees_every_tensor():
    graph = attention_graph()
    seen = {}
    inputs = {n: np.ones(kind.shape, kind.dtype) for n, kind in graph.inputs.items()}
    outputs = interpret(graph, inputs, seen.__setitem__)
    assert list(seen) == ["attention", "product"]
    assert outputs["out"] is seen["product"]


def test_a_place_outside_of_a_tensor_is_an_error_of_its_node():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("int64", (2,)))
    table = builder.constant(np.ones((3, 4), np.float32), "table")
    graph = builder.finish({"out": builder.op("gather", table, x, axis=0, name="embed")})
    with pytest.raises(GraphError, match="embed: index 3 is out of bounds"):
        interpret(graph, {"x": np.array([0, 3])})


def test_a_tensor_is_dropped_behind_its_last_reader_which_reads_it_twice():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (4,)))
    twice = builder.op("add", x, x, name="twice")
    graph = builder.finish({"y": builder.op("neg", builder.op("mul", twice, twice), name="y")})
    alive: list[bool] = []

    def observe(name, value):
        if name == "twice":
            references.append(ref(value))
        elif name == "y":
            alive.append(references[0]() is not None)

    references: list[ref[np.ndarray]] = []
    interpret(graph, {"x": np.ones(4, np.float32)}, observe)
    assert alive == [False]
