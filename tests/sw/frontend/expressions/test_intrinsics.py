"""Intrinsics are what the instruction set computes, and another declaration is refused."""

from dataclasses import replace

import pytest

from celosia.sw.frontend.expressions.intrinsics import (
    INTRINSICS,
    MULTIPLY_INTRINSIC,
    PRODUCTS_INTRINSIC,
)
from celosia.sw.frontend.expressions.language import compute, placeholder, reduce_axis, total
from celosia.sw.frontend.expressions.nodes import ExpressionError


@pytest.mark.parametrize("intrinsic", INTRINSICS, ids=lambda each: each.name)
def test_a_declaration_is_what_the_instruction_set_computes(intrinsic):
    intrinsic.check()


def test_types_are_those_of_the_patterns():
    assert PRODUCTS_INTRINSIC.types == {("int8", "int8"), ("uint8", "int8")}
    assert MULTIPLY_INTRINSIC.types == {("int16", "int16")}
    assert MULTIPLY_INTRINSIC.results == {"int8", "uint8", "int16"}


def pattern(element, kind="int8"):
    a, b = placeholder("a", (3, 7), kind), placeholder("b", (7, 6))
    return compute("c", (3, 6), lambda i, j: element(a, b, i, j))


K = reduce_axis(7)
NARROW = reduce_axis(6)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a, b, i, j: total(a[i, NARROW] * b[NARROW, j], NARROW),
        lambda a, b, i, j: total(a[i, K] * b[6 - K, j], K),
        lambda a, b, i, j: total(a[i, K] * b[K, 5 - j], K),
    ],
)
def test_another_declaration_is_refused(wrong):
    declared = replace(PRODUCTS_INTRINSIC, patterns=(pattern(wrong),))
    with pytest.raises(ExpressionError, match=r"intrinsic PRODUCTS: .* is not what the"):
        declared.check()


def test_a_product_that_saturates_is_no_product():
    a, b = (placeholder(name, (3, 7), "int16", low=-200, high=200) for name in "ab")
    wide = compute("c", (3, 7), lambda i, j: a[i, j] * b[i, j])
    declared = replace(MULTIPLY_INTRINSIC, patterns=(replace(wide, dtype="int16"),))
    with pytest.raises(ExpressionError, match="intrinsic MULTIPLY"):
        declared.check()
