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


@pytest.mark.parametrize("dim", [4, 8])
@pytest.mark.parametrize("rows", [1, 4, 7])
@pytest.mark.parametrize("kinds", ["ppppp", "plppl"])
def test_tiles_in_pairs_of_lines_among_others(dim, rows, kinds):
    """Each swap comes as early as the rules allow.

    That is dim/2 cycles behind the one before, for a pair's tile (p) behind another, or dim.
    """
    config = AcceleratorConfig(dim=dim, scratchpad_kib=2, accumulator_kib=2, int4_pairs=True)
    rng, half = np.random.default_rng([dim, rows]), dim // 2
    limits = np.array([8 if kind == "p" else 128 for kind in kinds])[:, None, None]
    weights = rng.integers(-limits, limits, (len(kinds), dim, dim))
    a = rng.integers(-128, 128, (len(kinds), rows, dim))
    wanted, lines, enters, start = a @ weights, {}, {}, 0
    for tile, kind in enumerate(kinds):
        tall = half if kind == "p" else dim
        lines |= {start + row: (tile, row) for row in range(tall)}
        enters |= {start + 2 + row: (tile, row) for row in range(rows)}
        start += max(rows, half if kinds[tile : tile + 2] == "pp" else dim)
    dut = Mesh(config)

    async def testbench(ctx):
        for cycle in range(start + 2 + mesh_latency(config) + 1):
            tile, row = lines.get(cycle, (0, -1))
            pair = row >= 0 and kinds[tile] == "p"
            ctx.set(dut.weights_start, row == 0)
            ctx.set(dut.pair, pair)
            ctx.set(dut.swap, lines.get(cycle - 1, (0, -1))[1] == 0)
            first = weights[tile, row].tolist() if row >= 0 else [-1] * dim
            set_row(ctx, [dut.weights[i] for i in range(dim)], first)
            second = weights[tile, row + half] & 0xF if pair else [3] * dim
            set_row(ctx, [dut.second[i] for i in range(dim)], [int(each) for each in second])
            tile, row = enters.get(cycle, (0, -1))
            line = (a[tile, row] & 0xFF).tolist() if row >= 0 else [0x80] * dim
            set_row(ctx, [dut.a[i] for i in range(dim)], line)
            if leaves := enters.get(cycle - mesh_latency(config)):
                assert [ctx.get(x) for x in dut.sums] == wanted[leaves].tolist()
            await ctx.tick()

    simulate(dut, testbench)
