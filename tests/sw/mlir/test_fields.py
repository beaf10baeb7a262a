"""Operators from attributes and operands: what is missing or of another type is refused."""

from typing import Any

import pytest

from celosia.sw.ir.graph import MatMul, Requantize, Tensor, Transform, View
from celosia.sw.mlir.fields import build, described, typed
from celosia.sw.mlir.operation import Operation, Place

OPERATION = Operation(name="cel.matmul", place=Place(3, 5))
FINISH = {"kind": "Requantize", "scale": 0.5}
MASK = {"kind": "Mask", "keys": None, "causal": True}


def views(*roles: str) -> dict[str, View]:
    return {role: Tensor(role.replace(".", "_"), "int8", 4, 4).view() for role in roles}


def made(values: dict[str, Any], *roles: str) -> MatMul:
    return build(OPERATION, MatMul, {"name": "p", **values}, views("out", "a", "b", *roles))


def test_fields_come_from_attributes_and_operands():
    found = made({"finish": FINISH, "b_transposed": True}, "bias", "copies.0", "copies.1")
    assert (found.finish, found.b_transposed, found.onto) == (Requantize(0.5), True, None)
    assert found.bias is not None
    assert [view.tensor for view in (found.a, found.b, found.bias, *found.copies)] == [
        "a",
        "b",
        "bias",
        "copies_0",
        "copies_1",
    ]


def test_operands_that_are_used_are_taken_and_others_stay():
    given = views("out", "a", "b", "copies.0", "copies.2")
    build(OPERATION, MatMul, {"name": "p", "finish": FINISH}, given)
    assert list(given) == ["copies.2"]  # There is none before it.


def test_what_is_described_can_be_built_again():
    found = made({"finish": FINISH}, "bias", "copies.0")
    roles: dict[str, View] = {}
    attributes = dict(described(found, "", roles))
    whole = {**FINISH, "zero_point": 0, "relu": False}
    assert list(roles) == ["out", "a", "b", "bias", "copies.0"]
    assert attributes == {"name": "p", "b_transposed": False, "finish": whole}
    assert build(OPERATION, MatMul, attributes, roles) == found
    assert not roles


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "finish is missing"),
        ({"finish": FINISH, "colour": 1}, "colour is no field of MatMul"),
        ({"finish": {**FINISH, "colour": 1}}, "finish.colour is no field of Requantize"),
        ({"finish": {"kind": "Requantize"}}, "finish.scale is missing"),
        ({"finish": {"kind": "Nothing"}}, "finish: its kind is none of Sums, Requantize"),
        ({"finish": {"scale": 1.0}}, "finish: its kind is none of Sums"),
        ({"finish": {**FINISH, "scale": True}}, "finish.scale: True is not of its type"),
        ({"finish": {**FINISH, "scale": "x"}}, "finish.scale: x is not of its type"),
        ({"finish": FINISH, "b_transposed": 1}, "b_transposed: 1 is not of its type"),
        ({"finish": MASK}, "finish: .* is not of its type"),
        ({"finish": FINISH, "copies": (1,)}, r"copies: \(1,\) is not of its type"),
    ],
)
def test_a_refusal_names_the_place_and_the_field(values, said):
    with pytest.raises(ValueError, match=f"^line 3, column 5: cel.matmul: {said}"):
        made(values)


def test_an_operand_that_is_needed_is_missing():
    with pytest.raises(ValueError, match="source is missing"):
        build(OPERATION, Transform, {"name": "t", "finish": FINISH}, views("out"))


def test_an_attribute_is_of_its_type_and_a_truth_is_no_number():
    values = {"rows": 3, "shown": True, "factor": 0.5}
    assert typed(OPERATION, values, "rows", int) == 3
    assert typed(OPERATION, values, "shown", bool) is True
    for name, kind, said in (
        ("shown", int, "shown is True, no int"),
        ("rows", bool, "rows is 3, no bool"),
        ("factor", int, "factor is 0.5, no int"),
        ("cols", int, "cols is missing"),
    ):
        with pytest.raises(ValueError, match=f"cel.matmul: {said}$"):
            typed(OPERATION, values, name, kind)
