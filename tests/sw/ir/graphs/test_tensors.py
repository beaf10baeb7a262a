"""Tensors and rectangles of them, by hand."""

import pytest

from celosia.sw.ir.graphs.tensors import Tensor, View

VIEW = View("x", 2, 3, 4, 5)


def test_sizes_and_texts_of_tensors():
    assert [Tensor("x", kind, 3, 5).bytes for kind in ("int8", "uint8", "int16", "int32")] == [
        15,
        15,
        30,
        60,
    ]
    assert Tensor("x", "int8", 3, 5).view() == View("x", 0, 0, 3, 5)
    assert str(Tensor("x", "int8", 3, 5)) == "x: int8[3x5]"
    full = Tensor("x", "uint8", 3, 5, step=0.1, zero_point=7, cache=True)
    assert str(full) == "x: uint8[3x5] step 0.1 zero point 7 cache"


def test_parts_are_counted_from_the_first_row_and_column():
    assert VIEW.part() == VIEW
    assert VIEW.part(row=1) == View("x", 3, 3, 3, 5)
    assert VIEW.part(col=2) == View("x", 2, 5, 4, 3)
    assert VIEW.part(row=1, rows=2, col=4, cols=1) == View("x", 3, 7, 2, 1)
    assert VIEW.part(rows=0) == View("x", 2, 3, 0, 5)
    assert VIEW.slices == (slice(2, 6), slice(3, 8))
    assert VIEW.shape == (4, 5)


@pytest.mark.parametrize(
    ("other", "meet"),
    [
        (View("x", 5, 7, 1, 1), True),
        (View("x", 6, 7, 1, 1), False),
        (View("x", 5, 8, 1, 1), False),
        (View("x", 0, 0, 2, 9), False),
        (View("x", 0, 0, 3, 4), True),
        (View("x", 0, 0, 9, 3), False),
        (View("y", 2, 3, 4, 5), False),
        (View("x", 0, 0, 99, 99), True),
    ],
)
def test_rectangles_that_meet(other, meet):
    assert VIEW.meets(other) is other.meets(VIEW) is meet
