"""What functions of TRANSFORM leave behind, against whole rows and sums written out here."""

from fractions import Fraction
from math import floor, isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.functions.operands import Operands, Statistics
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.isa.numerics import (
    INT32_MIN,
    Affine,
    deferred_softmax,
    layernorm,
    residual_add,
    softmax,
)
from tests.support import integer_reference as reference

ROWS, COLS = 3, 24
KINDS = ("int8", "uint8", "int16")
EXPONENT_OF_0 = 45_746
SLOT_TOTALS = st.integers(-(1 << 31), (1 << 31) - 1)


def meaning(function: Function, x, slots: Statistics | None = None, **values):
    return FUNCTIONS[function].meaning(Operands(x=x, statistics=slots, **values))


def garbage() -> Statistics:
    return Statistics.garbage(ROWS, np.random.default_rng(5))


def matrix(limit: int, kind: str) -> np.ndarray:
    return np.random.default_rng(limit).integers(-limit, limit, (ROWS, COLS)).astype(kind)


def parts(x: np.ndarray):
    """`x` in three parts of columns, and whether each starts and finishes the rows."""
    for first in range(0, COLS, COLS // 3):
        last = first + COLS // 3
        yield x[:, first:last], {"start": first == 0, "finish": last == COLS}


def moments_of(x: np.ndarray) -> tuple[list[int], list[int]]:
    rows = x.astype(int).tolist()
    return [sum(row) for row in rows], [sum(q * q for q in row) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relu", [False, True])
def test_a_requantization_may_rectify(kind, relu):
    x = np.array([[-3000, -30, 0, 30, 3000]], np.int32)
    point = 7 if kind == "uint8" else 0
    settings = {"kind": np.dtype(kind), "scale": np.float32(0.1), "zero_point": point}
    (result,) = meaning(Function.REQUANTIZE, x, relu=relu, **settings)
    limits = np.iinfo(kind)
    numbers = [0, 0, 0, 3, 300] if relu else [-300, -3, 0, 3, 300]
    assert result.tolist() == [[min(max(q + point, limits.min), limits.max) for q in numbers]]


def test_int32_stay_as_they_are():
    x = matrix(1 << 31, "int32")
    settings = {"kind": np.dtype(np.int32), "relu": True, "scale": np.float32(0.5)}
    assert (meaning(Function.REQUANTIZE, x, **settings)[0] == x).all()


def test_moments_begin_anew_where_rows_start_and_go_on_elsewhere():
    slots, x = garbage(), matrix(1 << 15, "int16")
    for part, ends in parts(x):
        assert not meaning(Function.MOMENTS, part, slots, channels=COLS, **ends)
    assert (slots.total.tolist(), slots.squares.tolist()) == moments_of(x)
    wide = x.astype(np.float64)
    assert (np.abs(slots.mean - wide.mean(axis=1)) <= 0.5).all()


@pytest.mark.parametrize("counted", [False, True])
def test_a_residual_counts_moments_if_it_is_told(counted):
    slots, before = garbage(), garbage()
    x, stream = matrix(1 << 20, "int32"), matrix(9000, "int16")
    scales = {"scale": np.float32(0.01), "scale2": np.float32(0.5)}
    (result,) = meaning(
        Function.RESIDUAL,
        x,
        slots,
        residual=stream,
        moments=counted,
        start=True,
        finish=True,
        channels=COLS,
        **scales,
    )
    assert (result == residual_add(x, scales["scale"], stream, scales["scale2"])).all()
    expected = moments_of(result) if counted else (before.total.tolist(), before.squares.tolist())
    assert (slots.total.tolist(), slots.squares.tolist()) == expected


def test_each_result_of_a_normalization_has_its_own_gamma_beta_shift_and_type():
    slots, x = garbage(), matrix(9000, "int16")
    random = np.random.default_rng(1)
    affines = tuple(
        Affine(random.integers(-99, 99, COLS), random.integers(-999, 999, COLS), shift, kind)
        for shift, kind in ((7, np.int8), (3, np.int16))
    )
    meaning(Function.MOMENTS, x, slots, start=True, finish=True, channels=COLS)
    results = meaning(Function.LAYERNORM, x, slots, affines=affines)
    for result, affine in zip(results, affines, strict=True):
        expected = layernorm(x, affine)
        assert result.dtype == expected.dtype
        assert (result == expected).all()
    assert (results[0] != results[1]).any()


def test_softmax_in_parts_is_that_of_whole_rows():
    slots, x = garbage(), matrix(1 << 12, "int32")
    for function in (Function.MAXIMUM, Function.SUM):
        for part, ends in parts(x):
            assert not meaning(function, part, slots, **ends)
    (result,) = meaning(Function.PROBABILITY, x, slots, kind=np.dtype(np.int16))
    assert (result == softmax(x.astype(np.int16), np.int16)).all()


def test_numerators_in_parts_are_those_of_whole_rows():
    slots, x = garbage(), matrix(1 << 12, "int32")
    for part, ends in parts(x):
        meaning(Function.MAXIMUM, part, slots, **ends)
    found = [meaning(Function.EXPONENT, part, slots, **ends)[0] for part, ends in parts(x)]
    expected, totals = deferred_softmax(x.astype(np.int16))
    assert (np.hstack(found) == expected).all()
    assert (slots.total == totals).all()


def test_dithered_numerators_of_parts_are_those_of_whole_rows():
    """Parts begin at multiples of 16 columns."""
    slots, x = garbage(), np.random.default_rng(5).integers(-9000, 0, (ROWS, 40)).astype(np.int32)
    meaning(Function.MAXIMUM, x, slots, start=True)
    found = [
        meaning(Function.DITHERED_EXPONENT, x[:, first:last], slots, start=not first, finish=finish)
        for first, last, finish in ((0, 16, False), (16, 40, True))
    ]
    expected = [reference.deferred_softmax(row, dithered=True) for row in x.tolist()]
    assert np.hstack([part for (part,) in found]).tolist() == [row for row, _ in expected]
    assert slots.total.tolist() == [total for _, total in expected]


@pytest.mark.parametrize("moved", [0, 50_000, -50_000])
def test_a_row_may_be_moved_but_not_where_its_scores_are_stored(moved):
    """Scores of 20 and less below the others of their row, all of them beyond int16 or none."""
    x = matrix(20 << 10, "int32") + np.int32(moved)
    stored = np.clip(x, -(1 << 15), (1 << 15) - 1)
    whole = {"start": True, "finish": True}
    for rows, fields in (
        (x, {}),
        (stored, {"stored": True}),
        (stored.astype(np.int16), {}),
    ):
        slots = garbage()
        meaning(Function.MAXIMUM, x, slots, start=True)
        source = x if "stored" in fields else rows
        (found,) = meaning(Function.EXPONENT, source, slots, **fields, **whole)
        expected = [reference.deferred_softmax(row.tolist()) for row in rows]
        assert found.tolist() == [numerators for numerators, _ in expected]
        assert slots.total.tolist() == [total for _, total in expected]


def test_hidden_columns_count_nowhere_whatever_they_hold():
    x, visible = matrix(1 << 12, "int32"), np.random.default_rng(3).random((ROWS, COLS)) < 0.5
    visible[-1] = False
    slots, values = garbage(), {"visible": visible, "start": True, "finish": True}
    x[~visible] |= 1 << 20  # Larger than all that is visible.
    meaning(Function.MAXIMUM, x, slots, **values)
    meaning(Function.SUM, x, slots, **values)
    (shares,) = meaning(Function.PROBABILITY, x, slots, kind=np.dtype(np.int16), visible=visible)
    scores = np.clip(x, -(1 << 23), (1 << 23) - 1)
    assert (shares == softmax(scores, np.int16, mask=visible)).all()
    (counted,) = meaning(Function.EXPONENT, x, slots, **values)
    expected, totals = deferred_softmax(scores, mask=visible)
    assert (counted == expected).all()
    assert (slots.total[:-1] == totals[:-1]).all()
    assert slots.total[-1] == 0


def wrapped(number: int, bits: int) -> int:
    """The signed number of the low `bits` bits."""
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


@pytest.mark.parametrize(
    ("row", "mean"), [([1, 2], 2), ([-1, -2], -1), ([-2, -3], -2), ([5, 5, 5, 7], 6), ([0, -1], 0)]
)
def test_a_mean_between_two_integers_is_the_upper_one(row, mean):
    slots = garbage().slots(0, 1)
    settings = {"start": True, "finish": True, "channels": len(row)}
    meaning(Function.MOMENTS, np.array([row], np.int16), slots, **settings)
    assert slots.mean.tolist() == [mean]
    distances = sum((q - mean) ** 2 for q in row)
    assert slots.reciprocal.tolist() == [(1 << 31) // max(isqrt(distances), 1)]


@given(
    before=st.tuples(SLOT_TOTALS, st.integers(0, (1 << 48) - 1) | st.just((1 << 48) - 1)),
    row=st.lists(st.integers(-(1 << 15), (1 << 15) - 1), min_size=1, max_size=5),
    channels=st.integers(1, 4096),
    epsilon=st.sampled_from([0, 1, 77, (1 << 40) - 1]),
    start=st.booleans(),
    rms=st.booleans(),
)
def test_moments_are_those_of_registers_that_wrap(before, row, channels, epsilon, start, rms):
    """By Python's integers, also of sums that no row has."""
    slots = Statistics.zeros(1)
    slots.total[:], slots.squares[:] = before
    settings = {"start": start, "channels": channels, "epsilon": epsilon, "rms": rms}
    meaning(Function.MOMENTS, np.array([row], np.int16), slots, finish=True, **settings)
    total, squares = (0, 0) if start else before
    total = wrapped(total + sum(row), 32)
    squares = (squares + sum(q * q for q in row)) % (1 << 48)
    mean = 0 if rms else wrapped(floor(Fraction(total, channels) + Fraction(1, 2)), 17)
    distances = (squares + epsilon - 2 * mean * total + channels * mean**2) % (1 << 48)
    assert (slots.total.tolist(), slots.squares.tolist()) == ([total], [squares])
    assert slots.mean.tolist() == [mean]
    assert slots.reciprocal.tolist() == [(1 << 31) // max(isqrt(distances), 1)]


@given(before=SLOT_TOTALS | st.sampled_from([-1, -(1 << 31), (1 << 31) - 1]), start=st.booleans())
def test_sums_of_exponents_have_32_bits_without_a_sign(before, start):
    """A row of equal scores: each exponent is that of 0, of which there are three."""
    slots = Statistics.zeros(1)
    slots.total[:] = before
    settings = {"start": start, "finish": True}
    meaning(Function.SUM, np.zeros((1, 3), np.int16), slots, **settings)
    total = 3 * EXPONENT_OF_0 + (0 if start else before)
    assert slots.total.tolist() == [wrapped(total, 32)]
    assert slots.reciprocal.tolist() == [(1 << 32) // max(total % (1 << 32), 1) % (1 << 32)]


@pytest.mark.parametrize(
    ("total", "reciprocal"), [(-1, 1), (-(1 << 31), 2), (1, 0), (0, 0), (2, 1 << 31)]
)
def test_the_ends_of_the_sums_of_exponents(total, reciprocal):
    """Of 2^32 - 1, 2^31, 1 (where the reciprocal wraps), nothing, which counts as 1, and 2."""
    slots = Statistics.zeros(1)
    slots.total[:] = total
    hidden = np.zeros((1, 3), bool)
    meaning(Function.SUM, np.zeros((1, 3), np.int16), slots, visible=hidden, finish=True)
    assert slots.total.tolist() == [total]
    assert slots.reciprocal.tolist() == [reciprocal]


@pytest.mark.parametrize(("start", "largest"), [(True, [-5, 9, INT32_MIN]), (False, [3, 9, 3])])
def test_a_maximum_is_of_what_is_visible_and_of_what_was_there(start, largest):
    slots = Statistics.zeros(3)
    slots.maximum[:] = 3
    x = np.array([[-5, -7, 8], [9, 4, 1], [7, 7, 7]], np.int32)
    visible = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]], bool)
    assert not meaning(Function.MAXIMUM, x, slots, visible=visible, start=start)
    assert slots.maximum.tolist() == largest
