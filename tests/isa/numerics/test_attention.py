"""Softmax and the context: against Python, real numbers, and their own symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import (
    CONTEXT_FRACTION_BITS,
    EXPONENT,
    MAX_COLUMNS,
    attention_scores,
    context,
    deferred_context,
    deferred_softmax,
    exponent,
    matmul,
    numerators,
    probabilities,
    reciprocal32,
    requantize_to,
    softmax,
)
from tests.support import integer_reference as reference

INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
SEEDS = st.integers(0, (1 << 32) - 1)
KINDS = [np.uint8, np.int8, np.int16]
TYPES = pytest.mark.parametrize("kind", KINDS)


@st.composite
def masked_rows(draw):
    """A row of scores, near each other or anywhere, and a mask for it."""
    spread = draw(st.sampled_from([50, 2000, 1 << 16]))
    near = st.integers(0, spread - 1).map(lambda q: q - (1 << 15) + (1 << 16) - spread)
    row = draw(st.lists(near, min_size=1, max_size=60))
    mask = draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row)))
    return row, mask


@TYPES
@given(case=masked_rows())
def test_softmax_agrees_with_python(kind, case):
    row, mask = case
    assert softmax(row, kind).tolist() == reference.softmax(row, np.dtype(kind).name)
    got = softmax(row, kind, mask)
    assert got.dtype == kind
    assert got.tolist() == reference.softmax(row, np.dtype(kind).name, mask)


@given(case=masked_rows())
def test_deferred_softmax_agrees_with_python(case):
    row, mask = case
    for seen in (None, mask):
        rounded, total = deferred_softmax(row, seen)
        assert (rounded.tolist(), int(total)) == reference.deferred_softmax(row, seen)
        rounded, total = deferred_softmax(row, seen, dithered=True)
        want = reference.deferred_softmax(row, seen, dithered=True)
        assert (rounded.tolist(), int(total)) == want


@pytest.mark.parametrize("columns", [1, 2, 17, 512, 1000, MAX_COLUMNS])
def test_long_rows_agree_with_python(columns):
    rng = np.random.default_rng(columns)
    scores = np.clip(rng.normal(0, [[200], [1500], [9000]], (3, columns)), -32768, 32767)
    scores = scores.astype(np.int16)
    mask = rng.random((3, columns)) < 0.9
    for kind in KINDS:
        want = [
            reference.softmax(*row)
            for row in zip(scores.tolist(), [np.dtype(kind).name] * 3, mask.tolist(), strict=True)
        ]
        assert softmax(scores, kind, mask).tolist() == want
    rounded, totals = deferred_softmax(scores, mask)
    for row, seen, p, total in zip(scores, mask, rounded, totals, strict=True):
        assert (p.tolist(), total) == reference.deferred_softmax(row.tolist(), seen.tolist())


@TYPES
def test_softmax_is_near_the_real_one(kind):
    scores = np.random.default_rng(5).integers(-6000, 1, (50, 128))
    real = np.exp(scores / 1024)
    real /= real.sum(-1, keepdims=True)
    top = np.iinfo(kind).max
    # exp errs by .0019 of the maximum in numerator and denominator; then half a unit.
    assert np.abs(softmax(scores, kind) / top - real).max() < 3e-3 + 0.5 / top


def test_the_context_is_near_the_real_one():
    rng = np.random.default_rng(6)
    scores = rng.integers(-4000, 1, (50, 512))
    values = rng.integers(-128, 128, (512, 16)).astype(np.int8)
    rounded, totals = deferred_softmax(scores)
    result = deferred_context(matmul(rounded, values), totals) / 2**CONTEXT_FRACTION_BITS
    real = np.exp(scores / 1024)
    real = real @ values / real.sum(-1, keepdims=True)
    assert np.abs(result - real).max() < 0.25


@given(case=masked_rows())
def test_a_masked_column_may_hold_anything(case):
    row, mask = case
    other = np.where(mask, row, 32767)
    for kind in KINDS:
        np.testing.assert_array_equal(softmax(other, kind, mask), softmax(row, kind, mask))
    np.testing.assert_array_equal(deferred_softmax(other, mask)[0], deferred_softmax(row, mask)[0])


@given(case=masked_rows())
def test_a_mask_equals_leaving_the_columns_out(case):
    row, mask = case
    kept = [q for q, seen in zip(row, mask, strict=True) if seen]
    rounded, total = deferred_softmax(row, mask)
    assert not rounded[~np.array(mask)].any()
    if kept:
        alone, sum_alone = deferred_softmax(kept)
        assert rounded[mask].tolist() == alone.tolist()
        assert total == sum_alone
        assert softmax(row, np.int16, mask)[mask].tolist() == softmax(kept, np.int16).tolist()


@given(case=masked_rows(), offset=st.integers(-100, 100))
def test_only_distances_count(case, offset):
    row = np.clip(case[0], -32000, 32000)
    np.testing.assert_array_equal(softmax(row + offset, np.int16), softmax(row, np.int16))


@given(row=st.lists(INT16, min_size=1, max_size=40))
def test_the_maximum_has_the_largest_numerator(row):
    rounded, total = deferred_softmax(row)
    assert rounded[int(np.argmax(row))] == 255
    assert 255 <= total == rounded.sum()


def test_a_single_column_is_one():
    assert [softmax([[q]], kind).item() for kind in KINDS for q in (-32768, 0, 32767)] == [
        *[255] * 3,
        *[127] * 3,
        *[32767] * 3,
    ]


def test_a_fully_masked_row_is_zero():
    scores, nothing = np.full((2, 5), 1000, np.int16), np.zeros((2, 5), bool)
    for kind in KINDS:
        assert not softmax(scores, kind, nothing).any()
    rounded, totals = deferred_softmax(scores, nothing)
    assert not rounded.any()
    assert totals.tolist() == [1, 1]
    result = deferred_context(matmul(rounded, np.full((5, 3), -128, np.int8)), totals)
    assert not result.any()
    assert (requantize_to(result, 0.3, np.uint8, zero_point=7) == 7).all()


@pytest.mark.parametrize("value", [-128, 127])
@pytest.mark.parametrize("columns", [1, 512, MAX_COLUMNS])
def test_extremes_of_the_context(value, columns):
    """The widths that are stated up to 4,096 columns, and that none of them is generous."""
    rounded, totals = deferred_softmax(np.zeros((1, columns), np.int16))
    products = matmul(rounded, np.full((columns, 1), value, np.int8))
    result = deferred_context(products, totals)
    assert totals.item() == 255 * columns < 1 << 20
    assert products.item() == value * totals.item()
    assert -(1 << 27) <= products.item() < 1 << 27
    assert -(1 << 23) <= result.item() < 1 << 23
    # The reciprocal is rounded down by less than 1, which counts once per unit of the product.
    error = abs(result.item() - (value << CONTEXT_FRACTION_BITS))
    assert error <= (abs(products.item()) >> 16) + 1
    assert int(np.float32(result.item())) == result.item()


@given(seed=SEEDS, columns=st.integers(1, 64))
def test_a_product_of_numerators_is_within_128_sums(seed, columns):
    rng = np.random.default_rng(seed)
    rounded, totals = deferred_softmax(rng.integers(-9000, 1, (4, columns)))
    values = rng.integers(-128, 128, (columns, 3)).astype(np.int8)
    products = matmul(rounded, values)
    result = deferred_context(products, totals)
    assert (np.abs(products) <= 128 * totals[:, np.newaxis]).all()
    assert (np.abs(result) <= 1 << 23).all()
    for row, total, got in zip(products.tolist(), totals.tolist(), result.tolist(), strict=True):
        assert got == [reference.deferred_context(x, total) for x in row]


@given(x=st.integers(-(1 << 31), (1 << 31) - 1), total=st.integers(2, (1 << 31) - 1))
def test_any_context_is_defined_modulo_32_bits(x, total):
    want = (reference.deferred_context(x, total) + 2**31) % 2**32 - 2**31
    assert deferred_context([[x]], [total]).item() == want


def test_the_context_of_an_empty_sum_is_zero():
    assert deferred_context([[5, -(1 << 31)]], [1]).tolist() == [[0, 0]]


@pytest.mark.parametrize("kind", KINDS)
def test_softmax_is_its_steps(kind):
    scores = np.random.default_rng(11).integers(-5000, 1, (6, 100))
    exponents = exponent(scores - scores.max(-1, keepdims=True))
    reciprocals = reciprocal32(exponents.sum(-1, dtype=int))
    got = probabilities(exponents, reciprocals, kind)
    assert got.dtype == kind
    np.testing.assert_array_equal(got, softmax(scores, kind))
    rounded, totals = deferred_softmax(scores)
    np.testing.assert_array_equal(numerators(exponents), rounded)
    products = matmul(rounded, np.full((100, 2), -77, np.int8))
    np.testing.assert_array_equal(
        context(products, reciprocal32(totals)), deferred_context(products, totals)
    )


def test_every_numerator_agrees_with_python():
    exponents = range(EXPONENT.one + 1)
    want = [min((e * 93520 + 2**23) >> 24, 255) for e in exponents]
    assert numerators(exponents).tolist() == want
    assert numerators((1 << 16) - 1) == 255


@pytest.mark.parametrize("dithered", [False, True])
def test_rows_are_computed_each_by_itself(dithered):
    """However many axes are before that of the columns, and whatever sizes these have."""
    scores = np.random.default_rng(5).integers(-3000, 0, (2, 3, 70))
    exponents = exponent(scores)
    found = numerators(exponents, dithered=dithered)
    bytes_, totals = deferred_softmax(scores, dithered=dithered)
    for place in np.ndindex(2, 3):
        row = numerators(exponents[place], dithered=dithered)
        assert found[place].tolist() == row.tolist()
        alone, total = deferred_softmax(scores[place], dithered=dithered)
        assert (bytes_[place].tolist(), totals[place]) == (alone.tolist(), total)


def test_small_numerators_lose_nothing_together_if_they_are_dithered():
    """Of 16 alike columns, as many are rounded up as their fraction says, to one."""
    for each in range(0, 5 * EXPONENT.one // 255, 7):
        alike = numerators([each] * 16, dithered=True).sum(dtype=int)
        assert abs(alike - 16 * each * 255 / EXPONENT.one) <= 0.51


@given(x=st.integers(-(1 << 31), (1 << 31) - 1), reciprocal=st.integers(0, (1 << 32) - 1))
def test_a_context_of_any_reciprocal_is_defined(x, reciprocal):
    want = ((x * reciprocal + 2**15 >> 16) + 2**31) % 2**32 - 2**31
    assert context([x], reciprocal).tolist() == [want]


@given(
    e=st.integers(0, (1 << 16) - 1),
    reciprocal=st.integers(0, (1 << 32) - 1),
    kind=st.sampled_from(KINDS),
)
def test_a_probability_of_any_reciprocal_is_defined(e, reciprocal, kind):
    """The largest operands do not overflow int64; the minimum then acts."""
    top = np.iinfo(kind).max
    want = min((e * reciprocal * top + 2**31) >> 32, top)
    assert probabilities([e], reciprocal, kind).tolist() == [want]


@pytest.mark.parametrize("reciprocal", [-1, 1 << 32])
def test_a_reciprocal_is_a_register(reciprocal):
    with pytest.raises(ValueError, match=rf"^context: reciprocal: {reciprocal} is not in 0\.\."):
        context([1], reciprocal)


def test_widths_of_normalized_softmax():
    """The sum is at least the largest exponent; this bounds everything that follows."""
    most = MAX_COLUMNS * EXPONENT.one
    factor = int(reciprocal32(EXPONENT.one)) * 32767
    assert most.bit_length() == 28
    assert factor.bit_length() == 32
    # exponent <= sum, so exponent * floor(2^32 / sum) <= 2^32.
    assert ((1 << 32) * 32767 + (1 << 31)).bit_length() == 47
    assert (EXPONENT.one * factor + (1 << 31)).bit_length() <= 47


def test_widths_of_deferred_softmax():
    unit = 255 * (1 << 24) // EXPONENT.one
    assert unit == 93520
    assert (EXPONENT.one * unit + (1 << 23)).bit_length() == 32
    assert (EXPONENT.one * unit + (1 << 23)) >> 24 == 255


@given(
    raw=st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=1, max_size=20),
    scale=st.floats(2.0**-40, 2.0, width=32),
)
def test_the_maximum_may_be_found_among_raw_scores(raw, scale):
    assert attention_scores(raw, scale).max() == attention_scores(max(raw), scale)


def test_scores_saturate_where_their_words_end():
    """24 bits, 8192 as a real number, until the maximum is subtracted; int16 if they are stored."""
    raw = [0, 1 << 15, -(1 << 15) - 1, (1 << 23) - 1, 1 << 23, -(1 << 23), -(1 << 23) - 1, 1 << 30]
    wide = [0, 32768, -32769, 8388607, 8388607, -8388608, -8388608, 8388607]
    assert attention_scores(raw, 1.0).tolist() == wide
    assert attention_scores(raw, 1.0, stored=True).tolist() == [
        max(-32768, min(x, 32767)) for x in raw
    ]
    assert attention_scores([-300, 5, 80_000, 7], 0.5, stored=True).tolist() == [-150, 2, 32767, 4]


@given(
    row=st.lists(st.integers(-(1 << 16), 1 << 16), min_size=1, max_size=12),
    moved=st.integers(-(1 << 20), 1 << 20),
    seen=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_what_all_scores_of_a_row_share_does_not_count(row, moved, seen):
    """Distances are what they were, as far as no score leaves its 24 bits."""
    mask = [seen[: len(row)]]
    both = [[x + moved for x in row]], [row]
    assert len({str(deferred_softmax(scores, mask)) for scores in both}) == 1
    assert (
        deferred_softmax(both[0], mask)[0][0].tolist()
        == (reference.deferred_softmax(both[0][0], mask[0])[0])
    )


@pytest.mark.parametrize("scale", [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, [0.5, 0.5]])
def test_a_scale_of_scores_is_one_positive_number(scale):
    with pytest.raises(ValueError, match=r"^softmax: scale .* is not one positive finite number$"):
        attention_scores([1, 2], scale)


def test_sums_of_column_blocks_are_those_of_the_row():
    """With the row's maximum known, a row may come in pieces of any length."""
    row = np.random.default_rng(3).integers(-3000, 3000, 1000)
    peak, cut = row.max(), [100, 612, 613]
    assert max(part.max() for part in np.split(row, cut)) == peak
    parts = [exponent(part - peak).sum(dtype=int) for part in np.split(row, cut)]
    assert sum(parts) == exponent(row - peak).sum(dtype=int)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: softmax([[1]], np.int32), ValueError, "type: int32 is none of uint8, int8, int16"),
        (
            lambda: softmax([[1 << 23]]),
            ValueError,
            r"scores: 8388608 is not in -8388608\.\.8388607",
        ),
        (lambda: softmax(np.zeros((3, 0), int)), ValueError, r"0 columns are not in 1\.\.4096"),
        (
            lambda: deferred_softmax(np.zeros((1, 4097), np.int16)),
            ValueError,
            r"4097 columns are not in 1\.\.4096",
        ),
        (lambda: softmax([[1, 2]], mask=[[1, 0]]), TypeError, "mask: int64 is not bool"),
        (
            lambda: deferred_softmax([[1, 2]], [True] * 3),
            ValueError,
            r"a mask of \(3,\) does not broadcast to scores of \(1, 2\)",
        ),
        (lambda: softmax([[1.0]]), TypeError, "scores: float64 is not an integer type"),
    ],
)
def test_bad_operands_of_softmax_are_named(call, error, message):
    with pytest.raises(error, match=f"^softmax: {message}$"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: deferred_context([[0]], [0]), r"deferred_context: sum: 0 is not in 1\.\."),
        (lambda: deferred_context([[1 << 31]], [1]), "deferred_context: product: 2147483648 is"),
    ],
)
def test_other_bad_operands_are_named(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
