"""Which scores may wait in memory as int16, and which saturate in any case."""

import numpy as np
import pytest

from celosia.sw.quantize.ranges import ScoreRange


def taken(*rows) -> ScoreRange:
    found = ScoreRange()
    for row in rows:
        found.take(np.array([row], float))
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
    ("most", "saturates"), [(8191.9, False), (8192.0, True), (-8191.9, False), (-8192.0, True)]
)
def test_scores_saturate_from_8192_on(most, saturates):
    assert taken([most, -90000.0], [0.0]).saturates is saturates
