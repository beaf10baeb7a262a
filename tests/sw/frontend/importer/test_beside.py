"""Models of several files in one graph: whose name is whose."""

import numpy as np
import pytest
from onnx import TensorProto, helper, load_model, save_model

from celosia.sw.frontend.importer.import_model import Imported, examine, import_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.interpret import interpret
from tests.sw.frontend.importer.models import floats, model

node = helper.make_node


@pytest.fixture
def write(tmp_path):
    """Writes y = x w of other weights, as a file of this name."""

    def written(name: str, seed: int, *shape: int | str, **more):
        nodes = more.pop("nodes", [node("MatMul", ["x", "w"], ["y"], name="/product")])
        proto = model(nodes, {"x": shape}, ["y"], {"w": floats(4, 3, seed=seed)}, **more)
        path = tmp_path / name
        path.write_bytes(proto.SerializeToString())
        return path

    return written


def computed(found: Imported, **inputs):
    """The outputs, for inputs whose names have one underscore for the slash."""
    given = {name.replace("_of_", "/"): value for name, value in inputs.items()}
    return interpret(found.graph, given)


def test_each_computes_what_it_does_alone_under_the_name_of_its_file(write):
    one, other = write("a.onnx", 1, "n", 4), write("b.onnx", 2, "n", 4, opset=13)
    found = import_model(one, {"a/n": 2, "b/n": 5}, beside=[other])
    assert {name: kind.shape for name, kind in found.graph.inputs.items()} == {
        "a/x": (2, 4),
        "b/x": (5, 4),
    }
    assert [*found.labels] == ["a//product (MatMul)", "b//product (MatMul)"]
    assert [each.origin for each in found.graph.nodes] == [*found.labels]
    x, y = floats(2, 4, seed=3), floats(5, 4, seed=4)
    outputs = computed(found, a_of_x=x, b_of_x=y)
    assert outputs.keys() == {"a/y", "b/y"}
    np.testing.assert_allclose(outputs["a/y"], x @ floats(4, 3, seed=1), rtol=1e-5)
    np.testing.assert_allclose(outputs["b/y"], y @ floats(4, 3, seed=2), rtol=1e-5)


def test_files_of_one_name_are_counted(write, tmp_path):
    (tmp_path / "more").mkdir()
    files = write("a-1.onnx", 1, 2, 4), write("a-1.onnx", 1, 2, 4), write("more/a_1.onnx", 2, 3, 4)
    first, *others = files
    found = import_model(first, {}, beside=others)
    assert [*found.graph.inputs] == ["a_1/x", "a_1_2/x", "a_1_3/x"]
    assert found.graph.inputs["a_1_3/x"].shape == (3, 4)


def test_an_input_is_fixed_by_its_whole_name(write):
    one, other = write("a.onnx", 1, 1, 4), write("b.onnx", 2, 1, 4)
    found = import_model(one, {}, {"b/x": "2"}, [other])
    assert [*found.graph.inputs] == ["a/x"]
    assert found.notes == ("input b/x is 2 from here on",)
    outputs = computed(found, a_of_x=floats(1, 4))
    np.testing.assert_allclose(outputs["b/y"][0], 2 * floats(4, 3, seed=2).sum(0), rtol=1e-5)


def test_what_is_wrong_is_said_of_both(write):
    one, other = write("a.onnx", 1, "n", 4), write("b.onnx", 2, "m", 4)
    named = f"{one} beside {other}: "
    with pytest.raises(ImportProblem, match=f"{named}sizes .* give --dim b/m=N"):
        import_model(one, {"a/n": 1}, beside=[other])
    with pytest.raises(ImportProblem, match=f"{named}--dim n=1: no input .* are a/n, b/m"):
        import_model(one, {"n": 1, "a/n": 1, "b/m": 1}, beside=[other])
    unknown = write("c.onnx", 3, 2, 4, nodes=[node("Foo", ["x"], ["y"], name="foo")])
    with pytest.raises(ImportProblem, match=r"c/foo \(Foo\): there is no operator Foo"):
        import_model(one, {"a/n": 1}, beside=[unknown])
    found = examine(one, {"a/n": 1}, beside=[unknown])
    assert found.lost.keys() == {"c/y"}
    assert found.graph.outputs.keys() == {"a/y"}


def test_what_a_file_says_otherwise_is_noted_under_its_name(write):
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("Relu", ["h"], ["y"])]
    files = [write(name, 1, 2, 4, nodes=nodes) for name in ("a.onnx", "b.onnx")]
    proto = load_model(files[1])
    said = helper.make_tensor_value_info("h", TensorProto.FLOAT, [2, 5])
    proto.graph.value_info.append(said)
    save_model(proto, files[1])
    found = import_model(files[0], {}, beside=files[1:])
    assert found.notes == ("the file says that b/h is float32[2x5]; it is float32[2x3]",)


def test_without_another_one_nothing_is_called_otherwise(write):
    found = import_model(write("a.onnx", 1, "n", 4), {"n": 2})
    assert [*found.graph.inputs, *found.graph.outputs] == ["x", "y"]
