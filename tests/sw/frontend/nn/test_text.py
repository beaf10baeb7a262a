"""Float graphs survive as text, and texts that are none are refused where they are wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TYPES, TensorType
from celosia.sw.frontend.nn.text import (
    parse_float_graph,
    print_float_graph,
    tensor_of,
    tensor_text,
)

NAMES = st.text(max_size=6)


@st.composite
def graphs(draw):
    """Graphs of a few nodes, with any names and attributes of every kind."""
    builder = GraphBuilder(draw(NAMES))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    x = builder.input("x", TensorType("float32", shape))
    for index, name in enumerate(draw(st.lists(NAMES, unique=True, max_size=3))):
        dtype = draw(st.sampled_from(TYPES))
        builder.input(f"{name}{index}", TensorType(dtype, shape[index % len(shape) :]))
    found = [x]
    for _ in range(draw(st.integers(1, 5))):
        source = draw(st.sampled_from(found))
        with builder.origin(draw(NAMES)):
            match draw(st.sampled_from("rscln")):
                case "r":
                    y = builder.op("reshape", source, shape=(builder.type(source).size,))
                case "s":
                    y = builder.op("silu", source, alpha=draw(st.floats(allow_nan=False)))
                case "c":
                    value = np.full((1, 2), draw(st.floats(width=32)), np.float32)
                    flat = builder.op("reshape", source, shape=(1, builder.type(source).size))
                    y = builder.op("concat", flat, builder.constant(value, draw(NAMES)), axis=1)
                case "l":
                    keep = draw(st.booleans())
                    y = builder.op("reduce_sum", source, axes=(0,), keepdims=True)
                    y = builder.op("argmax", y, axis=0, keepdims=keep, last=False)
                    y = builder.op("cast", y, to="float32", name=draw(NAMES))
                    y = builder.op("broadcast", y, shape=(2, *builder.type(y).shape))
                case _:
                    y = builder.op("gelu", source, form="tanh", name=draw(NAMES))
        found.append(y)
    outputs = draw(st.dictionaries(NAMES, st.sampled_from(found), max_size=3))
    return builder.finish(outputs)


@given(graphs())
def test_a_graph_reads_back_as_it_was(graph):
    text = print_float_graph(graph)
    found = parse_float_graph(text, graph.constants)
    assert (found.name, found.inputs, found.nodes, found.outputs) == (
        graph.name,
        graph.inputs,
        graph.nodes,
        graph.outputs,
    )
    assert print_float_graph(found) == text
    for name, value in graph.constants.items():
        np.testing.assert_array_equal(found.constants[name], value)


TEXT = """\
"nn.graph"() ({
  %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>
  %w = "nn.constant"() {name = "w", resource = "w"} : () -> tensor<8x3xf32>
  %y = "nn.matmul"(%x, %w) {name = "y"} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  "nn.return"(%y) {names = ["out"]} : (tensor<4x3xf32>) -> ()
}) {name = "g"} : () -> ()
"""
WEIGHTS = {"w": np.ones((8, 3), np.float32)}


def test_a_text_that_a_person_wrote():
    assert print_float_graph(parse_float_graph(TEXT, WEIGHTS)) == TEXT


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"nn.graph"() ({', '"cel.graph"() ({', "line 1, .* nn.graph with one region"),
        ('"nn.matmul"', '"nn.magic"', "line 4, .* no operation nn.magic"),
        ('"nn.matmul"', '"matmul"', "line 4, .* no operation matmul"),
        ("(%x, %w)", "(%x, %v)", "line 4, .* %v is not defined"),
        ("%w = ", "%x = ", "line 3, .* %x is defined a second time"),
        ('name = "w"', 'name = "x"', "line 3, .* another tensor x"),
        ('resource = "w"', 'resource = "v"', "line 3, .* no value of resource v"),
        ("() -> tensor<8x3xf32>", "() -> tensor<8x3xf64>", "line 3, .* resource w is"),
        ("-> tensor<4x3xf32>", "-> tensor<4x4xf32>", "line 5, .* %y is tensor<4x4xf32>, not"),
        ("(%x, %w) {", "(%w, %w) {", r"line 4, .* %w is tensor<8x3xf32>, not"),
        ("-> tensor<4x3xf32>", "-> memref<4x3xf32>", "line 4, .* is no tensor<SIZESxELEMENT>"),
        ('names = ["out"]', "names = []", "line 5, .* are no names of 1 outputs"),
        ('{name = "y"}', '{name = "y", with = 3 : i64}', "line 4, .* is no dictionary"),
        ('{name = "y"}', '{name = "y", with = {axis = 1 : i64}}', "y: matmul has the attributes"),
    ],
)
def test_a_text_that_is_wrong_is_refused_at_its_place(old, new, message):
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        parse_float_graph(TEXT.replace(old, new, 1), WEIGHTS)


@pytest.mark.parametrize("size", [0, 1, 10**9, 10**18 - 1])
def test_a_size_has_up_to_18_digits(size):
    kind = TensorType("int64", (size, 2))
    assert tensor_of(tensor_text(kind)) == kind


def test_a_size_of_19_digits_is_none():
    assert tensor_of(f"tensor<{10**18}xf32>") is None
