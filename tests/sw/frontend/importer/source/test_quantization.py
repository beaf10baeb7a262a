"""What integers of a file stand for takes their place; anything else is arithmetic."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.recognize.recognize import recognized_graph
from tests.support.onnx_runtime import run_session, runtime_session
from tests.sw.frontend.importer.models import floats, imported, model

SCALES = {"s": np.float32(0.5), "t": np.float32(0.25), "z": np.uint8(10), "y0": np.uint8(0)}


def pair(scale="s", zero="z"):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["turned"]),
        helper.make_node("DequantizeLinear", ["q", scale, zero], ["d"]),
        helper.make_node("Neg", ["d"], ["y"]),
    ]
    constants = {name: np.asarray(value) for name, value in SCALES.items()}
    return imported(model(nodes, {"x": [2, 3]}, ["y"], constants))


def test_a_pair_is_the_range_of_what_it_quantizes():
    found = pair()
    assert [node.op for node in found.graph.nodes] == ["neg"]
    assert found.graph.nodes[0].inputs == ("x",)
    assert found.ranges == {"x": (-5.0, 122.5)}
    assert found.notes == (
        "the file rounds 1 tensor to integers: ranges are the file's, integers need not be",
    )


@pytest.mark.parametrize(("scale", "zero"), [("t", "z"), ("s", "y0")])
def test_other_numbers_behind_it_are_computed(scale, zero):
    found = pair(scale, zero)
    assert not found.ranges
    assert "round" in [node.op for node in found.graph.nodes]


def test_integers_in_other_places_stand_for_the_floats_there():
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["turned"]),
        helper.make_node("Reshape", ["turned", "shape"], ["flat"]),
        helper.make_node("DequantizeLinear", ["flat", "s", "z"], ["y"]),
    ]
    constants = {"s": np.float32(0.5), "z": np.uint8(10), "shape": np.array([6])}
    constants = {name: np.asarray(value) for name, value in constants.items()}
    found = imported(model(nodes, {"x": [2, 3]}, ["y"], constants))
    assert [node.op for node in found.graph.nodes] == ["transpose", "reshape"]
    assert list(found.ranges.values()) == [(-5.0, 122.5)]


SQUARE = floats(8, 8)


def left_to_integers(producer, zero):
    """A product, `producer`, integers without negative numbers unless `zero` is inside, a product.

    ONNX Runtime's `quantize_static` deletes a ReLU in front of such integers.
    """
    given = {"w": SQUARE, "s": np.float32(0.05), "z": zero}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"])]
    if producer is not None:
        nodes.append(helper.make_node(producer, ["p"], ["r"]))
    nodes += [
        helper.make_node("QuantizeLinear", ["r" if producer else "p", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["turned"], perm=[1, 0]),
        helper.make_node("DequantizeLinear", ["turned", "s", "z"], ["d"]),
        helper.make_node("MatMul", ["d", "w"], ["y"]),
    ]
    constants = {name: np.asarray(value) for name, value in given.items()}
    return model(nodes, {"x": [8, 8]}, ["y"], constants)


@pytest.mark.parametrize("zero", [np.uint8(0), np.int8(-128)])
def test_integers_without_negative_numbers_are_a_relu(zero):
    graph = compared(left_to_integers(None, zero), (8, 8))
    assert [node.op for node in graph.nodes].count("relu") == 1


@pytest.mark.parametrize(
    ("producer", "zero"),
    [
        ("Relu", np.uint8(0)),
        ("Sigmoid", np.uint8(0)),
        ("Softmax", np.uint8(0)),
        ("Abs", np.uint8(0)),
        ("Tanh", np.uint8(128)),
    ],
)
def test_what_is_never_negative_gets_no_second_relu(producer, zero):
    nodes = imported(left_to_integers(producer, zero)).graph.nodes
    assert [node.op for node in nodes].count("relu") == (producer == "Relu")


@pytest.mark.parametrize("square", ["Pow", "Mul"])
def test_a_norm_whose_mean_square_is_rounded_is_a_norm(square):
    """`quantize_static` rounds the sum of mean and epsilon, which no number makes negative."""
    given = {"w": SQUARE, "two": np.float32(2), "e": np.float32(1e-5), "s": np.float32(0.05)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node(square, ["p", "two" if square == "Pow" else "p"], ["p2"]),
        helper.make_node("ReduceMean", ["p2"], ["mean"], axes=[-1]),
        helper.make_node("Add", ["mean", "e"], ["sum"]),
        helper.make_node("QuantizeLinear", ["sum", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("Sqrt", ["d"], ["root"]),
        helper.make_node("Div", ["p", "root"], ["y"]),
    ]
    constants = {name: np.asarray(value) for name, value in {**given, "z": np.uint8(0)}.items()}
    found = imported(model(nodes, {"x": [8, 8]}, ["y"], constants)).graph
    assert [node.op for node in recognized_graph(found).nodes] == ["matmul", "rmsnorm"]


WEIGHTS = np.random.default_rng(0).integers(-128, 128, (8, 6), np.int8)
FILTERS = np.random.default_rng(1).integers(0, 256, (4, 3, 3, 3), np.uint8)
COLUMNS = np.linspace(0.01, 0.02, 6, dtype=np.float32)


def measured(op="MatMulInteger", zero="zero", factor=COLUMNS, shape=(5, 8), **constants):
    """An operand that is measured, a product of integers, and what makes it floats again."""
    given = {"w": WEIGHTS, "w0": np.int8(3), "c": factor, "other": np.uint8(3), **constants}
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node(op, ["q", "w", zero, "w0"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["wide"], to=1),
        helper.make_node("Mul", ["scale", "c"], ["scales"]),
        helper.make_node("Mul", ["wide", "scales"], ["y"]),
    ]
    constants = {name: np.asarray(value) for name, value in given.items()}
    return model(nodes, {"x": shape}, ["y"], constants)


def compared(proto, shape):
    """The graph of a model; its results are as far from ONNX Runtime's as 8 bits are."""
    found, x = imported(proto).graph, floats(*shape)
    (wanted,) = run_session(runtime_session(proto), {"x": x})
    result = interpret(found, {"x": x})["y"]
    assert np.abs(result - wanted).max() < 0.02 * np.abs(wanted).max()
    return found


@pytest.mark.parametrize("factor", [COLUMNS, np.float32(0.02), floats(1), floats(5, 1)])
def test_products_of_a_measured_operand_are_those_of_floats(factor):
    proto = measured(factor=factor)
    graph = compared(proto, (5, 8))
    # A factor of each row is none of the weights.
    rows = np.ndim(factor) > 1
    assert [node.op for node in graph.nodes] == ["matmul", *["mul"] * rows]
    assert graph.nodes[0].inputs[0] == "x"
    weights = graph.constants[graph.nodes[0].inputs[1]]
    np.testing.assert_allclose(
        weights, (WEIGHTS.astype(np.float32) - 3) * (1 if rows else factor), rtol=1e-6
    )
    assert imported(proto).notes == (
        "the file measures the range of 1 tensor when it runs, and rounds to integers "
        "(DynamicQuantizeLinear): here ranges are calibrated",
    )


@pytest.mark.parametrize("scale", [np.float32(0.01), COLUMNS[:4].reshape(4, 1, 1)])
def test_convolutions_of_a_measured_image_are_those_of_floats(scale):
    shape = (1, 3, 5, 5)
    proto = measured("ConvInteger", factor=scale, shape=shape, w=FILTERS, w0=np.uint8(120))
    assert [node.op for node in compared(proto, shape).nodes] == ["conv"]


def test_another_zero_point_is_computed():
    found = imported(measured(zero="other"))
    assert "round" in [node.op for node in found.graph.nodes]
    assert not found.notes


def test_products_of_two_measured_operands():
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node("Transpose", ["q"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMulInteger", ["q", "turned", "zero", "zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["wide"], to=1),
        helper.make_node("Mul", ["scale", "scale"], ["scales"]),
        helper.make_node("Mul", ["wide", "scales"], ["y"]),
    ]
    graph = compared(model(nodes, {"x": [5, 8]}, ["y"]), (5, 8))
    assert [node.op for node in graph.nodes] == ["transpose", "matmul"]


def test_rows_of_a_table_are_those_of_the_table_of_floats():
    nodes = [
        helper.make_node("Cast", ["x"], ["ids"], to=7),
        helper.make_node("Gather", ["w", "ids"], ["rows"]),
        helper.make_node("DequantizeLinear", ["rows", "s", "w0"], ["y"]),
    ]
    constants = {"w": WEIGHTS, "s": np.asarray(np.float32(0.5)), "w0": np.asarray(np.int8(3))}
    graph = imported(model(nodes, {"x": [2]}, ["y"], constants)).graph
    assert [node.op for node in graph.nodes] == ["cast", "gather"]
    found = interpret(graph, {"x": np.array([7, 0], np.float32)})["y"]
    np.testing.assert_array_equal(found, (WEIGHTS[[7, 0]].astype(np.float32) - 3) / 2)
