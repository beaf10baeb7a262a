"""The definition of a product, against sums written out by hand and Python's integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.reference.matmul import matmul_reference, requantize_reference
from tests.sw.strategies import operands, problems


def by_hand(a, b, bias):
    """Sums of Python's integers, wrapped to 32 bits."""
    rows = []
    for i in range(a.shape[0]):
        sums = [
            sum(int(x) * int(y) for x, y in zip(a[i], b[:, j], strict=True))
            for j in range(b.shape[1])
        ]
        rows.append([
            (s + int(bias[j]) + (1 << 31)) % (1 << 32) - (1 << 31) for j, s in enumerate(sums)
        ])
    return np.array(rows)


@given(problems(4))
def test_sums_are_exact_and_wrap(problem):
    a, b, bias = operands(problem)
    b = b.T if problem.b_transposed else b
    bias = np.zeros(problem.n, np.int32) if bias is None else bias
    result = matmul_reference(a, b, bias)
    assert result.dtype == np.int32
    assert np.array_equal(result, by_hand(a, b, bias))


def test_a_sum_beyond_float32_is_exact():
    a, b = np.full((1, 1 << 14), 255, np.uint8), np.full((1 << 14, 1), -127, np.int8)
    assert matmul_reference(a, b, np.array([1], np.int32)).item() == -127 * 255 * (1 << 14) + 1


@pytest.mark.parametrize(
    ("x", "scale", "result"),
    [
        (1, 0.5, 0),
        (3, 0.5, 2),
        (-3, 0.5, -2),
        (300, 1.0, 127),
        (-300, 1.0, -128),
        (16777217, 2.0**-18, 64),
        (7, 3e38, 127),
        (-7, 3e38, -128),
        (5, 0.0, 0),
    ],
)
def test_requantization_rounds_ties_to_even_and_saturates(x, scale, result):
    assert requantize_reference(np.array([x], np.int32), scale).item() == result


@given(st.integers(-(1 << 24), 1 << 24), st.integers(-(1 << 23), 1 << 23), st.integers(-40, 0))
def test_requantization_is_within_rounding_of_the_exact_product(x, mantissa, exponent):
    exact = Fraction(x) * mantissa * Fraction(2) ** exponent
    result = requantize_reference(np.array([x], np.int32), mantissa * 2.0**exponent).item()
    clipped = max(Fraction(-128), min(Fraction(127), exact))
    assert abs(result - clipped) <= Fraction(1, 2) + abs(exact) / (1 << 24)


def test_relu_comes_after_rounding():
    a, b = np.array([[1], [-3]], np.int8), np.array([[1]], np.int8)
    assert matmul_reference(a, b, scale=-1.0, relu=True).tolist() == [[0], [3]]
