"""Numbers of 16 bits that stand alone: those that a GELU is written with are not rounded."""

from collections import Counter

import numpy as np
import pytest
from onnx import TensorProto, helper

from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.source.tensors import read_tensor
from celosia.sw.frontend.recognize.recognize import recognized_graph
from tests.sw.frontend.importer.models import imported, model

NUMBERS = {
    # The root of 2, that of 1/2 and that of 2/pi, and the cube's factor, by IEEE 754 and bfloat16.
    TensorProto.FLOAT16: (1.4140625, 0.70703125, 0.7978515625, 0.044708251953125),
    TensorProto.BFLOAT16: (1.4140625, 0.70703125, 0.796875, 0.044677734375),
}
EXACT = (1.41421356, 0.70710678, 0.79788456, 0.044715)


def tensor(kind, *values, shape=()):
    return helper.make_tensor("number", kind, shape, values)


def read(proto):
    return read_tensor(proto, None, lambda *_: None)


@pytest.mark.parametrize("kind", NUMBERS)
def test_only_numbers_of_gelu_are_read_as_what_they_were_rounded_from(kind):
    for rounded, exact in zip(NUMBERS[kind], EXACT, strict=True):
        found = read(tensor(kind, rounded))
        assert (found.dtype, found.shape) == (np.float32, ())
        assert found == np.float32(exact)
        assert (read(tensor(kind, rounded, rounded, shape=(2,))) == rounded).all(), "a row"
        assert read(tensor(TensorProto.FLOAT, rounded)) == rounded, "32 bits are not rounded"
    for other in (0.5, 0.7109375, -1.4140625, np.inf, np.nan):
        np.testing.assert_array_equal(read(tensor(kind, other, shape=(1, 1))), [[other]])


def by_division(root, _half, _tanh, _cube):
    return (
        ("Div", "x", root),
        ("Erf", "0"),
        ("Add", "1", 1),
        ("Mul", "x", "2"),
        ("Mul", "3", 0.5),
    )


def by_product(_root, half, _tanh, _cube):
    return (
        ("Mul", "x", half),
        ("Erf", "0"),
        ("Add", "1", 1),
        ("Mul", "x", 0.5),
        ("Mul", "3", "2"),
    )


def by_tanh(_root, _half, root, cube):
    return (
        ("Mul", "x", "x"),
        ("Mul", "0", "x"),
        ("Mul", "1", cube),
        ("Add", "x", "2"),
        ("Mul", "3", root),
        ("Tanh", "4"),
        ("Add", "5", 1),
        ("Mul", "x", "6"),
        ("Mul", "7", 0.5),
    )


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("write", [by_division, by_product, by_tanh])
def test_gelu_of_a_file_of_16_bits_is_one(write, kind):
    """As converters write it: no operator rounds, only the numbers are rounded."""
    constants, nodes = {}, []
    for number, (op, *operands) in enumerate(write(*NUMBERS[kind])):
        names = [each if isinstance(each, str) else f"c{each}" for each in operands]
        constants |= {
            name: tensor(kind, each)
            for name, each in zip(names, operands, strict=True)
            if not isinstance(each, str)
        }
        nodes.append(helper.make_node(op, names, [str(number)]))
    for name, each in constants.items():
        each.name = name
    found = imported(model(nodes, {"x": [3, 8]}, [nodes[-1].output[0]], constants))
    assert Counter(node.op for node in recognized_graph(found.graph).nodes) == {"gelu": 1}


def outside(proto, **entries):
    """A tensor whose elements are in a file."""
    proto.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        proto.external_data.add(key=key, value=str(value))
    return proto


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (TensorProto(name="t", data_type=1, dims=[2, -1]), r"its sizes are \(2, -1\)"),
        (TensorProto(name="t", data_type=8, dims=[1]), "elements of type STRING are not supported"),
        (TensorProto(name="t", data_type=1, dims=[2], raw_data=bytes(4)), "has 1 elements, not 2"),
        (TensorProto(name="t", data_type=1, dims=[1], raw_data=bytes(5)), "t"),
        (
            TensorProto(name="t", data_type=1, segment=TensorProto.Segment(begin=0, end=1)),
            "segments of tensors are not supported",
        ),
        (
            outside(TensorProto(name="t", data_type=1, dims=[1]), location="there"),
            "its data are in a file, but the model is in none",
        ),
    ],
)
def test_what_is_no_tensor_is_refused_with_its_name(proto, message):
    with pytest.raises(ImportProblem, match=f"^tensor t.*{message}"):
        read(proto)


@pytest.mark.parametrize(
    ("dims", "entries", "found"),
    [
        ([3], {}, [0, 1, 2]),
        ([2], {"offset": 8}, [2, 3]),
        ([4], {"length": 16}, [0, 1, 2, 3]),
        ([0], {"offset": 16}, []),
        ([5], {}, "bytes 0 to 20 are not in the 16 of"),
        ([2], {"offset": 9}, "bytes 9 to 17 are not in the 16 of"),
        ([1], {"offset": -1}, "bytes -1 to 3 are not in"),
        ([1], {"offset": 17}, "bytes 17 to 21 are not in"),
        ([2], {"length": 9}, "its data have 9 bytes, not 2 elements of 4 bytes"),
        ([1], {"offset": "x"}, "offset or length of its data is no number"),
    ],
)
def test_elements_in_a_file_are_those_from_an_offset_on(dims, entries, found, tmp_path):
    (tmp_path / "data").write_bytes(np.arange(4, dtype="<i4").tobytes())
    proto = TensorProto(name="t", data_type=TensorProto.INT32, dims=dims)
    proto = outside(proto, location="data", **entries)
    if isinstance(found, str):
        with pytest.raises(ImportProblem, match=f"^tensor t: {found}"):
            read_tensor(proto, tmp_path, lambda *_: None)
    else:
        assert read_tensor(proto, tmp_path, lambda *_: None).tolist() == found
