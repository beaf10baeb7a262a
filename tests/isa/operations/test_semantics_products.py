"""A case for each rule of products in `docs/architecture.md`, on both sides of it."""

from collections.abc import Mapping

import pytest

from celosia.isa.address import GARBAGE
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    PRELOAD,
)
from celosia.isa.operations.operations import Product
from celosia.isa.operations.semantics import step
from celosia.isa.registers.errors import Cause
from tests.support.semantics import (
    ACC,
    CONFIG,
    SPAD,
    acc,
    after,
    cause_of,
    spad,
)

NO_CHANGE: Mapping[str, int] = {}
SIZES = {"a": spad(0), "a_rows": 4, "a_cols": 4, "d": spad(8), "d_rows": 4, "d_cols": 4}
PLACES = {"b": spad(16), "b_rows": 4, "b_cols": 4, "c": spad(32), "c_rows": 4, "c_cols": 4}
LONG = {"a_rows": 9, "d": spad(50), "d_rows": 9, "c": spad(70), "c_rows": 9}


def compute(
    changed: Mapping[str, int], *, ex: Mapping[str, int] = NO_CHANGE, accumulated: bool = False
) -> Cause:
    """What is wrong with a product that is legal but for what is `changed`."""
    assert changed.keys() <= PLACES.keys() | SIZES.keys()
    places = {name: changed.get(name, value) for name, value in PLACES.items()}
    sizes = {name: changed.get(name, value) for name, value in SIZES.items()}
    instruction = COMPUTE_ACCUMULATED if accumulated else COMPUTE_PRELOADED
    return cause_of(CONFIG_EX.encode(**ex), PRELOAD.encode(**places), instruction.encode(**sizes))


def test_a_legal_product():
    assert compute({}) is Cause.NONE
    assert compute({"c": acc(0)}) is Cause.NONE


@pytest.mark.parametrize("name", ["a", "b", "d"])
def test_operands_are_in_the_scratchpad(name):
    assert compute({name: acc(0)}) is Cause.UNSUPPORTED
    assert compute({name: acc(ACC), f"{name}_cols": 5}) is Cause.UNSUPPORTED


@pytest.mark.parametrize("name", ["a_cols", "b_cols", "b_rows", "c_cols", "d_cols"])
def test_sizes_fit_the_array(name):
    assert compute({name: 5}) is Cause.SHAPE
    assert compute({name: 0}) is Cause.NONE


def test_only_a_transposed_a_is_limited_in_rows():
    assert compute(LONG) is Cause.NONE
    assert compute({"a_rows": 5}, ex={"a_transpose": 1}) is Cause.SHAPE
    assert compute({"a_rows": 4}, ex={"a_transpose": 1}) is Cause.NONE


def test_shape_is_checked_before_range_and_range_before_overlap():
    assert compute({"a": spad(SPAD), "a_cols": 5}) is Cause.SHAPE
    assert compute({"a": spad(SPAD), "c": spad(16)}) is Cause.LOCAL_RANGE


@pytest.mark.parametrize(
    ("name", "ex", "changed", "span"),
    [
        ("a", {}, {"a_rows": 9}, 9),
        ("a", {"a_stride": 5}, {"a_rows": 3}, 11),
        ("a", {"a_stride": 0}, {"a_rows": 9}, 1),
        ("a", {"a_transpose": 1}, {"a_rows": 4, "a_cols": 2}, 2),
        ("a", {"a_transpose": 1, "a_stride": 3}, {"a_rows": 1, "a_cols": 3}, 7),
        ("b", {}, {"b_rows": 3, "b_cols": 2}, 3),
        ("b", {"a_stride": 7, "c_stride": 7}, {"b_rows": 3, "c_rows": 1, "a_rows": 1}, 3),
        ("b", {"b_transpose": 1}, {"b_rows": 3, "b_cols": 2}, 2),
        ("b", {"b_type": 1}, {"b_rows": 4}, 2),
        ("b", {"b_type": 1}, {"b_rows": 3}, 2),
        ("b", {"b_type": 1}, {"b_rows": 1}, 1),
        ("b", {"b_type": 1, "b_transpose": 1}, {"b_rows": 1, "b_cols": 4}, 2),
        ("d", {}, {"d_rows": 9}, 9),
        ("c", {}, {"c_rows": 9}, 9),
        ("c", {"c_stride": 3}, {"c_rows": 4}, 10),
        ("c", {"c_stride": 0}, {"c_rows": 9}, 1),
    ],
)
def test_every_row_of_an_operand_exists(name, ex, changed, span):
    assert compute(changed | {name: spad(SPAD - span)}, ex=ex) is Cause.NONE
    assert compute(changed | {name: spad(SPAD - span + 1)}, ex=ex) is Cause.LOCAL_RANGE


def test_every_row_of_a_result_in_the_accumulator_exists():
    assert compute({"c": acc(ACC - 4)}) is Cause.NONE
    assert compute({"c": acc(ACC - 3)}) is Cause.LOCAL_RANGE


@pytest.mark.parametrize("name", ["a", "b", "d", "c"])
def test_no_row_of_an_empty_operand_has_to_exist(name):
    assert compute({name: spad(SPAD), f"{name}_rows": 0}) is Cause.NONE
    assert compute({name: spad(SPAD), f"{name}_cols": 0}) is Cause.LOCAL_RANGE


@pytest.mark.parametrize("name", ["a", "b", "d", "c"])
def test_garbage_operands_are_not_checked(name):
    garbage = GARBAGE & ~(5 << 26)
    assert compute({name: garbage, f"{name}_rows": 99, f"{name}_cols": 99}) is Cause.NONE


def test_weights_that_stay_are_not_checked():
    wrong = {"b": acc(ACC), "b_rows": 99, "b_cols": 99}
    assert compute(wrong, accumulated=True) is Cause.NONE
    assert compute({"c": PLACES["b"]}, accumulated=True) is Cause.NONE


@pytest.mark.parametrize(
    ("ex", "changed", "first", "last"),
    [
        ({}, {"a": spad(100)}, 100, 103),
        ({"a_stride": 10}, {"a": spad(100)}, 100, 130),
        ({"a_stride": 10, "a_transpose": 1}, {"a": spad(100), "a_cols": 2}, 100, 110),
        ({}, {"b": spad(100), "b_rows": 3}, 100, 102),
        ({"b_transpose": 1}, {"b": spad(100), "b_cols": 2}, 100, 101),
        ({}, {"d": spad(100), "d_rows": 2}, 100, 101),
    ],
)
@pytest.mark.parametrize("c_stride", [1, 2])
def test_a_result_may_not_overlap_an_operand(ex, changed, first, last, c_stride):
    def cause(c_row):
        return compute(changed | {"c": spad(c_row), "c_rows": 3}, ex=ex | {"c_stride": c_stride})

    length = 2 * c_stride + 1
    assert cause(first - length) is Cause.NONE
    assert cause(first - length + 1) is Cause.OVERLAP
    assert cause(last) is Cause.OVERLAP
    assert cause(last + 1) is Cause.NONE


def test_results_in_the_accumulator_overlap_nothing():
    assert compute({"c": acc(0)}) is Cause.NONE


def test_empty_operands_overlap_nothing():
    assert compute({"c": spad(0), "a_rows": 0}) is Cause.NONE
    assert compute({"c": spad(2), "c_rows": 0}) is Cause.NONE


def test_a_product_takes_its_configuration_when_it_is_issued():
    state = after(
        PRELOAD.encode(**PLACES),
        CONFIG_EX.encode(a_stride=2, c_stride=3, a_unsigned=1, activation=1, b_transpose=1),
        CONFIG_EX.encode(
            strides_only=1, weight_stationary=0, a_stride=4, c_stride=5, a_transpose=1
        ),
    )
    product = step(COMPUTE_PRELOADED.encode(**SIZES), state, CONFIG).operation
    assert isinstance(product, Product)
    assert product.a is not None
    assert product.w is not None
    assert product.c is not None
    assert (product.a.stride, product.c.stride) == (4, 5)
    assert product.w.transposed
    assert not product.a.transposed
    assert product.a_unsigned
    assert product.relu


@pytest.mark.parametrize("activation", [0, 2, 3])
def test_only_activation_1_is_relu(activation):
    assert not after(CONFIG_EX.encode(activation=activation)).execute_relu
