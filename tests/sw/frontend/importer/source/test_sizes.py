"""Sizes of a model's inputs: names, sums of names, and what is open."""

import pytest
from onnx import TensorProto, TypeProto, ValueInfoProto, helper

from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.source.sizes import bound_types, contradiction, prefixed
from celosia.sw.frontend.nn.operators.operator import TensorType


def tensor(*shape: int | str | None, name: str = "x", kind: int = TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def shape(*given: int | str | None, **sizes: int) -> tuple[int, ...]:
    return bound_types([tensor(*given)], sizes)["x"].shape


def test_a_type_has_the_sizes_that_names_are_bound_to():
    inputs = [tensor("batch", 3), tensor(2, "batch", name="y", kind=TensorProto.INT64)]
    assert bound_types(inputs, {"batch": 5}) == {
        "x": TensorType("float32", (5, 3)),
        "y": TensorType("int64", (2, 5)),
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [("past + now", 9), ("past+1", 8), ("past - now", 5), ("past - now + 10 - 1", 14)],
)
def test_a_sum_needs_the_names_in_it(text, size):
    needed = {name: each for name, each in {"past": 7, "now": 2}.items() if name in text}
    assert shape(text, **needed) == (size,)


def test_a_sum_that_has_a_number_of_its_own_is_that():
    found = bound_types([tensor("past + now")], {"past + now": 4})
    assert found["x"].shape == (4,)


def test_names_of_a_file_stand_before_those_of_its_sizes():
    """In each term of a sum, and before what an open size is called by."""
    given = tensor("n", "past + now - 1", None, 3)
    assert prefixed(given, "") is given
    found = prefixed(given, "a/")
    sizes = {"a/n": 2, "a/past": 7, "a/now": 2, "a/x.2": 6}
    assert bound_types([found], sizes)["a/x"].shape == (2, 8, 6, 3)
    assert given.name == "x"


def test_a_size_may_be_0_but_not_less():
    assert shape("n", n=0) == (0,)
    with pytest.raises(ImportProblem, match="--dim n=-1: a size is 0 or more"):
        shape("n", n=-1)
    assert shape("a - b", a=3, b=3) == (0,)
    with pytest.raises(ImportProblem, match=r"input x: its sizes are \(-1,\)"):
        shape("a - b", a=2, b=3)


@pytest.mark.parametrize("given", [-1, "?", "", None])
def test_an_open_size_without_a_name_is_called_by_its_place(given):
    assert bound_types([tensor(2, given)], {"x.1": 6})["x"].shape == (2, 6)
    with pytest.raises(ImportProblem, match=r"give --dim x\.1=N$"):
        shape(2, given)


def test_a_size_that_is_negative_in_the_file_is_refused():
    with pytest.raises(ImportProblem, match="input x: axis 1 has size -2"):
        shape(1, -2)


def test_all_sizes_that_nobody_binds_are_asked_for_at_once():
    with pytest.raises(ImportProblem, match=r"give --dim a=N --dim c=N$"):
        shape("a", "b", "a + c", b=1)


def test_a_size_that_no_input_has_is_refused_with_those_that_there_are():
    with pytest.raises(ImportProblem, match="--dim batsh=2: no input has this size; there are ba"):
        shape("batch", batch=2, batsh=2)
    with pytest.raises(ImportProblem, match="there are none"):
        shape(3, batch=2)


def test_what_is_no_tensor_or_has_no_shape_is_refused():
    nothing, shapeless = ValueInfoProto(name="x"), tensor(1)
    shapeless.type.tensor_type.ClearField("shape")
    for value in (nothing, shapeless):
        with pytest.raises(ImportProblem, match="input x is no tensor with a shape"):
            bound_types([value], {})


def test_a_type_that_there_is_not_names_its_input():
    with pytest.raises(ImportProblem, match=r"^input x: "):
        bound_types([tensor(1, kind=TensorProto.STRING)], {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((2, 3), None),
        (("any", 3), None),
        ((-1, 3), None),
        ((2, 4), "float32[2x4]"),
        (("any", 4), "float32[?x4]"),
        ((2,), "float32[2]"),
        ((2, 3, 1), "float32[2x3x1]"),
    ],
)
def test_a_shape_contradicts_where_a_known_size_is_another(given, said):
    assert contradiction(tensor(*given), TensorType("float32", (2, 3))) == said


def test_a_type_contradicts_unless_the_file_says_none():
    found = TensorType("float32", (2,))
    assert contradiction(tensor(2, kind=TensorProto.INT64), found) == "int64"
    assert contradiction(ValueInfoProto(name="x"), found) is None
    sequence = helper.make_sequence_type_proto(TypeProto())
    assert contradiction(helper.make_value_info("x", sequence), found) == "no tensor"
    shapeless = tensor(7)
    shapeless.type.tensor_type.ClearField("shape")
    assert contradiction(shapeless, found) is None
