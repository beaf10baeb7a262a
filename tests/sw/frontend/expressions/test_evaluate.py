"""The meaning of expressions against NumPy."""

import numpy as np
import pytest

from celosia.sw.frontend.expressions.evaluate import elements, points, whole
from celosia.sw.frontend.expressions.language import (
    compute,
    constant,
    placeholder,
    reduce_axis,
    requantize,
    total,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(-128, 128, (6, 5), np.int8)
Y = RANDOM.integers(-128, 128, (5, 4), np.int8)
GIVEN = {"x": X, "y": Y}
x, y, k = placeholder("x", (6, 5)), placeholder("y", (5, 4)), reduce_axis(5)


@pytest.mark.parametrize(
    ("shape", "element", "expected"),
    [
        ((6, 4), lambda i, j: total(x[i, k] * y[k, j], k), X.astype(int) @ Y),
        ((6, 4), lambda i, j: 3 - 2 * total(x[i, k] * y[k, j], k), 3 - 2 * (X.astype(int) @ Y)),
        ((6,), lambda i: total((k < i) * x[i, k], k), np.tril(X.astype(int), -1).sum(1)),
        ((3,), lambda i: total(x[2 * i, k], k), X[::2].sum(1, dtype=int)),
        ((6, 5), lambda i, j: (i >= j) * x[5 - i, j], np.tril(X[::-1].astype(int))),
        ((6, 5), lambda i, j: -(i > j) * x[i, j] + (j < 2), (np.arange(5) < 2) - np.tril(X, -1)),
        ((2,), lambda i: total(x[i, k], k) * y[0, 0], X[:2].sum(1, dtype=int) * int(Y[0, 0])),
        ((2, 3), lambda *axes: 7, np.full((2, 3), 7)),
    ],
)
def test_an_expression_is_what_numpy_computes(shape, element, expected):
    found = whole(compute("c", shape, element), GIVEN)
    assert found.dtype == np.int32
    assert np.array_equal(found, expected)


def test_functions_round_to_even_and_saturate():
    z = constant("z", np.array([-1000, -3, -1, 1, 3, 1000], np.int32))
    halves = compute("c", (6,), lambda i: requantize(z[i], 0.5), "int8")
    assert whole(halves, {}).tolist() == [-128, -2, 0, 0, 2, 127]
    relu = compute("c", (6,), lambda i: requantize(z[i], 0.5, relu=True), "int8")
    assert whole(relu, {}).tolist() == [0, 0, 0, 0, 2, 127]
    shifted = compute("c", (6,), lambda i: requantize(z[i], 0.5, zero_point=10), "uint8")
    assert whole(shifted, {}).tolist() == [0, 8, 10, 10, 12, 255]


def test_points_are_all_elements_or_some_with_the_ends():
    product = compute("c", (6, 4), lambda i, j: total(x[i, k] * y[k, j], k))
    assert points(product, 120, RANDOM).tolist() == list(range(24))
    some = points(product, 60, RANDOM)
    assert {0, 23} <= {*some}
    assert len(some) <= 12
    assert np.array_equal(elements(product, GIVEN, some), (X.astype(int) @ Y).reshape(-1)[some])
