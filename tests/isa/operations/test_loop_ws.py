"""The commands of LOOP_WS: what moves where, and when the next loop's loads come between."""

import pytest

from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT
from celosia.isa.encoding import COMPUTE_PRELOADED, MVIN, MVIN2, Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loop_ws import LoopWs
from celosia.isa.presets import PRESETS

CONFIG = PRESETS["gemmini4"]
DIM = CONFIG.dim
BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS


def expanded(commands: list[Command]) -> list[Command]:
    expansion = LoopWs(CONFIG)
    made = [made for command in commands for _, made in expansion.expand(command)]
    return [*made, *(made for _, made in expansion.finish())]


def product(i: int, j: int, k: int, **run: int) -> list[Command]:
    """A product of so many tiles, with operands in memory and no D."""
    return [
        BOUNDS.encode(i=i, j=j, k=k),
        ADDRESSES_AB.encode(a=0x10000, b=0x80000),
        ADDRESSES_DC.encode(d=0, c=0x200000),
        STRIDES_AB.encode(a_stride=1000, b_stride=3000),
        STRIDES_DC.encode(d_stride=0, c_stride=500),
        LOOP_WS.encode(**run),
    ]


def test_a_residual_loads_both_where_results_stand_and_adds_the_second():
    i, j = 2, CONFIG.max_blocks + 1
    found = expanded(product(i, j, 7, residual=1))
    assert not any(made.funct == COMPUTE_PRELOADED.funct for made in found)
    for move, base, stride, adds in ((MVIN, 0x10000, 1000, 0), (MVIN2, 0x80000, 3000, 1)):
        loads = [move.decode(made) for made in found if made.funct == move.funct]
        wanted = [
            (
                base + (row * stride + col) * DIM,
                1 << ACCUMULATOR_BIT | adds << ACCUMULATE_BIT | (row * j + col) * DIM,
                tiles * DIM,
            )
            for row in range(i)
            for col, tiles in ((0, CONFIG.max_blocks), (CONFIG.max_blocks, 1))
        ]
        assert [(load["dram"], load["local"], load["local_cols"]) for load in loads] == wanted


HALF = CONFIG.scratchpad_rows // 2 // DIM
"""Tiles in half of the scratchpad."""


@pytest.mark.parametrize(
    ("i", "j", "k", "between"),
    [(8, 8, HALF // 16, True), (8, 8, HALF // 16 + 1, False), (3, 1, HALF // 4, True)],
)
def test_loads_come_between_products_if_all_operands_are_in_one_half(i, j, k, between):
    found = expanded(product(i, j, k) + product(i, j, k))
    functs = [made.funct for made in found]
    products = [place for place, funct in enumerate(functs) if funct == COMPUTE_PRELOADED.funct]
    last_of_first = products[len(products) // 2 - 1]
    loads = [place for place, funct in enumerate(functs) if funct in (MVIN.funct, MVIN2.funct)]
    first_load_of_second = loads[len(loads) // 2]
    assert (first_load_of_second < last_of_first) is between
