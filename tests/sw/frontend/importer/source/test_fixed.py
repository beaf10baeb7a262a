"""Inputs that are fixed are constants: branches that ask for them are known."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from celosia.sw.frontend.importer.import_model import translate
from celosia.sw.frontend.importer.source.fixed import fixed_values
from celosia.sw.frontend.importer.source.model_file import checked_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from tests.sw.frontend.importer.models import floats, graph_of, model


def branching():
    """A model that is a product, or twice its input, as its input `cached` says."""
    branches: dict[str, Any] = {
        f"{name}_branch": graph_of([node], {}, ["b"])
        for name, node in (
            ("then", helper.make_node("MatMul", ["x", "w"], ["b"])),
            ("else", helper.make_node("Add", ["x", "x"], ["b"])),
        )
    }
    node = helper.make_node("If", ["scalar"], ["y"], name="branch", **branches)
    whole = helper.make_node("Squeeze", ["cached"], ["scalar"])
    proto = model([whole, node], {"x": [3, 4]}, ["y"], {"w": floats(4, 4)})
    proto.graph.input.append(helper.make_tensor_value_info("cached", TensorProto.BOOL, [1]))
    return proto


@pytest.mark.parametrize(("text", "op"), [("true", "matmul"), ("False", "add"), ("0", "add")])
def test_a_branch_is_the_one_that_is_asked_for(text, op):
    found = translate(checked_model(branching()), {}, fixed={"cached": text})
    assert [node.op for node in found.graph.nodes] == [op]
    assert found.graph.inputs.keys() == {"x"}
    assert found.notes == (f"input cached is {text} from here on",)
    x = floats(3, 4, seed=1)
    wanted = x @ floats(4, 4) if op == "matmul" else 2 * x
    np.testing.assert_allclose(interpret(found.graph, {"x": x})["y"], wanted, rtol=1e-5)


def test_the_refusal_names_the_option():
    (reason,) = translate(checked_model(branching()), {}).lost.values()
    assert reason.endswith("known only when the model runs: give --set-input cached=VALUE")


def test_no_option_is_named_for_an_input_of_many_numbers():
    proto = branching()
    most = helper.make_node("ReduceMax", ["x"], ["largest"], keepdims=0)
    positive = helper.make_node("Cast", ["largest"], ["scalar"], to=TensorProto.BOOL)
    branch = proto.graph.node[1]
    del proto.graph.node[:]
    proto.graph.node.extend([most, positive, branch])
    (reason,) = translate(checked_model(proto), {}).lost.values()
    assert reason.endswith("known only when the model runs")


KINDS = {
    "flag": TensorType("bool", ()),
    "x": TensorType("float32", (2, 3)),
    "small": TensorType("int8", (2,)),
}


def test_a_number_is_in_all_elements():
    found = fixed_values(KINDS, {"x": "1.5", "small": "-128", "flag": "1"})
    np.testing.assert_array_equal(found["x"], np.full((2, 3), 1.5, np.float32))
    np.testing.assert_array_equal(found["small"], np.array([-128, -128], np.int8))
    assert found["flag"].dtype == bool
    assert found["flag"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("flags", "true", "no input has this name; there are flag, x, small; did you mean flag?"),
        ("flag", "2", "flag is bool[]: 2 is not true or false"),
        ("small", "128", "small is int8[2]: 128 is not a number of int8"),
        ("small", "1.5", "small is int8[2]: 1.5 is not a number of int8"),
        ("x", "nan", "x is float32[2x3]: nan is not a number of float32"),
        ("x", "1e39", "x is float32[2x3]: 1e39 is not a number of float32"),
        ("x", "", "x is float32[2x3]:  is not a number of float32"),
    ],
)
def test_what_is_no_number_of_an_input(name, text, message):
    with pytest.raises(ImportProblem) as problem:
        fixed_values(KINDS, {name: text})
    assert message in str(problem.value)
    assert str(problem.value).startswith(f"--set-input {name}={text}: ")
