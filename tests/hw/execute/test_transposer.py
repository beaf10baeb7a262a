"""`Transposer`: tiles in by rows, out by columns."""

import numpy as np
import pytest

from celosia.hw.execute.transposer import Transposer
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate


@pytest.mark.parametrize("dim", [2, 4, 8])
@pytest.mark.parametrize("pauses", [False, True])
def test_columns_leave_while_rows_enter(dim, pauses):
    tiles = np.random.default_rng(dim).integers(0, 256, (5, dim, dim))
    dut = Transposer(AcceleratorConfig(dim=dim, scratchpad_kib=2, accumulator_kib=2))

    async def testbench(ctx):
        for tile in range(len(tiles) + 1):
            for step in range(dim):
                if pauses and step % 2:
                    ctx.set(dut.shift, 0)
                    await ctx.tick().repeat(2)
                ctx.set(dut.left, tile % 2)
                ctx.set(dut.shift, 1)
                row = tiles[tile, step] if tile < len(tiles) else np.zeros(dim, int)
                ctx.set(dut.i, row.tolist())
                if tile:
                    assert list(ctx.get(dut.o)) == tiles[tile - 1, :, step].tolist()
                await ctx.tick()

    simulate(dut, testbench)
