"""The masks of attention: which keys a query sees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import causal_mask, padding_mask, softmax
from tests.support import integer_reference as reference


def test_a_mask_broadcasts_to_heads():
    scores = np.random.default_rng(2).integers(-3000, 3000, (2, 3, 4, 5)).astype(np.int16)
    mask = padding_mask([5, 2], 5)[:, np.newaxis, np.newaxis]
    got = softmax(scores, np.int16, mask)
    for batch, row in ((0, [True] * 5), (1, [True] * 2 + [False] * 3)):
        want = reference.softmax(scores[batch, 2, 3].tolist(), "int16", row)
        assert got[batch, 2, 3].tolist() == want


@given(length=st.integers(0, 20), columns=st.integers(1, 20))
def test_padding_hides_what_is_behind_the_length(length, columns):
    if length <= columns:
        assert padding_mask(length, columns).tolist() == [j < length for j in range(columns)]


@given(rows=st.integers(1, 9), columns=st.integers(1, 20), first=st.integers(0, 20))
def test_causality_hides_what_is_behind_the_query(rows, columns, first):
    want = [[j <= first + i for j in range(columns)] for i in range(rows)]
    assert causal_mask(rows, columns, first).tolist() == want


@given(
    window=st.integers(1, 6),
    more=st.integers(0, 9),
    first=st.integers(0, 20),
    rows=st.integers(1, 4),
    closed=st.booleans(),
)
def test_a_query_sees_the_last_keys_of_its_window(window, more, first, rows, closed):
    """Its own among them; in a ring, the place of key k is that of key k + ring as well."""
    ring, columns = (window + more, window + more) if closed else (None, 24)
    first = min(first, columns - rows) if closed else first
    if first < 0:
        return
    seen = causal_mask(rows, columns, first, window, ring)
    for row, own in zip(seen.tolist(), range(first, first + rows), strict=True):
        keys = {key % ring if ring else key for key in range(own - window + 1, own + 1)}
        assert row == [column in keys for column in range(columns)]


def test_row_blocks_of_a_causal_mask_are_its_rows():
    whole = causal_mask(12, 12)
    blocks = [causal_mask(4, 12, first) for first in (0, 4, 8)]
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: padding_mask([6], 5), r"padding_mask: length: 6 is not in 0\.\.5"),
        (lambda: padding_mask([-1], 5), r"padding_mask: length: -1 is not in 0\.\.5"),
        (lambda: padding_mask([0], 0), r"padding_mask: columns: 0 is not in 1\.\.4096"),
        (lambda: causal_mask(0, 1), r"causal_mask: rows: 0 is not in 1\.\."),
        (lambda: causal_mask(1, 4097), r"causal_mask: columns: 4097 is not in 1\.\.4096"),
        (lambda: causal_mask(1, 1, -1), r"causal_mask: first: -1 is not in 0\.\."),
        (lambda: causal_mask(1, 4, 0, 0), r"causal_mask: window: 0 is not in 1\.\.4096"),
        (lambda: causal_mask(1, 4, 0, 3, 2), r"causal_mask: ring: 2 is not in 3\.\.4096"),
    ],
)
def test_bad_sizes_of_masks_are_named(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
