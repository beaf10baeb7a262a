"""Tensors by name, and what is refused of them: one sentence each."""

from typing import Any, cast

import numpy as np
import pytest

from celosia.sw.frontend.expressions.language import (
    activation,
    compute,
    constant,
    placeholder,
    reduce_axis,
    requantize,
    total,
)
from celosia.sw.frontend.expressions.nodes import ExpressionError

A = placeholder("a", (2, 5, 7))
K = reduce_axis(7)
OTHER = compute("d", (2,), lambda n: A[n, 0, 0])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: placeholder("x y", (2,)), "'x y' is no name"),
        (lambda: placeholder("x", (2,), "float32"), "x: float32 is none of int8"),
        (lambda: placeholder("x", (2, 0)), r"x: its sizes \(2, 0\) are not all in 1\.\."),
        (lambda: placeholder("x", cast(Any, 5)), "x: its shape 5 is no list of integers"),
        (lambda: placeholder("x", (2,), high=1000), r"x: -128\.\.1,000 is no range of int8"),
        (lambda: constant("x", np.zeros(3)), "x: float64 is none of"),
        (lambda: constant("x y", np.zeros(3, np.int8)), "'x y' is no name"),
        (lambda: compute("x y", (2,), lambda i: 1), "'x y' is no name"),
        (lambda: reduce_axis(0), "k: its sizes"),
        (lambda: reduce_axis(7, "x y"), "'x y' is no name"),
        (lambda: reduce_axis((1 << 24) + 1), "k: its sizes"),
        (lambda: A[0, 0], r"a\[0, 0\]: 2 indices, but a has 3 axes"),
        (lambda: total(A[0, 0, K]), "total: name the axes"),
        (lambda: total(A[0, 0, K], K, K), "total: an axis is named twice, of k, k"),
        (lambda: activation("relu", A[0, 0, 0], 1.0, 1.0), "'relu' is none of gelu"),
        (lambda: requantize(A[0, 0, 0], float("nan")), "nan is not a finite float32"),
        (lambda: requantize(A[0, 0, 0], 1e60), "is not a finite float32"),
    ],
)
def test_what_is_no_tensor_or_element_is_refused(make, said):
    with pytest.raises(ExpressionError, match=said):
        make()


@pytest.mark.parametrize(
    ("shape", "element", "said"),
    [
        ((2, 5), lambda n, i, j: 1, "a function of 3 axes, its shape 2x5 has 2"),
        ((2, 5), 7, "its element 7 is no function of axes"),
        ((2, 6), lambda n, i: A[n, i, 0], r"a\[n, i, 0\]: index i is 0\.\.5, not in 0\.\.4"),
        ((2, 5), lambda n, i: A[n, i - 1, 0], r"index .* is -1\.\.3, not in 0\.\.4"),
        ((2, 5), lambda n, i: A[n, i, n * i], "an index is a sum of axes times integers"),
        ((2, 5), lambda n, i: A[n, i, A[0, 0, 0]], "an index is a sum of axes times integers"),
        ((2, 5), lambda n, i: A[n, i, K], "axis k is not one that a total runs over"),
        ((2, 5), lambda n, i: total(A[n, i, K], K) + A[n, i, K], "axis k stands outside"),
        ((2, 5), lambda n, i: total(total(A[n, i, K], K), K), "inside of another one runs over k"),
        ((2, 5), lambda n, i: A[OTHER.axes[0], i, 0], "axis n is another tensor's"),
        ((2, 5), lambda n, i: A[n, i, 0] if n < i else 0, r"\(n < i\) has another value at each"),
        ((2, 5), lambda n, i: A[n, i, 0] * (n == i), "== does not compare axes"),
        ((2, 5), lambda n, i: n, "n is an axis: it may stand in indices and comparisons only"),
        ((2, 5), lambda n, i: A, "a is a tensor; say which element"),
        ((2, 5), lambda n, i: 0.5, "0.5 is no integer"),
        ((2, 5), lambda n, i: total(A[n, i, K] * (1 << 24), K), "which do not fit int32"),
        ((2, 5), lambda n, i: requantize(A[n, i, 0], 0.1), "makes int8, uint8 or int16, not int32"),
        ((2, 5), lambda n, i: 1 + requantize(A[n, i, 0], 0.1), "around the whole of an element"),
    ],
)
def test_what_no_tensor_can_be_computed_from_is_refused(shape, element, said):
    with pytest.raises(ExpressionError, match=f"^c: .*{said}"):
        compute("c", shape, element)


def test_numbers_that_may_not_fit_are_refused_with_their_range():
    with pytest.raises(
        ExpressionError, match=r"may be -113,792\.\.114,688, which do not fit int16"
    ):
        compute("c", (5,), lambda i: total(A[0, i, K] * A[1, i, K], K), "int16")
    tame = placeholder("t", (5, 7), low=-10, high=10)
    found = compute("c", (5,), lambda i: total(tame[i, K] * tame[i, K], K), "int16")
    assert (found.low, found.high) == (-700, 700)


def test_two_tensors_have_two_names():
    twin = placeholder("a", (2, 5, 7))
    with pytest.raises(ExpressionError, match="c: two tensors are called a"):
        compute("c", (2,), lambda n: A[n, 0, 0] * twin[n, 0, 0])
    with pytest.raises(ExpressionError, match="a: two tensors are called a"):
        compute("a", (2,), lambda n: A[n, 0, 0])


@pytest.mark.parametrize(
    ("dtype", "legal", "illegal"),
    [("uint8", (0, 255), (-1, 256)), ("int8", (0,), (-1, 1, 127)), ("int16", (0,), (-1, 1))],
)
def test_a_zero_point_is_one_of_the_type(dtype, legal, illegal):
    """Only uint8 has one but 0."""

    def made(zero_point):
        element = lambda n: requantize(A[n, 0, 0], 1, zero_point=zero_point)  # noqa: E731
        return compute("c", (2,), element, dtype)

    for zero_point in legal:
        assert made(zero_point).dtype == dtype
    for zero_point in illegal:
        with pytest.raises(ExpressionError, match=f"zero point {zero_point} of {dtype} is not in"):
            made(zero_point)
