"""Numbers of 16 bits that stand alone: those that a GELU is written with are not rounded."""

from collections import Counter

import numpy as np
import pytest
from onnx import TensorProto, helper

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
