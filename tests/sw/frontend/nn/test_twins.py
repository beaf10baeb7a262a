"""Equal nodes are computed once, and a product keeps what is part of it."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.importer.import_model import import_model
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.twins import merge_twins
from celosia.sw.frontend.recognize import recognize as recognize_module
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.quantize.units.find_units import find_units
from tests.support.onnx_runtime import run_session, runtime_session
from tests.support.quantized_exports import imported, inputs, recognized
from tests.sw.frontend.importer.models import model

RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.standard_normal((8, 8), np.float32)
BIASES = RANDOM.standard_normal((2, 8), np.float32)


def built(*branches):
    """A graph with a branch of each, as (operator, constants...), in a row from the input."""
    builder, outputs = GraphBuilder("twins"), {}
    x = builder.input("x", TensorType("float32", (4, 8)))
    for number, branch in enumerate(branches):
        found = x
        for at, (op, *constants) in enumerate(branch):
            operands = [builder.constant(value) for value in constants]
            with builder.origin(f"{number}.{at} ({op})"):
                found = builder.op(op, found, *operands)
        outputs[f"y{number}"] = found
    return builder.finish(outputs)


def same(graph, merged):
    given = {"x": RANDOM.standard_normal((4, 8), np.float32)}
    for name, value in interpret(graph, given).items():
        assert np.array_equal(interpret(merged, given)[name], value)


def test_equal_branches_are_one_up_to_their_outputs():
    branch = [("exp",), ("sin",)]
    graph = built(branch, branch, [("exp",), ("tanh",)])
    merged, gone = merge_twins(graph)
    assert [node.op for node in merged.nodes] == ["exp", "sin", "tanh"]
    assert gone == {"1.0 (exp)": "0.0 (exp)", "1.1 (sin)": "0.1 (sin)", "2.0 (exp)": "0.0 (exp)"}
    same(graph, merged)


def test_constants_are_equal_by_their_elements_and_attributes_count():
    for other in (WEIGHTS.copy(), -WEIGHTS):
        graph = built([("min", WEIGHTS[:4]), ("sin",)], [("min", other[:4]), ("sin",)])
        merged, _ = merge_twins(graph)
        assert len(merged.nodes) == (2 if np.array_equal(other, WEIGHTS) else 4)
        assert len(merged.constants) == len(merged.nodes) // 2
        same(graph, merged)
    builder = GraphBuilder("attributes")
    x = builder.input("x", TensorType("float32", (4, 8)))
    sums = [builder.op("reduce_sum", x, axes=(axis,), keepdims=False) for axis in (0, 1)]
    graph = builder.finish(dict(zip("ab", sums, strict=True)))
    assert len(merge_twins(graph)[0].nodes) == 2
    builder = GraphBuilder("a column and a row")
    x, four = builder.input("x", TensorType("float32", (4, 4))), WEIGHTS[0, :4]
    least = [builder.op("min", x, builder.constant(four.reshape(s))) for s in ((4, 1), (1, 4))]
    graph = builder.finish(dict(zip("ab", least, strict=True)))
    assert len(merge_twins(graph)[0].nodes) == 2
    zero = np.zeros((4, 8), np.float32)
    zeros = built([("min", zero)], [("min", -zero)])
    assert len(merge_twins(zeros)[0].nodes) == 2


@pytest.mark.parametrize("same_bias", [True, False])
def test_a_product_is_one_if_all_that_is_part_of_it_is(same_bias):
    biases = BIASES[[0, 0 if same_bias else 1]]
    graph = built(*([("matmul", WEIGHTS), ("add", bias), ("exp",), ("sin",)] for bias in biases))
    merged, _ = merge_twins(graph)
    # What is behind a product and an output has a twin; so has what it is part of.
    assert [node.op for node in merged.nodes].count("matmul") == 2
    builder = GraphBuilder("inside")
    x = builder.input("x", TensorType("float32", (4, 8)))
    found = []
    for bias in biases:
        product = builder.op("matmul", x, builder.constant(WEIGHTS))
        total = builder.op("add", product, builder.constant(bias))
        found.append(builder.op("reduce_sum", total, axes=(1,), keepdims=False))
    graph = builder.finish(dict(zip("ab", found, strict=True)))
    merged, _ = merge_twins(graph)
    assert [node.op for node in merged.nodes].count("matmul") == (1 if same_bias else 2)
    assert not find_units(merged).refusals
    same(graph, merged)


@pytest.mark.parametrize(("name", "count"), [("gpt2", 8), ("bert-fused", 4), ("bert-17", 0)])
def test_masks_of_layers_are_computed_once(name, count, monkeypatch):
    merged, given = recognized(name), inputs(name, 0)
    monkeypatch.setattr(recognize_module, "merge_twins", lambda graph: (graph, {}))
    graph = imported.__wrapped__(name).recognized.graph
    assert len(graph.nodes) - len(merged.nodes) == count
    for key, value in interpret(graph, given).items():
        assert np.array_equal(interpret(merged, given)[key], value)


def test_a_file_with_twins_computes_what_onnx_runtime_does(tmp_path):
    nodes = []
    for number in range(2):
        nodes += [
            helper.make_node("Exp", ["x"], [f"e{number}"]),
            helper.make_node("MatMul", [f"e{number}", "w"], [f"p{number}"]),
            helper.make_node("Add", [f"p{number}", "b"], [f"a{number}"]),
            helper.make_node("ReduceSum", [f"a{number}"], [f"y{number}"], keepdims=0),
        ]
    proto = model(nodes, {"x": [4, 8]}, ["y0", "y1"], {"w": WEIGHTS, "b": BIASES[0]})
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    found = recognize(import_model(path, {}).graph)
    assert [node.op for node in found.graph.nodes].count("matmul") == 1
    given = {"x": RANDOM.standard_normal((4, 8), np.float32)}
    outputs = interpret(found.graph, given)
    for name, value in zip(["y0", "y1"], run_session(runtime_session(proto), given), strict=True):
        assert np.allclose(outputs[name], value, rtol=1e-5)
