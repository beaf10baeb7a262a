"""Float graphs of a file are well formed and not too large, or it is said what is wrong."""

import re

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.graphs.files.graph_document import graph_document, read_graph
from celosia.sw.quantize.graphs.files.saved_file import SavedFile
from celosia.sw.reference.encoder import EncoderShape

FORMATS = random_quantized_encoder(EncoderShape(layers=1, width=16, heads=2, hidden=32), 0).formats


def started(*shape):
    """A graph in the making, with an input of this shape."""
    builder = GraphBuilder("g")
    builder.input("x", TensorType("float32", shape))
    return builder


def graph():
    """A graph that is a curve of an input, and a sum."""
    builder = started(2, 3)
    curve = builder.op("gelu", "x", form="tanh")
    added = builder.constant(np.array([0.5, 1.5, 2.5], np.float32))
    return builder.finish({"y": builder.op("add", curve, added)})


def document(**changes):
    saved = SavedFile()
    return graph_document(graph(), FORMATS, saved) | changes, saved


def read(**changes):
    found, saved = document(**changes)
    return read_graph(found, FORMATS, saved)


def of_input(shape):
    """What makes a document that of a graph which is an input of this shape, and nothing else."""
    return {"inputs": {"x": ["int8", shape]}, "nodes": [], "outputs": {"y": "x"}}


def refuse(message, **changes):
    with pytest.raises(GraphError, match=re.escape(message)):
        read(**changes)


def test_a_graph_is_read_as_it_was_written():
    written, found = graph(), read()
    assert (found.name, found.inputs, found.outputs) == ("g", written.inputs, written.outputs)
    assert found.nodes == written.nodes
    for name, value in written.constants.items():
        assert np.array_equal(found.constants[name], value)


def test_a_tensor_has_32_axes_and_2_to_the_31_elements_at_most():
    assert read(**of_input([1] * 32)).inputs["x"].shape == (1,) * 32
    refuse("is no shape", **of_input([1] * 33))
    assert read(**of_input([1 << 31])).inputs["x"].size == 2**31
    refuse("x: it has 2,147,483,649 elements", **of_input([(1 << 31) + 1]))


@pytest.mark.parametrize("shape", [[-1], [True], [1.0], ["1"], (1,), 1, None])
def test_a_shape_is_a_list_of_sizes(shape):
    refuse("is no shape", inputs={"x": ["float32", shape]})


@pytest.mark.parametrize("kind", [["float32"], ["float32", [1], 2], "float32", None])
def test_a_type_is_a_name_and_a_shape(kind):
    refuse("is no type of tensors", inputs={"x": kind})


def test_texts_are_texts_and_operators_those_that_are_known():
    refuse("3 is no text", name=3)
    refuse("output y: 3 is no tensor", outputs={"y": 3})
    nodes, saved = document()
    for change, message in (
        ({"op": "gelo"}, "there is no operator 'gelo'"),
        ({"op": None}, "None is no text"),
        ({"origin": 1}, "1 is no text"),
        ({"inputs": [1]}, "1 is no text"),
    ):
        changed = nodes | {"nodes": [nodes["nodes"][0] | change, *nodes["nodes"][1:]]}
        with pytest.raises(GraphError, match=re.escape(message)):
            read_graph(changed, FORMATS, saved)


def test_only_weights_of_products_are_shapes():
    """And only those that formats have: of another shape a constant is written as it is."""
    for op, shape, left in (("matmul", (16, 32), True), ("matmul", (16, 33), False)):
        builder = started(4, 16)
        weights = builder.constant(np.ones(shape, np.float32))
        whole = builder.finish({"y": builder.op(op, "x", weights)})
        saved = SavedFile()
        found = graph_document(whole, FORMATS, saved)
        (name,) = whole.constants
        assert found["constants"][name] == ([*shape] if left else saved.store(np.ones(shape, "f4")))
        again = read_graph(found, FORMATS, saved).constants[name]
        assert (again == (0 if left else 1)).all()
    found["constants"][name] = [16, 33]
    with pytest.raises(GraphError, match=re.escape("no product has weights of (16, 33)")):
        read_graph(found, FORMATS, saved)


@pytest.mark.parametrize("use", ["output", "first operand", "sum"])
def test_what_is_not_only_weights_is_written(use):
    builder = started(32, 16)
    weights = builder.constant(np.ones((16, 32), np.float32))
    outputs = {"y": builder.op("matmul", "x", weights)}
    if use == "output":
        outputs["w"] = weights
    elif use == "sum":
        other = builder.input("other", TensorType("float32", (16, 32)))
        outputs["z"] = builder.op("add", other, weights)
    else:
        outputs["z"] = builder.op("matmul", weights, "x")
    saved = SavedFile()
    whole = builder.finish(outputs)
    found = graph_document(whole, FORMATS, saved)
    assert all(isinstance(each, str) for each in found["constants"].values())
