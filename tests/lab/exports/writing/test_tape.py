"""Nodes have the names that exporters give them."""

import onnx
from onnx import TensorProto

from celosia.lab.exports.writing.dynamo import DynamoTape
from celosia.lab.exports.writing.tape import Tape


def test_nodes_are_named_by_their_module_and_counted():
    tape = Tape("test", 17)
    x = tape.input("x", TensorProto.FLOAT, ("batch", 4))
    with tape.inside("encoder/layer.0"):
        first = tape.op("Relu", x)
        assert tape.module == "encoder.layer.0"
        assert tape.op("Relu", first) == "/encoder/layer.0/Relu_1_output_0"
    assert first == "/encoder/layer.0/Relu_output_0"


def test_an_output_takes_the_place_of_the_value_everywhere():
    tape = Tape("test", 17)
    x = tape.op("Relu", tape.input("x", TensorProto.FLOAT, ("batch", 4)))
    tape.op("Neg", x)
    tape.output(x, "y", ("batch", 4))
    model = tape.model()
    onnx.checker.check_model(model, full_check=True)
    assert [list(node.input) for node in model.graph.node] == [["x"], ["y"]]


def test_a_slice_of_open_sizes_is_what_it_says():
    for tape in (Tape("t", 17), DynamoTape("d", 18, optimized=False)):
        x = tape.input("x", TensorProto.FLOAT, ("batch", "tokens"))
        tape.output(tape.slice(x, 1, tape.size(x, 1), 1), "y", ("batch", "fewer"))
        onnx.checker.check_model(tape.model(), full_check=True)


def test_an_optimized_graph_has_each_constant_once():
    tape = DynamoTape("test", 23, optimized=True)
    assert tape.constant([1, 2]) == tape.constant([1, 2]) != tape.constant([[1, 2]])
