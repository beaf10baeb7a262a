"""Which scores may wait in memory as int16, and which saturate in any case."""

import numpy as np
import pytest

from celosia.sw.quantize.ranges import ScoreRange


def taken(*rows) -> ScoreRange:
    found, random = ScoreRange(), np.random.default_rng(7)
    for row in rows:
        values = random.normal(0, 1, (np.shape(row)[-1], 8))
        found.take(np.array(row, np.float32).reshape(-1, len(values)), values.astype(np.float32))
    return found


@pytest.mark.parametrize(
    ("rows", "waits"),
    [
        ([[0.0, -500.0]], True),  # Only the maximum of a row counts.
        ([[24.0], [-12.0]], True),
        ([[24.1]], False),
        ([[-12.1, -300.0]], False),
        ([[3.0], [-40.0]], False),
        ([[-np.inf, -np.inf]], False),  # No key is seen: nothing is known.
        ([[-np.inf, 5.0], [-np.inf, -np.inf]], True),
    ],
)
def test_scores_may_wait_if_maxima_are_well_within_int16(rows, waits):
    assert taken(*rows).may_wait is waits


@pytest.mark.parametrize(
    ("spread", "keys", "gains"),
    [
        (2.0, 2048, True),  # docs/adr/0012: 20.7 dB, and 27.8 dithered.
        (3.0, 512, True),  # 29.7 and 34.4 dB.
        (1.0, 1024, False),  # 37.8 and 34.6 dB.
        (0.3, 512, False),
        (3.0, 256, False),  # Short rows are not looked at.
    ],
)
def test_numerators_are_dithered_where_long_rows_are_widely_spread(spread, keys, gains):
    """Values that have nothing to do with the scores of their keys."""
    scores = np.random.default_rng(1).normal(0, spread, (64, keys))
    hidden = np.full((2, keys), -np.inf)
    assert taken(np.vstack([scores, hidden])).gains_by_dither is gains


@pytest.mark.parametrize(
    ("most", "saturates"), [(8191.9, False), (8192.0, True), (-8191.9, False), (-8192.0, True)]
)
def test_scores_saturate_from_8192_on(most, saturates):
    assert taken([most, -90000.0], [0.0]).saturates is saturates
