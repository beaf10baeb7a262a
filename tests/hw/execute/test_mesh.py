"""`Mesh` against NumPy."""

import numpy as np
import pytest

from celosia.hw.execute.mesh import Mesh, mesh_latency
from celosia.isa.config import AcceleratorConfig
from tests.support.memories import set_row
from tests.support.streams import simulate

CONFIGS = [
    AcceleratorConfig(dim=2, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=8, scratchpad_kib=1, accumulator_kib=2),
]


def spacing(rows: int, dim: int) -> int:
    """Cycles from one tile's first row to the next one's, as few as the rules allow."""
    return max(rows, dim, 2 + dim - 2)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"dim{config.dim}")
@pytest.mark.parametrize("rows", [1, 2, 8, 13])
def test_tiles_back_to_back(config, rows):
    dim, tiles = config.dim, 6
    rng = np.random.default_rng(rows)
    weights = rng.integers(-128, 128, (tiles, dim, dim))
    weights[0] = -128
    is_unsigned = rng.integers(0, 2, (tiles, rows, 1))
    a = rng.integers(-128, 128, (tiles, rows, dim)) + 128 * is_unsigned
    is_unsigned[0], a[0] = 1, 255  # With the weights above: the largest sums that there are.
    wanted = a @ weights
    step = spacing(rows, dim)
    dut = Mesh(config)

    async def testbench(ctx):
        for cycle in range(2 + step * tiles + mesh_latency(config) + 1):
            # Weights: row r of tile t in cycle step*t + r; swap one cycle after row 0.
            tile, row = divmod(cycle, step)
            loading = tile < tiles and row < dim
            ctx.set(dut.weights_start, loading and row == 0)
            set_row(
                ctx,
                [dut.weights[i] for i in range(dim)],
                weights[tile, row].tolist() if loading else [-1] * dim,
            )
            ctx.set(dut.swap, tile < tiles and row == 1)
            # Rows of A: two cycles behind.
            tile, row = divmod(cycle - 2, step)
            enters = 0 <= tile < tiles and row < rows
            ctx.set(dut.a_unsigned, int(is_unsigned[tile, row, 0]) if enters else cycle % 2)
            set_row(
                ctx,
                [dut.a[i] for i in range(dim)],
                (a[tile, row] & 0xFF).tolist() if enters else [0x80] * dim,
            )
            tile, row = divmod(cycle - 2 - mesh_latency(config), step)
            if 0 <= tile < tiles and row < rows:
                assert [ctx.get(x) for x in dut.sums] == wanted[tile, row].tolist()
            await ctx.tick()

    simulate(dut, testbench)
