"""How much of a branch's time is over before each of its operations."""

import pytest

from celosia.sw.branches.merge import _shares
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Products, Space, Store

OP = ("name", Store(View("t", 0, 0, 4, 4), LocalRows(Space.SCRATCHPAD, 0, 4, 1, 4)))
"""Nothing for the array."""
ZERO = dict.fromkeys(("a", "w", "c", "a_k", "w_k", "w_column", "c_column"), 0)
TILE = {"rows": 4, "pieces": 1, "columns": 1, "last_depth": 4, "last_cols": 4, "accumulate": False}
LONG, SHORT = (("name", Products(**ZERO, **TILE, k=tiles)) for tiles in (3, 1))
"""Three parts of the array's time, and one."""


@pytest.mark.parametrize(
    ("stages", "cycles", "shares"),
    [
        ([[OP, OP], [OP]], (6, 2), [0, 3 / 8, 6 / 8]),
        ([[OP]], (5,), [0]),
        ([[OP], [OP, OP, OP]], (1, 3), [0, 1 / 4, 2 / 4, 3 / 4]),
        ([[LONG, SHORT]], (8,), [0, 6 / 8]),
        ([[OP, LONG, OP, SHORT, OP]], (8,), [0, 0, 6 / 8, 6 / 8, 1]),
        ([[OP, SHORT], [OP, OP]], (2, 2), [0, 0, 2 / 4, 3 / 4]),
    ],
)
def test_each_stage_takes_its_cycles_and_operations_share_them(stages, cycles, shares):
    assert [*_shares(stages, cycles)] == shares
