"""Elements: integers at the ends of their ranges, NaN and infinity, and types that do not go."""

import numpy as np
import pytest

from tests.support.float_operators import computed, refused, result_of


def test_integers_are_divided_toward_zero_and_by_zero_give_zero():
    a, b = np.array([7, -7, 7, -7, 6, 0, 5]), np.array([2, 2, -2, -2, -3, 5, 1])
    np.testing.assert_array_equal(computed("div", a, b), [3, -3, -3, 3, -2, 0, 5])
    zero = computed("div", np.array([5, -5, 0]), np.array([0, 0, 0]))
    np.testing.assert_array_equal(zero, [0, 0, 0])
    floats = computed("div", np.array([7, -1], np.float32), np.array([2, 0.5], np.float32))
    np.testing.assert_array_equal(floats, [3.5, -2])
    high = np.array([255, 254], np.uint8)
    np.testing.assert_array_equal(computed("div", high, np.array([2, 255], np.uint8)), [127, 0])


def test_powers_of_integers_with_negative_exponents_are_cut():
    a, b = np.array([2, -3, 1, -1, -1, 5, 2]), np.array([3, 3, -4, -4, -3, -1, 0])
    np.testing.assert_array_equal(computed("pow", a, b), [8, -27, 1, 1, -1, 0, 1])
    floats = computed("pow", np.array([2, 9], np.float32), np.array([-1, 0.5], np.float32))
    np.testing.assert_array_equal(floats, [0.5, 3])


def test_the_logistic_function_never_overflows():
    x = np.array([-1000, -2, 0, 2, 1000], np.float32)
    found = computed("sigmoid", x)
    np.testing.assert_allclose(found, [0, 0.1192029, 0.5, 0.8807971, 1], rtol=1e-6)


def test_rests_have_the_sign_of_one_operand():
    a, b = np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])
    np.testing.assert_array_equal(computed("mod", a, b, truncate=True), [1, -1, 1, -1])
    np.testing.assert_array_equal(computed("mod", a, b, truncate=False), [1, 2, -2, -1])


def test_floats_become_integers_by_truncation_and_unsigned_ones_wrap():
    x = np.array([-1.9, 1.9, 300.5], np.float32)
    np.testing.assert_array_equal(computed("cast", x, to="int32"), [-1, 1, 300])
    np.testing.assert_array_equal(computed("cast", x, to="uint8"), [255, 1, 44])
    np.testing.assert_array_equal(computed("cast", x, to="bool"), [True, True, True])
    refused("to: 'float16' is none of float32, float64", "cast", "float32[1]", to="float16")


def test_ties_of_sixteen_bits_go_to_even_in_either_sign():
    step = 2.0**-8
    x = np.array([1 + step, 1 + 3 * step, -1 - step, 1 + 1.01 * step, 0], np.float32)
    wanted = [1, 1 + 4 * step, -1, 1 + 2 * step, 0]
    np.testing.assert_array_equal(computed("round_float", x, to="bfloat16"), wanted)
    step = 2.0**-11
    x = np.array([1 + step, 1 + 3 * step, -1 - step, 2.0**-25, 65519], np.float32)
    wanted = [1, 1 + 4 * step, -1, 0, 65504]
    np.testing.assert_array_equal(computed("round_float", x, to="float16"), wanted)
    scalar = computed("round_float", np.float32(1 + 2**-9), to="bfloat16")
    assert (scalar.shape, scalar) == ((), 1)
    refused("to: 'int8' is none of float16, bfloat16", "round_float", "float32[1]", to="int8")
    refused("it is not for float64", "round_float", "float64[1]", to="float16")


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("floor", [-2, -1, 0, 1]),
        ("round", [-2, 0, 0, 2]),
        ("neg", [1.5, 0.5, -0.5, -1.5]),
        ("abs", [1.5, 0.5, 0.5, 1.5]),
    ],
)
def test_whole_numbers_beside_halves(op, wanted):
    halves = np.array([-1.5, -0.5, 0.5, 1.5], np.float32)
    np.testing.assert_array_equal(computed(op, halves), wanted)


def test_not_a_number_wins_and_comparisons_with_it_are_false():
    a, b = np.array([np.nan, 1, 2], np.float32), np.array([0, np.nan, 2], np.float32)
    for op in ("max", "min"):
        np.testing.assert_array_equal(computed(op, a, b), np.array([np.nan, np.nan, 2], np.float32))
    for op, last in (("equal", True), ("less", False), ("less_equal", True)):
        np.testing.assert_array_equal(computed(op, a, b), [False, False, last])
    np.testing.assert_array_equal(computed("is_nan", a), [True, False, False])


def test_bits_and_sums_of_integers():
    a, b = np.array([0b1100, -1], np.int8), np.array([0b1010, 127], np.int8)
    for op, wanted in (
        ("and", [0b1000, 127]),
        ("or", [0b1110, -1]),
        ("xor", [0b0110, -128]),
        ("add", [22, 126]),
        ("sub", [2, -128]),
        ("mul", [120, -127]),
    ):
        np.testing.assert_array_equal(computed(op, a, b), np.array(wanted, np.int8))
    np.testing.assert_array_equal(computed("not", a), np.array([-13, 0], np.int8))
    np.testing.assert_array_equal(computed("not", np.array([True])), [False])


def test_types_of_results_and_those_that_are_refused():
    assert result_of("less", "int8[2x1]", "int8[3]") == "bool[2x3]"
    assert result_of("where", "bool[2x1]", "int8[3]", "int8[]") == "int8[2x3]"
    assert result_of("mod", "int8[2x1]", "int8[3]", truncate=True) == "int8[2x3]"
    refused("its condition is int8, not bool", "where", "int8[1]", "int8[1]", "int8[1]")
    refused("of different types: float32, int8", "where", "bool[1]", "int8[1]", "float32[1]")
    refused("of different types: int16, int8", "add", "int8[1]", "int16[1]")
    refused("int8[2] and int8[3] do not broadcast", "add", "int8[2]", "int8[3]")
    refused("int8[2] and int8[3] do not broadcast", "mod", "int8[2]", "int8[3]", truncate=True)
    for op, dtype in (("neg", "uint8"), ("exp", "int8"), ("not", "float32"), ("is_nan", "int8")):
        refused(f"it is not for {dtype}", op, f"{dtype}[1]")
    refused("it is not for bool", "less", "bool[1]", "bool[1]")
    assert result_of("equal", "bool[1]", "bool[1]") == "bool[1]"
