"""Operators of two matrices: by hand, as texts, and what they refuse."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.functions.table import Function
from celosia.sw.ir.graphs.combination import Combine
from celosia.sw.ir.graphs.operator import Rules, Values
from celosia.sw.ir.graphs.tensors import Tensor, View


def whole(name: str, cols: int = 4) -> View:
    return View(name, 0, 0, 2, cols)


MULTIPLY = Combine(
    name="m", function="multiply", out=whole("out"), a=whole("a"), b=whole("b"), scale=0.5
)
ROTATE = replace(MULTIPLY, name="r", function="rotate")
TYPES = {"out": "int8", "a": "int16", "b": "int16", "u8": "uint8", "i32": "int32", "i16": "int16"}
RULES = Rules({name: Tensor(name, kind, 2, 4) for name, kind in TYPES.items()}, {})


def test_a_product_of_elements_is_scaled():
    values = {name: np.zeros((2, 4), kind) for name, kind in TYPES.items()}
    values["a"][...] = [[1, 2, -3, 100], [0, 5, 7, -100]]
    values["b"][...] = [[2, 2, 2, 2], [9, -2, 2, 200]]
    MULTIPLY.compute(Values({}, values))
    assert values["out"].tolist() == [[1, 2, -3, 100], [0, -5, 7, -128]]
    replace(MULTIPLY, out=whole("u8"), zero_point=3).compute(Values({}, values))
    assert values["u8"].tolist() == [[4, 5, 0, 103], [3, 0, 10, 0]]


def test_which_function_and_parts():
    assert (MULTIPLY.instruction, MULTIPLY.scales) == (Function.MULTIPLY, {"scale2": 0.5})
    assert MULTIPLY.has_some_cols
    assert not ROTATE.has_some_cols
    assert MULTIPLY.alike == replace(MULTIPLY, scale=2.0).alike != ROTATE.alike
    part = MULTIPLY.some_cols(1, 2)
    assert (part.a.col, part.b.cols, part.out.col) == (1, 2, 1)
    assert MULTIPLY.some_rows(1, 1).b == View("b", 1, 0, 1, 4)


def test_texts():
    places = f"{whole('a')}, {whole('b')}"
    assert str(MULTIPLY) == f"m: {whole('out')} = multiply {places} -> requantize 0.5"
    text = str(replace(ROTATE, zero_point=3))
    assert text == f"r: {whole('out')} = rotate {places} -> requantize 0.5, zero point 3"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"function": "add"}, "function: 'add' is none of multiply"),
        ({"a": whole("out")}, "a: out[0:2, 0:4] is int8, not int16"),
        ({"b": whole("i32")}, "b: i32[0:2, 0:4] is int32, not int16"),
        ({"a": whole("a", 3)}, "a: a[0:2, 0:3] is 2x3, not 2x4"),
        ({"b": whole("b", 3)}, "b: b[0:2, 0:3] is 2x3, not 2x4"),
        ({"out": whole("i32")}, "out: i32[0:2, 0:4] is int32"),
        ({"scale": np.inf}, "scale: inf"),
        ({"zero_point": 1}, "zero point: 1 is not in 0..0"),
    ],
)
def test_what_cannot_be_combined(changes, message):
    MULTIPLY.check(RULES)
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(MULTIPLY, **changes).check(RULES)


def test_halves_are_of_whole_columns():
    ROTATE.check(RULES)
    odd = {"out": whole("out", 3), "a": whole("a", 3), "b": whole("b", 3)}
    replace(MULTIPLY, **odd).check(RULES)
    with pytest.raises(ValueError, match="rotate: rows of 3 columns are not two halves"):
        replace(ROTATE, **odd).check(RULES)
