"""How much of a branch's time is over before each of its operations."""

import pytest

from celosia.sw.branches.merge import _shares
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Space, Store

OP = ("name", Store(View("t", 0, 0, 4, 4), LocalRows(Space.SCRATCHPAD, 0, 4, 1, 4)))
"""Nothing for the array."""


@pytest.mark.parametrize(
    ("stages", "cycles", "shares"),
    [
        ([[OP, OP], [OP]], (6, 2), [0, 3 / 8, 6 / 8]),
        ([[OP]], (5,), [0]),
        ([[OP], [OP, OP, OP]], (1, 3), [0, 1 / 4, 2 / 4, 3 / 4]),
    ],
)
def test_each_stage_takes_its_cycles_and_operations_share_them(stages, cycles, shares):
    assert [*_shares(stages, cycles)] == shares
