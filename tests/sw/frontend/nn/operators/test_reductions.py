"""Sums, extremes and places along axes: of one element, of none, of several that are equal."""

import numpy as np
import pytest

from tests.support.float_operators import computed, refused, result_of

CUBE = np.array([[[3, 1, 2], [0, 5, 5]], [[7, 7, 1], [2, 4, 6]]])


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("reduce_sum", [[6, 10], [15, 12]]),
        ("reduce_prod", [[6, 0], [49, 48]]),
        ("reduce_max", [[3, 5], [7, 6]]),
        ("reduce_min", [[1, 0], [1, 2]]),
    ],
)
def test_reductions_of_integers_by_hand(op, wanted):
    small = CUBE.astype(np.int8)
    for axes in ((2,), (-1,)):
        found = computed(op, small, axes=axes, keepdims=False)
        np.testing.assert_array_equal(found, wanted)
        found = computed(op, small, axes=axes, keepdims=True)
        np.testing.assert_array_equal(found, np.reshape(wanted, (2, 2, 1)))
    both = {"reduce_sum": 43, "reduce_prod": 0, "reduce_max": 7, "reduce_min": 0}[op]
    assert computed(op, small, axes=(0, 1, -1), keepdims=False) == both
    np.testing.assert_array_equal(computed(op, small, axes=(), keepdims=True), small)


def test_a_mean_of_no_element_is_no_number_and_a_sum_is_zero():
    empty = np.zeros((2, 0), np.float32)
    assert np.isnan(computed("reduce_mean", empty, axes=(1,), keepdims=False)).all()
    assert not computed("reduce_sum", empty, axes=(1,), keepdims=False).any()
    found = computed("reduce_mean", CUBE.astype(np.float32), axes=(0, 2), keepdims=False)
    np.testing.assert_allclose(found, [21 / 6, 22 / 6])
    found = computed("reduce_mean", CUBE.astype(np.float32), axes=(0, 2), keepdims=True)
    np.testing.assert_allclose(found, [[[21 / 6], [22 / 6]]])
    for op in ("reduce_max", "reduce_min"):
        refused("has no element along an axis of (1,)", op, "int8[2x0]", axes=(1,), keepdims=True)
        assert result_of(op, "int8[2x0]", axes=(0,), keepdims=False) == "int8[0]"
        assert result_of(op, "bool[2x0]", axes=(), keepdims=False) == "bool[2x0]"
    refused("it is not for int8", "reduce_mean", "int8[2]", axes=(0,), keepdims=True)
    refused("axis 2 is not in -2..1", "reduce_sum", "int8[2x1]", axes=(2,), keepdims=True)
    refused("axes (1, -1) name one twice", "reduce_sum", "int8[2x1]", axes=(1, -1), keepdims=True)


def test_places_of_the_first_or_the_last_of_equal_elements():
    for axis in (2, -1):
        more = {"axis": axis, "keepdims": False}
        first, last = (computed("argmax", CUBE, last=last, **more) for last in (False, True))
        np.testing.assert_array_equal(first, [[0, 1], [0, 2]])
        np.testing.assert_array_equal(last, [[0, 2], [1, 2]])
    found = computed("argmax", CUBE, axis=0, keepdims=True, last=False)
    np.testing.assert_array_equal(found, [[[1, 1, 0], [1, 0, 1]]])
    more = {"keepdims": False, "last": False}
    refused("has no element along axis 1", "argmax", "int8[2x0]", axis=1, **more)
    assert result_of("argmax", "int8[1x2]", axis=0, **more) == "int64[2]"
    refused("axis -3 is not in -2..1", "argmax", "int8[1x2]", axis=-3, **more)


@pytest.mark.parametrize(
    ("exclusive", "reverse", "wanted"),
    [
        (False, False, [1, 3, 6]),
        (True, False, [0, 1, 3]),
        (False, True, [6, 5, 3]),
        (True, True, [5, 3, 0]),
    ],
)
def test_running_sums(exclusive, reverse, wanted):
    for axis, row in ((1, np.array([[1, 2, 3]], np.int8)), (0, np.array([[1], [2], [3]], np.int8))):
        found = computed("cumsum", row, axis=axis, exclusive=exclusive, reverse=reverse)
        np.testing.assert_array_equal(found.ravel(), wanted)
    refused("axis 1 is not in", "cumsum", "int8[3]", axis=1, exclusive=False, reverse=False)


def test_places_of_the_largest_in_order():
    row = np.array([3, 9, -128, 9, 127], np.int8)
    for smallest, wanted in ((False, [4, 1, 3, 0, 2]), (True, [2, 0, 1, 3, 4])):
        for count in (0, 2, 5):
            found = computed("largest", row, axis=0, count=count, smallest=smallest)
            np.testing.assert_array_equal(found, wanted[:count])
    # Stably, also where there are enough to be sorted in another way.
    many = np.tile(np.array([[1, 0]], np.float32), (2, 40))
    found = computed("largest", many, axis=1, count=41, smallest=False)
    np.testing.assert_array_equal(found, [[*range(0, 80, 2), 1]] * 2)
    more = {"axis": 0, "smallest": False}
    refused("has not 6 elements along axis 0", "largest", "int8[5x7]", count=6, **more)
    refused("has not -1 elements along axis 0", "largest", "int8[5x7]", count=-1, **more)


def test_what_has_no_order():
    more = {"keepdims": False, "last": False}
    refused("it is not for bool", "argmax", "bool[2]", axis=0, **more)
    refused("it is not for bool", "largest", "bool[2]", axis=0, count=1, smallest=False)
    refused("it is not for bool", "cumsum", "bool[2]", axis=0, exclusive=False, reverse=False)
