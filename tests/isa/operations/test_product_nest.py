"""PRODUCTS, taken apart: what is well formed, and the commands that it stands for."""

from itertools import product
from typing import Final

import pytest

from celosia.isa.encoding import COMPUTE_PRELOADED, CONFIG_PRODUCTS, PRELOAD, PRODUCTS
from celosia.isa.operations.product_nest import ProductNest

DIM: Final = 4
NEST: Final = {
    "a": 10, "w": 20, "c": 30, "rows": 5, "k": 2, "pieces": 3, "columns": 2,
    "last_depth": 3, "last_cols": 1,
}  # fmt: skip
STRIDES: Final = {
    "a_k": 7, "a_piece": 100, "w_k": 4, "w_piece": 40, "w_column": 400, "c_column": 9,
}  # fmt: skip
EXTREMES: Final = {
    "rows": (1, (1 << 16) - 1),
    **dict.fromkeys(("k", "pieces", "columns"), (1, (1 << 8) - 1)),
    **dict.fromkeys(("last_depth", "last_cols"), (1, DIM)),
}
"""The least and the largest legal value of each size."""
GARBAGE: Final = (1 << 32) - 1


def decoded(values: dict[str, int], strides: dict[str, int] = STRIDES) -> ProductNest | None:
    command = PRODUCTS.encode(**(NEST | values))
    return ProductNest.decode(command, CONFIG_PRODUCTS.encode(**strides), DIM)


@pytest.mark.parametrize("name", EXTREMES)
def test_a_size_of_nothing_is_not_well_formed(name):
    """The other sizes make no difference."""
    assert decoded({name: 0}) is None
    assert decoded(dict.fromkeys(EXTREMES, 0) | {name: 1}) is None


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, both in EXTREMES.items() for value in both]
)
def test_the_ends_of_each_range_are_well_formed(name, value):
    assert decoded({name: value}) is not None


@pytest.mark.parametrize("name", ["last_depth", "last_cols"])
@pytest.mark.parametrize("value", [DIM + 1, 255])
def test_a_last_tile_is_no_larger_than_another(name, value):
    assert decoded({name: value}) is None


@pytest.mark.parametrize("overwrite", [0, 1])
def test_its_commands_are_those_of_loops_over_columns_pieces_and_k(overwrite):
    nest = decoded({"overwrite": overwrite})
    assert nest is not None
    wanted = []
    for column, (piece, k) in product(range(2), product(range(3), range(2))):
        depth = 3 if (piece, k) == (2, 1) else DIM
        cols = 1 if column == 1 else DIM
        accumulates = not overwrite or (piece, k) != (0, 0)
        wanted += [
            PRELOAD.encode(
                b=20 + 400 * column + 40 * piece + 4 * k,
                b_cols=cols,
                b_rows=depth,
                c=1 << 31 | int(accumulates) << 30 | 30 + 9 * column,
                c_cols=cols,
                c_rows=5,
            ),
            COMPUTE_PRELOADED.encode(a=10 + 100 * piece + 7 * k, a_cols=depth, a_rows=5, d=GARBAGE),
        ]
    assert [*nest.commands()] == wanted
    assert len(nest) == len(wanted)
    assert nest.last_preload == PRELOAD.decode(wanted[-2])
    assert (nest.depth, nest.cols) == (5 * DIM + 3, DIM + 1)


def test_rows_wrap_within_16_bits():
    back = {"a_k": 0xFFF0, "w_k": 0xFFF0, "w_column": 0xFFFF, "c_column": 0xFFE0}
    nest = decoded({"pieces": 1}, back)
    assert nest is not None
    assert nest.a == (10, 0xFFFA)
    assert nest.w == ((20, 4), (19, 3))
    assert nest.c == (30, 0xFFFE)
