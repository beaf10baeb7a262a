"""Models are imported whole, and what is wrong with one is said with its place."""

import os
from contextlib import suppress

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from celosia.sw.frontend.importer.import_model import examine, import_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError
from tests.sw.frontend.importer.models import FLOAT, floats, graph_of, imported, model

node = helper.make_node


def test_shapes_that_are_computed_from_shapes_are_folded():
    """The way in which exporters write (batch, rows, heads, columns)."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["batch"], axis=0),
        node("Unsqueeze", ["batch", "axes"], ["batches"]),
        node("Concat", ["batches", "rest"], ["wanted"], axis=0),
        node("Reshape", ["x", "wanted"], ["y"], name="/reshape"),
    ]
    constants = {"zero": np.int64(0), "axes": np.array([0]), "rest": np.array([-1, 2, 4])}
    constants = {name: np.asarray(value) for name, value in constants.items()}
    found = imported(model(nodes, {"x": ["batch", 6, 8]}, ["y"], constants), batch=3)
    (reshape,) = found.graph.nodes
    assert (reshape.op, reshape.type.shape) == ("reshape", (3, 6, 2, 4))
    assert reshape.origin == "/reshape (Reshape)"
    assert found.graph.constants == {}
    assert found.labels["/reshape (Reshape)"] == "Reshape"


def test_functions_are_inlined_with_their_attributes():
    scale = node("Softmax", ["a"], ["s"], name="inner")
    attribute = scale.attribute.add(name="axis", type=2)
    attribute.ref_attr_name = "along"
    function = helper.make_function(
        "mine",
        "Twice",
        ["a"],
        ["b"],
        [scale, node("Add", ["s", "s"], ["b"])],
        [helper.make_opsetid("", 17)],
        attributes=["along"],
    )
    proto = model(
        [node("Twice", ["x"], ["y"], name="call", domain="mine", along=0)],
        {"x": [2, 3]},
        ["y"],
        functions=[function],
    )
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    graph = imported(proto).graph
    assert [n.origin for n in graph.nodes] == ["call/inner (Softmax)", "call/b (Add)"]
    assert graph.nodes[0].attributes == {"axis": 0}


@pytest.mark.parametrize(("given", "axis"), [({}, 1), ({"along": 0}, 0)])
def test_an_attribute_that_a_call_leaves_out_has_the_default_of_the_function(given, axis):
    softmax = node("Softmax", ["a"], ["b"])
    softmax.attribute.add(name="axis", type=2).ref_attr_name = "along"
    function = helper.make_function(
        "mine",
        "Shares",
        ["a"],
        ["b"],
        [softmax],
        [helper.make_opsetid("", 17)],
        attribute_protos=[helper.make_attribute("along", 1)],
    )
    call = node("Shares", ["x"], ["y"], domain="mine", **given)
    proto = model([call], {"x": [2, 3]}, ["y"], functions=[function])
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    (found,) = imported(proto).graph.nodes
    assert found.attributes == {"axis": axis}


def test_a_branch_whose_condition_is_known_is_inlined():
    then = graph_of([node("Relu", ["x"], ["t"])], {}, ["t"])
    other = graph_of([node("Exp", ["x"], ["e"])], {}, ["e"])
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    for value, op in ((True, "relu"), (False, "exp")):
        found = imported(model(nodes, {"x": [2]}, ["y"], {"c": np.array(value)}))
        assert [n.op for n in found.graph.nodes] == [op]


def test_nodes_may_stand_in_any_order():
    nodes = [node("Exp", ["h"], ["y"]), node("Relu", ["x"], ["h"])]
    assert [n.op for n in imported(model(nodes, {"x": [2]}, ["y"])).graph.nodes] == ["relu", "exp"]


def test_a_branch_that_hands_on_what_is_around_it_stands_behind_that():
    """Its only name is that of its output: no node of the branch reads it."""
    branch = graph_of([], {}, ["h"])
    nodes = [
        node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
        node("Relu", ["x"], ["h"]),
    ]
    found = imported(model(nodes, {"x": [2]}, ["y"], {"c": np.array(True)}))
    assert not found.refused
    assert [n.op for n in found.graph.nodes] == ["relu"]


@pytest.mark.parametrize(
    ("dtype", "name"), [(TensorProto.FLOAT16, "float16"), (TensorProto.BFLOAT16, "bfloat16")]
)
@pytest.mark.parametrize("raw", [True, False])
def test_weights_of_16_bits_become_float32_and_a_note_says_so(dtype, name, raw):
    values = [1.5, -2.0, 0.25]
    weights = helper.make_tensor("w", dtype, [3], values)
    if raw:
        bits = np.array(weights.int32_data, np.uint16)
        weights = helper.make_tensor("w", dtype, [3], bits.tobytes(), raw=True)
    found = imported(model([node("Mul", ["x", "w"], ["y"])], {"x": [3]}, ["y"], {"w": weights}))
    np.testing.assert_array_equal(found.graph.constants["w"], np.array(values, np.float32))
    assert found.notes == (f"6 bytes of {name} weights are converted to float32",)


@pytest.mark.parametrize("opset", [7, 8, 9, 10])
def test_old_operators_are_upgraded(opset):
    nodes = [
        node("Gemm", ["x", "w", "b"], ["h"]),
        node("Dropout", ["h"], ["d"], ratio=0.5),
        node("Softmax", ["d"], ["p"], axis=1),
        node("MatMul", ["p", "w"], ["y"]),
    ]
    proto = model(nodes, {"x": [3, 4]}, ["y"], {"w": floats(4, 4), "b": floats(4)}, opset=opset)
    proto.ir_version = 3
    for tensor in proto.graph.initializer:  # So old files have them as inputs, too.
        value = helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims)
        proto.graph.input.append(value)
    found = imported(proto)
    assert found.notes == (f"opset {opset} is upgraded to 11 by onnx's converter",)
    assert [each.op for each in found.graph.nodes] == ["matmul", "add", "softmax", "matmul"]
    given = {"x": floats(3, 4)}
    (expected,) = map(np.asarray, ReferenceEvaluator(proto).run(None, given))
    np.testing.assert_allclose(interpret(found.graph, given)["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [[-1, 3, -1], ["?", 3, "?"], [None, 3, None]])
def test_sizes_without_a_name_are_bound_apart(shape):
    proto = model([node("Relu", ["x"], ["y"])], {"x": shape}, ["y"])
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, shape))
    found = imported(proto, **{"x.0": 2, "x.2": 5})
    assert found.graph.inputs["x"].shape == (2, 3, 5)
    with pytest.raises(ImportProblem, match=r"not bound: give --dim x\.2=N"):
        imported(proto, **{"x.0": 2})
    with pytest.raises(ImportProblem, match=r"--dim \?=2: no input has this size; .* x\.0, x\.2"):
        imported(proto, **{"?": 2})


def test_softmax_before_opset_13_flattens():
    x = floats(2, 3, 4)
    for opset, rows in ((12, (2, 12)), (13, (2, 3, 4))):
        proto = model([node("Softmax", ["x"], ["y"], axis=1)], {"x": [2, 3, 4]}, ["y"], opset=opset)
        result = interpret(imported(proto).graph, {"x": x})["y"]
        powers = np.exp(x.reshape(rows))
        wanted = (powers / powers.sum(axis=1, keepdims=True)).reshape(2, 3, 4)
        np.testing.assert_allclose(result, wanted, rtol=1e-5)


def test_all_that_a_model_has_no_meaning_for_is_listed():
    nodes = [
        node("Relu", ["x"], ["a"], name="fine"),
        node("Det", ["a"], ["b"], name="odd"),
        node("Exp", ["b"], ["y"], name="behind"),
        node("Multinomial", ["a"], ["z"], name="drawn"),
    ]
    found = imported(model(nodes, {"x": [2, 2]}, ["y", "a"]))
    assert found.refused == {
        "odd (Det)": "operator Det is not supported",
        "behind (Exp)": "it depends on odd (Det): operator Det is not supported",
        "drawn (Multinomial)": "operator Multinomial is not supported",
    }
    assert list(found.graph.outputs) == ["a"]
    assert [n.op for n in found.graph.nodes] == ["relu"]
    assert found.lost == {"y": "it depends on odd (Det): operator Det is not supported"}


def test_files_are_imported_with_data_beside_them(tmp_path):
    weights = floats(4, 3)
    (tmp_path / "weights.bin").write_bytes(b"????" + weights.tobytes())
    path = tmp_path / "model.onnx"
    proto = model([node("MatMul", ["x", "w"], ["y"])], {"x": ["n", 4]}, ["y"], {"w": external()})
    path.write_bytes(proto.SerializeToString())
    found = import_model(path, {"n": 2}).graph
    value = found.constants["w"]
    np.testing.assert_array_equal(value, weights)
    while not isinstance(value, np.memmap):
        assert isinstance(value.base, np.ndarray)
        value = value.base
    assert found.macs() == {"y": 2 * 4 * 3}


def external(location="weights.bin", offset="4", shape=(4, 3), **entries):
    tensor = TensorProto(name="w", data_type=FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": offset, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (external("/etc/passwd"), "are not in the model's folder"),
        (external("../outside.bin"), "are not in the model's folder"),
        (external("link.bin"), "are not in the model's folder"),
        (external(""), "are not in the model's folder"),
        (external("a\0b"), "are not in the model's folder"),
        (external("missing.bin"), "No such file"),
        (external("pipe"), "is a pipe"),
        (external(offset="5"), "bytes 5 to 53 are not in the 52"),
        (external(offset="-4"), "bytes -4 to 44 are not in"),
        (external(offset="x"), "offset or length of its data is no number"),
        (external(length="40"), "have 40 bytes, not 12 elements of 4"),
        (external(shape=(1 << 40, 3)), "more than this machine's memory"),
        (external(shape=(-1, 3)), "its sizes are"),
    ],
)
def test_data_outside_of_the_folder_or_of_their_file_are_refused(tensor, message, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside.bin").write_bytes(bytes(52))
    (folder / "weights.bin").write_bytes(bytes(52))
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    os.mkfifo(folder / "pipe")
    path = folder / "model.onnx"
    proto = model([node("MatMul", ["x", "w"], ["y"])], {"x": [2, 4]}, ["y"], {"w": tensor})
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ImportProblem, match=message):
        import_model(path, {})


def broken(**changes):
    """A model of one Relu, with something wrong in it."""
    arguments = {
        "nodes": [node("Relu", ["x"], ["y"], name="relu")],
        "inputs": {"x": [2, 3]},
        "outputs": ["y"],
    } | changes
    return model(**arguments)


def tensor_of(**fields):
    return TensorProto(name="w", data_type=FLOAT, **fields)


RELU = node("Relu", ["x"], ["h"])
UNKNOWN = TensorProto(name="w", data_type=77, dims=[3])
NAN = np.array([1, np.nan, 2], np.float32)
CIRCLE = [node("Add", ["x", "b"], ["a"], name="one"), node("Relu", ["a"], ["b"], name="two")]
INF = np.array([[1, 2], [np.inf, 4], [5, 6]], np.float32)
PRODUCT = [node("MatMul", ["x", "w"], ["y"], name="mm")]
ADD = [node("Add", ["x", "w"], ["y"], name="add")]


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (broken(opset=6), "it imports opset 6; known are 7 to 28"),
        (
            broken(opset=9, nodes=[node("Foo", ["x"], ["y"])]),
            "it imports opset 9, which onnx's converter cannot upgrade to 11: .*registered schema",
        ),
        (broken(opset=99), "it imports opset 99"),
        (broken(inputs={"x": ["n", 3]}), "not bound: give --dim n=N"),
        (broken(inputs={"x": [None, 3]}), "not bound: give --dim x.0=N"),
        (broken(inputs={"x": [-2, 3]}), "input x: axis 0 has size -2"),
        (broken(nodes=CIRCLE, outputs=["b"]), "wait for each other: .*one.*two"),
        (broken(nodes=[RELU, RELU]), r"h is made twice: by h \(Relu\) and"),
        (broken(outputs=[]), "its graph has no outputs"),
        (broken(nodes=[RELU], outputs=["y"]), "reads y, which nothing makes"),
        (broken(nodes=ADD), r"add \(Add\): it reads w, which nothing makes"),
        (broken(nodes=ADD, constants={"w": NAN}), "tensor w: NaN in 1 of its 3 elements"),
        (
            broken(nodes=PRODUCT, constants={"w": INF}),
            r"mm \(MatMul\): tensor w: infinity in 1 of its 6 elements",
        ),
        (broken(nodes=ADD, constants={"w": floats(4)}), r"add \(Add\): .*2x3.* do not broadcast"),
        (broken(nodes=ADD, constants={"w": tensor_of(dims=[3])}), "it has 0 elements, not 3"),
        (broken(nodes=ADD, constants={"w": tensor_of(dims=[3], raw_data=b"ab")}), "2 bytes are no"),
        (broken(nodes=ADD, constants={"w": np.array(["a", "b"])}), "type STRING are not supported"),
        (broken(nodes=ADD, constants={"w": UNKNOWN}), "elements of type 77 are not supported"),
        (broken(nodes=[node("Foo", ["x"], ["y"], domain="my.own")]), "domain 'my.own' is unknown"),
        (broken(nodes=[node("Foo", ["x"], ["y"])]), "there is no operator Foo in domain ''"),
        (broken(nodes=[node("Relu", ["x"], ["y"], magic=3)]), "attribute magic is not supported"),
        (broken(nodes=[node("Relu", ["x", "x"], ["y"])]), r"operand 1 \(x\) is not supported"),
        (broken(nodes=[node("Relu", [], ["y"])]), "its operand 0 is missing"),
        (broken(nodes=[node("Transpose", ["x"], ["y"], perm=[0])]), "does not name the axes"),
        (broken(nodes=[node("Transpose", ["x"], ["y"], perm="no")]), "'no' is no ints"),
        (broken(nodes=[node("Softmax", ["x"], ["y"], axis=7)]), r"axis 7 is not in -2\.\.1"),
        (broken(nodes=[node("DepthToSpace", ["x"], ["y"], blocksize=2)]), "not as the standard"),
    ],
)
def test_a_model_that_is_wrong_is_refused_with_place_and_reason(proto, message, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ImportProblem, match=message) as caught:
        import_model(path, {})
    assert str(caught.value).startswith(f"{path}: ")


def test_outputs_that_contradict_the_graph_are_refused_and_other_sizes_noted(tmp_path):
    proto = broken(nodes=[RELU, node("Exp", ["h"], ["y"])])
    proto.graph.value_info.append(helper.make_tensor_value_info("h", FLOAT, [2, 4]))
    assert imported(proto).notes == ("the file says that h is float32[2x4]; it is float32[2x3]",)
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [3, 2]))
    with pytest.raises(ImportProblem, match=r"output y is float32\[2x3\], not float32\[3x2\]"):
        imported(proto)


def test_sizes_that_no_input_has_are_refused():
    proto = broken(inputs={"x": ["n", 3]})
    with pytest.raises(ImportProblem, match="--dim m=4: no input has this size; there are n"):
        imported(proto, n=2, m=4)
    with pytest.raises(ImportProblem, match="--dim n=-1: a size is 0 or more"):
        imported(proto, n=-1)


def test_sizes_that_are_sums_need_no_number_of_their_own():
    nodes = [node("Add", ["x", "m"], ["y"])]
    proto = model(nodes, {"x": ["past", "rows"], "m": ["past", "past + rows - 1"]}, ["y"])
    assert imported(proto, past=1, rows=4).graph.inputs["m"].shape == (1, 4)
    with pytest.raises(ImportProblem, match=r"give --dim past=N --dim rows=N$"):
        imported(proto)
    with pytest.raises(ImportProblem, match=r"input m: its sizes are \(0, -1\)"):
        imported(proto, past=0, rows=0)
    named = {"past": 1, "rows": 4, "past + rows - 1": 4}
    assert imported(proto, **named).graph.inputs["m"].shape == (1, 4)


def test_inputs_larger_than_memory_are_refused():
    with pytest.raises(GraphError, match=r"x: float32.* more than the memory"):
        imported(broken(inputs={"x": [1 << 40, 1 << 20]}))


def test_functions_that_call_themselves_end():
    for calls in (1, 2):
        body = [node("Loop", ["a"], [f"b{i}"], domain="mine") for i in range(calls)]
        function = helper.make_function(
            "mine", "Loop", ["a"], ["b0"], body, [helper.make_opsetid("mine", 1)]
        )
        proto = broken(nodes=[node("Loop", ["x"], ["y"], domain="mine")], functions=[function])
        reason = next(iter(imported(proto).refused.values()))
        assert "more than 32 deep" in reason
        assert reason.count(" (Loop)") == 1


def test_tensors_larger_than_memory_are_refused():
    huge = numpy_helper.from_array(np.array([1 << 40, 1 << 10]), "w")
    proto = broken(nodes=[node("ConstantOfShape", ["w"], ["y"])], constants={"w": huge})
    with pytest.raises(ImportProblem, match="more than the memory"):
        raise ImportProblem(next(iter(imported(proto).refused.values())))


@pytest.mark.parametrize("size", [0, 1, 40, -3])
def test_a_file_that_is_cut_short_is_refused(size, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(broken().SerializeToString()[:size])
    with pytest.raises(ImportProblem, match=f"^{path}: "):
        examine(path, {})


def test_every_flipped_byte_gives_a_model_or_a_message(tmp_path):
    proto = broken(nodes=ADD, constants={"w": floats(3)})
    data, path = proto.SerializeToString(), tmp_path / "model.onnx"
    for place in range(len(data)):
        for change in (0x01, 0x08, 0x80):
            path.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
            with suppress(ImportProblem):
                examine(path, {})
