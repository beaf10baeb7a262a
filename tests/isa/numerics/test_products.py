"""Products: exact ones, those modulo 2^32, and the zero point folded into the bias."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import add_bias, exact_matmul, fold_zero_point, matmul
from tests.support import integer_reference as reference

SEEDS = st.integers(0, (1 << 32) - 1)


def random(rng, kind, shape):
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [(-128, -128, np.int8), (255, -128, np.int16), (1 << 30, 1 << 20, np.int64)],
)
def test_exact_matmul_of_extremes(left, right, kind):
    a, b = np.full((2, 768), left, kind), np.full((768, 3), right, kind)
    got = exact_matmul(a, b)
    assert got.dtype == np.int64
    assert got.tolist() == [[768 * left * right] * 3] * 2


def test_exact_matmul_is_exact_where_float64_is_not():
    """2^53 + 1 is the first integer that float64 lacks."""
    a = np.array([[1 << 53, 1]], np.int64)
    assert exact_matmul(a, np.array([[1], [1]])).item() == (1 << 53) + 1


def test_exact_matmul_says_when_int64_is_too_small():
    a = np.array([[1 << 40, 1]], np.int64)
    assert exact_matmul(a, np.array([[1 << 22], [-1]])).item() == (1 << 62) - 1
    with pytest.raises(OverflowError):
        exact_matmul(a, np.array([[1 << 40], [0]]))


@pytest.mark.parametrize(("left", "right"), [(-(1 << 62), -2), (-(1 << 31), -(1 << 32))])
def test_exact_matmul_around_the_limit_of_int64(left, right):
    """2^63 does not fit, and its negative does."""
    a = np.array([[left]], np.int64)
    assert exact_matmul(a, [[-right]]).item() == -(1 << 63)
    with pytest.raises(OverflowError):
        exact_matmul(a, [[right]])


def test_exact_matmul_takes_only_integers():
    with pytest.raises(TypeError, match="float64 is not an integer"):
        exact_matmul(np.ones((1, 1)), np.ones((1, 1), np.int8))


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_exact_matmul_of_nothing(shape):
    m, k, n = shape
    got = exact_matmul(np.ones((m, k), np.int32), np.ones((k, n), np.int32))
    assert got.shape == (m, n)
    assert not got.any()


@pytest.mark.parametrize("length", [1023, 1024, 1025])
def test_exact_matmul_around_the_limit_of_float32(length):
    """Sums up to 2^24 are exact in float32; one more int8 product than 1024 may be beyond."""
    a = np.full((1, length), -128, np.int8)
    a[0, -1] = -127
    b = np.full((length, 1), -128, np.int8)
    b[-1] = -127
    assert exact_matmul(a, b).item() == (length - 1) * 128**2 + 127**2


@given(seed=SEEDS, m=st.integers(1, 5), k=st.integers(1, 40), n=st.integers(1, 5))
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_matmul_agrees_with_python(kind, seed, m, k, n):
    rng = np.random.default_rng(seed)
    a, b = random(rng, kind, (m, k)), random(rng, np.int8, (k, n))
    bias = random(rng, np.int32, n)
    got = matmul(a, b, bias)
    assert got.dtype == np.int32
    assert got.tolist() == reference.matmul(a.tolist(), b.tolist(), bias.tolist())
    assert matmul(a, b).tolist() == reference.matmul(a.tolist(), b.tolist())


def test_matmul_wraps_from_65794_products_on():
    """The longest sum that cannot wrap: 65,793 times 255 * -128."""
    for length, want in ((65_793, -65_793 * 32640), (65_794, -65_794 * 32640 + (1 << 32))):
        a = np.full((1, length), 255, np.uint8)
        assert matmul(a, np.full((length, 1), -128, np.int8)).item() == want


def test_products_of_heads():
    rng = np.random.default_rng(1)
    a, b = random(rng, np.uint8, (2, 3, 4, 5)), random(rng, np.int8, (2, 3, 5, 6))
    got = matmul(a, b)
    assert got.shape == (2, 3, 4, 6)
    assert got[1, 2].tolist() == reference.matmul(a[1, 2].tolist(), b[1, 2].tolist())


def test_every_product_has_16_bits():
    corners = [x * y for x in (-128, 0, 127, 255) for y in (-128, 0, 127)]
    assert -(1 << 15) <= min(corners) <= max(corners) < 1 << 15


@given(seed=SEEDS, zero_point=st.integers(0, 255))
def test_a_folded_zero_point_is_one_that_was_subtracted(seed, zero_point):
    rng = np.random.default_rng(seed)
    a, w = random(rng, np.uint8, (3, 17)), random(rng, np.int8, (17, 4))
    bias = random(rng, np.int32, 4)
    shifted = a.astype(int) - zero_point
    want = reference.matmul(shifted.tolist(), w.tolist(), bias.tolist())
    assert matmul(a, w, fold_zero_point(w, zero_point, bias)).tolist() == want
    without = reference.matmul(shifted.tolist(), w.tolist())
    assert matmul(a, w, fold_zero_point(w, zero_point)).tolist() == without


def test_a_bias_wraps():
    assert add_bias([(1 << 31) - 1, -(1 << 31)], [1, -1]).tolist() == [-(1 << 31), (1 << 31) - 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: matmul(np.ones((1, 1), np.int16), np.ones((1, 1), np.int8)),
            "matmul: activations: int16 is none of int8, uint8",
        ),
        (
            lambda: matmul(np.ones((1, 1), np.int8), np.ones((1, 1), np.uint8)),
            "matmul: weights: uint8 is none of int8",
        ),
        (lambda: add_bias([0], [1 << 31]), "add_bias: bias: 2147483648 is not in"),
        (
            lambda: fold_zero_point(np.ones((1, 1), np.int8), 256),
            r"fold_zero_point: zero point: 256 is not in 0\.\.255",
        ),
        (
            lambda: fold_zero_point(np.ones((1, 1), np.uint8), 1),
            "fold_zero_point: weights: uint8 is none of int8",
        ),
    ],
)
def test_operands_of_another_type_are_refused(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
