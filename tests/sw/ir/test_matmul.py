"""The product as a problem."""

import pytest

from celosia.sw.ir.graphs.tensors import MAX_EXTENT
from celosia.sw.ir.matmul import MatMul, verify


def test_shapes_follow_from_the_form():
    problem = MatMul(m=2, n=3, k=4)
    assert (problem.macs, problem.b_shape, problem.c_bytes) == (24, (4, 3), 4)
    assert MatMul(m=2, n=3, k=4, b_transposed=True).b_shape == (3, 4)
    assert MatMul(m=2, n=3, k=4, scale=1.0).c_bytes == 1


def test_it_prints_all_that_matters():
    problem = MatMul(
        m=2, n=3, k=4, a_unsigned=True, b_transposed=True, bias=True, scale=0.1, relu=True
    )
    assert str(problem) == (
        "matmul 2x3x4, uint8 x int8 -> int8, B transposed, bias, scale 0.1, ReLU"
    )
    assert str(MatMul(m=2, n=3, k=4)) == "matmul 2x3x4, int8 x int8 -> int32"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"m": 0}, f"m: 0 is not in 1..{MAX_EXTENT}"),
        ({"n": -1}, "n: -1 is not in"),
        ({"k": MAX_EXTENT + 1}, f"k: {MAX_EXTENT + 1} is not in"),
        ({"relu": True}, "relu: an int32 result is not activated"),
        ({"scale": float("inf")}, "scale: inf is not a finite float32"),
        ({"scale": 3.5e38}, r"scale: 3.5e\+38 is not a finite float32"),
    ],
)
def test_what_cannot_be_computed_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        verify(MatMul(**{"m": 1, "n": 1, "k": 1, **values}))


def test_what_can_be_computed_is_returned():
    problem = MatMul(m=1, n=1, k=1, scale=0.0, relu=True)
    assert verify(problem) is problem
