"""Layer normalization against Python and real numbers; statistics of one pass; every width."""

from math import isqrt, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from celosia.isa.numerics import (
    MAX_COLUMNS,
    Affine,
    RowSums,
    layernorm,
    layernorm_pair,
    normalize,
    normalize_by,
    reciprocal31,
    rmsnorm,
    row_statistics,
    row_sums,
)
from celosia.isa.numerics.normalization import EPSILON_BITS
from tests.support import integer_reference as reference

LOW, HIGH = -(1 << 15), (1 << 15) - 1
SEEDS = st.integers(0, (1 << 32) - 1)
EPSILONS = st.sampled_from([0, 1, 12345, (1 << EPSILON_BITS) - 1])
COLUMNS = st.integers(1, 80) | st.sampled_from([384, 768, 1024, MAX_COLUMNS])


def int16(values):
    return np.clip(values, LOW, HIGH).astype(np.int16)


@st.composite
def any_rows(draw):
    """Rows near a constant, ordinary ones, and rows of extremes only."""
    rng = np.random.default_rng(draw(SEEDS))
    columns, spread = draw(COLUMNS), draw(st.sampled_from([0, 0.6, 30, 5000, 1e9]))
    center = rng.integers(LOW, HIGH, (2, 1), endpoint=True)
    return int16(center + spread * rng.normal(size=(2, columns)))


def half_and_half(columns):
    """The row with the largest spread: as many of the lowest number as of the highest."""
    return np.where(np.arange(columns) % 2, HIGH, LOW).astype(np.int16)


@given(rows=any_rows(), seed=SEEDS, shift=st.integers(0, 31))
def test_any_row_agrees_with_python(rows, seed, shift):
    rng = np.random.default_rng(seed)
    columns = rows.shape[-1]
    gamma = rng.integers(LOW, HIGH, columns, endpoint=True)
    beta = rng.integers(-(1 << 31), 1 << 31, columns)
    for kind in ("int8", "int16"):
        got = layernorm(rows, Affine(gamma, beta, shift, kind))
        assert got.dtype == kind
        for row, result in zip(rows.tolist(), got.tolist(), strict=True):
            assert result == reference.layernorm(row, gamma.tolist(), beta.tolist(), shift, kind)


@given(rows=any_rows(), epsilon=EPSILONS, rms=st.booleans())
def test_one_pass_finds_what_two_passes_find(rows, epsilon, rms):
    mean, root = row_statistics(row_sums(rows), rows.shape[-1], epsilon=epsilon, rms=rms)
    pairs = list(zip(mean.tolist(), root.tolist(), strict=True))
    assert pairs == [reference.layernorm_statistics(row, epsilon, rms=rms) for row in rows.tolist()]


@given(rows=any_rows(), epsilon=EPSILONS)
def test_any_row_over_its_root_mean_square_agrees_with_python(rows, epsilon):
    columns = rows.shape[-1]
    output = Affine(np.full(columns, 1 << 13), np.arange(columns), 13, np.int16)
    for norm, rms in ((layernorm, False), (rmsnorm, True)):
        got = norm(rows, output, epsilon=epsilon).tolist()
        for row, result in zip(rows.tolist(), got, strict=True):
            due = [
                (y * (1 << 13) + i + (1 << 12)) >> 13
                for i, y in enumerate(reference.normalized(row, epsilon, rms=rms))
            ]
            assert result == np.clip(due, LOW, HIGH).tolist()
    one, two = layernorm_pair(rows, output, output, epsilon=epsilon, rms=True)
    assert one.tolist() == two.tolist() == rmsnorm(rows, output, epsilon=epsilon).tolist()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_an_epsilon_is_that_of_a_model(scale):
    """Llama's first norm has rows of which 1e-5 is a part that matters."""
    step, eps, columns = scale / 4096, 1e-5, 256
    x = np.random.default_rng(0).normal(0, scale, (4, columns))
    q = int16(x / step)
    epsilon = round(columns * eps / step**2)
    assert epsilon.bit_length() <= EPSILON_BITS
    y = normalize(q, row_statistics(row_sums(q), columns, epsilon=epsilon, rms=True))
    real = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)
    assert np.abs(y * np.sqrt(columns) / 2**16 - real).max() < 3e-3


def test_no_row_with_an_epsilon_exceeds_the_stated_widths():
    row, epsilon = np.full(MAX_COLUMNS, LOW, np.int16), (1 << EPSILON_BITS) - 1
    total, squares = row_sums(row)
    assert int(squares) == 1 << 42
    assert (int(squares) + epsilon).bit_length() == 43
    statistics = row_statistics(RowSums(total, squares), MAX_COLUMNS, epsilon=epsilon, rms=True)
    assert int(statistics.root).bit_length() == 22
    assert normalize(row, statistics).min() >= -(1 << 16)
    single = row_statistics(row_sums(row[:1]), 1, rms=True)
    assert normalize(row[:1], single) == -(1 << 16)


@pytest.mark.parametrize("epsilon", [-1, 1 << EPSILON_BITS])
def test_an_epsilon_of_more_bits_is_refused(epsilon):
    with pytest.raises(ValueError, match=rf"^layernorm: epsilon: {epsilon} is not in 0\.\."):
        layernorm([[1, 2]], Affine([0, 0], [0, 0], 0, np.int8), epsilon=epsilon)


@given(rows=any_rows(), seed=SEEDS)
def test_sums_of_column_blocks_add_up(rows, seed):
    columns = rows.shape[-1]
    if columns > 1:
        cut = int(np.random.default_rng(seed).integers(1, columns))
        left, right = row_sums(rows[:, :cut]), row_sums(rows[:, cut:])
        whole = row_sums(rows)
        np.testing.assert_array_equal(left.total + right.total, whole.total)
        np.testing.assert_array_equal(left.squares + right.squares, whole.squares)


@given(rows=any_rows())
@example(rows=np.full((1, MAX_COLUMNS), LOW, np.int16))
@example(rows=half_and_half(MAX_COLUMNS)[np.newaxis])
def test_42_bits_of_each_term_are_enough(rows):
    """The sum of squared distances fits 42 bits, so what its terms carry beyond may be lost."""
    columns, mask = rows.shape[-1], (1 << 42) - 1
    sums = row_sums(rows)
    mean, root = row_statistics(sums, columns)
    for total, squares, mu, std in zip(*sums, mean, root, strict=True):
        low = (int(squares) & mask) - (2 * int(mu * total) & mask) + (columns * int(mu) ** 2 & mask)
        assert max(isqrt(low & mask), 1) == std


def test_no_row_exceeds_the_stated_widths():
    """By Popoviciu's inequality and the distance of the rounded mean, which is at most 1/2.

    The sum of squared distances from the real mean is at most n * (65535 / 2)^2; the rounded mean
    adds at most n / 4.
    """
    for columns in (1, 2, 3, 768, MAX_COLUMNS):
        bound = columns * (65535**2 + 1) // 4
        assert bound < 1 << 42
        assert isqrt(bound).bit_length() <= 21
    row = half_and_half(MAX_COLUMNS)
    total, squares = row_sums(row)
    mean, root = row_statistics(RowSums(total, squares), MAX_COLUMNS)
    assert (int(mean), int(root)) == (0, isqrt(2048 * (LOW**2 + HIGH**2)))
    assert int(root).bit_length() == 21


@pytest.mark.parametrize("value", [LOW, HIGH])
def test_extremes_of_the_sums(value):
    total, squares = row_sums(np.full(MAX_COLUMNS, value, np.int16))
    assert -(1 << 27) <= total < 1 << 27
    assert squares <= 1 << 42
    assert (value == LOW) == (squares == 1 << 42)


@given(rows=any_rows())
@example(rows=np.array([[0] * 4095 + [1]], np.int16))
@example(rows=np.array([[LOW] + [HIGH] * 4095], np.int16))
def test_a_distance_is_no_greater_than_the_root(rows):
    """Its square is one term of the sum.  So the product with the reciprocal fits 33 bits."""
    statistics = row_statistics(row_sums(rows), rows.shape[-1])
    distances = np.abs(rows.astype(int) - statistics.mean[:, np.newaxis])
    assert (distances <= statistics.root[:, np.newaxis]).all()
    assert np.abs(normalize(rows, statistics)).max() <= 1 << 16


@pytest.mark.parametrize(("row", "y"), [([0, 0, 0, 1], 1 << 16), ([0, 0, 0, -1], -(1 << 16))])
def test_the_largest_normalized_numbers_occur(row, y):
    assert normalize(row, row_statistics(row_sums(row), 4)).tolist() == [0, 0, 0, y]


def test_extremes_of_the_affine_map_saturate():
    """The sum ``y * gamma + beta`` fits 33 bits signed: -2^32 to 2^32 - 1."""
    row, extremes = [0, 0, 0, 1], ((LOW, -(1 << 31), -32768), (HIGH, (1 << 31) - 1, 32767))
    for gamma, beta, want in extremes:
        got = layernorm(row, Affine([gamma] * 4, [beta] * 4, 0, np.int16))
        assert got.tolist() == [want] * 4
        assert -(1 << 32) <= (gamma << 16) + beta < 1 << 32
    got = layernorm(row, Affine([LOW] * 4, [-(1 << 31)] * 4, 31, np.int16))
    assert got.tolist() == [-1, -1, -1, -2]


@pytest.mark.parametrize("columns", [1, 2, 384, MAX_COLUMNS])
@pytest.mark.parametrize("value", [LOW, -1, 0, HIGH])
def test_a_constant_row_gives_beta(columns, value):
    beta = np.arange(columns) - 3
    row = np.full(columns, value, np.int16)
    assert row_statistics(row_sums(row), columns) == (value, 1)
    got = layernorm(row, Affine(np.full(columns, HIGH), beta, 0, np.int16))
    np.testing.assert_array_equal(got, beta)


def test_the_mean_of_a_tie_is_rounded_upwards():
    for row, mean in (([0, 1], 1), ([-1, 0], 0), ([-2, -1], -1), ([1, 2, 2, 1], 2)):
        assert int(row_statistics(row_sums(row), len(row)).mean) == mean


def test_results_are_near_real_ones():
    rng = np.random.default_rng(8)
    rows = int16(rng.normal(50, 3000, (20, 768)))
    real = (rows - rows.mean(-1, keepdims=True)) / rows.std(-1, keepdims=True)
    y = normalize(rows, row_statistics(row_sums(rows), 768)) / (1 << 16) * sqrt(768)
    assert np.abs(y - real).max() < 1e-3


def test_scaling_the_row_changes_little():
    """Gamma near 0 is fine: nothing is divided by it."""
    rows = int16(np.random.default_rng(9).normal(0, 1000, (4, 96)))
    zero = Affine(np.zeros(96, np.int16), np.full(96, 5 << 8), 8, np.int8)
    assert (layernorm(rows, zero) == 5).all()


def test_normalizing_by_a_rows_own_statistics():
    rows = int16(np.random.default_rng(12).normal(0, 1000, (4, 96)))
    mean, root = statistics = row_statistics(row_sums(rows), 96)
    got = normalize_by(rows, mean, reciprocal31(root))
    np.testing.assert_array_equal(got, normalize(rows, statistics))
    assert got.tolist() == [reference.normalized(row) for row in rows.tolist()]


@given(
    q=st.integers(LOW, HIGH),
    mean=st.integers(-(1 << 16), (1 << 16) - 1),
    reciprocal=st.integers(0, (1 << 32) - 1),
)
def test_normalizing_by_anything_wraps_at_18_bits(q, mean, reciprocal):
    want = (((q - mean) * reciprocal + 2**14 >> 15) + 2**17) % 2**18 - 2**17
    assert normalize_by([q], mean, reciprocal).tolist() == [want]


def test_a_pair_is_two_outputs():
    rows = int16(np.random.default_rng(10).normal(0, 1000, (4, 96)))
    first = Affine(np.full(96, 9000), np.arange(96), 16, np.int8)
    second = Affine(np.full(96, -7000), np.arange(96), 12, np.int16)
    for got, output in zip(layernorm_pair(rows, first, second), (first, second), strict=True):
        want = layernorm(rows, output)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Affine([1 << 15], [0], 0, np.int8), "gamma: 32768 is not in -32768"),
        (lambda: Affine([0], [1 << 31], 0, np.int8), "beta: 2147483648 is not in"),
        (lambda: Affine([0], [0], 32, np.int8), r"shift: 32 is not in 0\.\.31"),
        (lambda: Affine([0], [0], -1, np.int8), r"shift: -1 is not in 0\.\.31"),
        (lambda: Affine([0], [0], 0, np.uint8), "type: uint8 is none of int8, int16"),
        (
            lambda: Affine([0], [0, 0], 0, np.int8),
            r"gamma of \(1,\) and beta of \(2,\) are not vectors of one length",
        ),
        (
            lambda: layernorm([[1, 2]], Affine([0], [0], 0, np.int8)),
            r"rows of 2 columns, but gamma has 1",
        ),
        (lambda: row_sums([1 << 15]), "32768 is not in -32768"),
        (lambda: row_sums(np.zeros((2, 0), np.int16)), r"0 columns are not in 1\.\.4096"),
        (lambda: row_sums(np.zeros(4097, np.int16)), r"4097 columns are not in 1\.\.4096"),
        (
            lambda: row_statistics(RowSums(np.array(0), np.array(0)), 4097),
            r"columns: 4097 is not in 1\.\.4096",
        ),
        (
            lambda: row_statistics(RowSums(np.array(40_000), np.array(0)), 1),
            r"sum: 40000 is not in -32768\.\.32767",
        ),
        (
            lambda: row_statistics(RowSums(np.array(4), np.array(1)), 2),
            "sum of squared distances: -7 is not in 0",
        ),
    ],
)
def test_bad_operands_are_named(call, message):
    with pytest.raises(ValueError, match=f"^layernorm: {message}"):
        call()
