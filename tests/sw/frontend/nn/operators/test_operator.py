"""Types, attributes and axes: what fits, and the sentence for what does not."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import (
    GraphError,
    Kind,
    TensorType,
    broadcast_shapes,
    normalized_axes,
    normalized_axis,
    same_types,
)
from celosia.sw.frontend.nn.operators.table import OPERATORS


def of(*shape, dtype="float32"):
    return TensorType(dtype, shape)


def test_a_type_counts_axes_elements_and_bytes():
    assert (of(2, 3).rank, of(2, 3).size, of(2, 3).bytes, str(of(2, 3))) == (
        2,
        6,
        24,
        "float32[2x3]",
    )
    assert (of().rank, of().size, str(of())) == (0, 1, "float32[]")
    assert (of(0, 3).size, of(4, dtype="int64").bytes, of(4, dtype="bool").bytes) == (0, 32, 4)
    assert [of(dtype=each).is_float for each in ("float32", "float64", "int8")] == [
        True,
        True,
        False,
    ]
    assert TensorType.of(np.zeros((1, 2), np.uint16)) == of(1, 2, dtype="uint16")


@pytest.mark.parametrize(
    ("kind", "fitting"),
    [
        (Kind.INT, [1, -1]),
        (Kind.FLOAT, [1.0]),
        (Kind.BOOL, [True]),
        (Kind.TEXT, ["a"]),
        (Kind.INTS, [(), (1, 2)]),
    ],
)
def test_an_attribute_is_of_its_kind_alone(kind, fitting):
    values = [1, -1, 1.0, True, "a", (), (1, 2), (1, True), (1.0,), [1, 2], None]
    assert [each for each in values if kind.fits(each) and type(each) is not list] == fitting


def test_axes_are_counted_from_either_end():
    assert [normalized_axis(axis, 3) for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert normalized_axes((2, -3), 3) == (0, 2)
    for axis in (-4, 3):
        with pytest.raises(GraphError, match=rf"^axis {axis} is not in -3\.\.2$"):
            normalized_axis(axis, 3)
    with pytest.raises(GraphError, match=r"^axes \(1, -2\) name one twice$"):
        normalized_axes((1, -2), 3)


def test_operands_have_one_type_and_broadcast():
    assert same_types([of(1), of(2)], ("float32",)) == "float32"
    with pytest.raises(GraphError, match="of different types: float32, int8"):
        same_types([of(1, dtype="int8"), of(2)], ("float32", "int8"))
    with pytest.raises(GraphError, match="it is not for int8"):
        same_types([of(1, dtype="int8")], ("float32",))
    assert broadcast_shapes([of(2, 1), of(3)]) == (2, 3)
    with pytest.raises(GraphError, match=r"float32\[2\] and float32\[3\] do not broadcast to one"):
        broadcast_shapes([of(2), of(3)])


@pytest.mark.parametrize(
    ("name", "types", "attributes", "said"),
    [
        ("add", [of(2)], {}, "add has 2 to 2 operands, not 1"),
        ("add", [of(2)] * 3, {}, "add has 2 to 2 operands, not 3"),
        ("concat", [], {"axis": 0}, "concat has 1 operands, not 0"),
        ("tanh", [of(2)], {"axis": 0}, "tanh has the attributes none, not axis"),
        ("softmax", [of(2)], {}, "softmax has the attributes axis, not "),
        ("softmax", [of(2)], {"axis": 1.0}, "softmax: axis: 1.0 is no int"),
        ("softmax", [of(2)], {"axis": 5}, r"axis 5 is not in -1\.\.0"),
    ],
)
def test_what_is_no_call_of_an_operator_is_refused(name, types, attributes, said):
    with pytest.raises(GraphError, match=said):
        OPERATORS[name].result_type(types, attributes)
