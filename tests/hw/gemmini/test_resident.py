"""`ResidentSums`: rows add up, are kept, and leave shifted."""

import random

import numpy as np
import pytest

from celosia.hw.gemmini.resident import ResidentSums
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import round_shift, wrap32
from tests.support.memories import set_row
from tests.support.streams import simulate

EXTREMES = [-(1 << 31), (1 << 31) - 1, -1, 0, 1, 1 << 30, 3 << 20, -(3 << 20)]


@pytest.mark.parametrize("dim", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_rows_add_up_and_leave_a_cycle_after_they_came(dim, seed):
    rng = random.Random(seed)
    dut = ResidentSums(AcceleratorConfig(dim=dim, scratchpad_kib=1, accumulator_kib=1))
    kept = np.zeros((dim, dim), np.int64)
    steps, wanted = [], []
    for number in range(60):
        row = [rng.choice([*EXTREMES, rng.getrandbits(8)]) for _ in range(dim)]
        resident, start = rng.random() < 0.8, number < dim or rng.random() < 0.2
        shift, index = rng.choice([0, 1, 2, 8, 30, 31]), number % dim
        steps.append(({"resident": resident, "start": start, "index": index, "shift": shift}, row))
        out = np.array(row)
        if resident or number < dim:
            steps[-1][0]["resident"] = 1
            kept[index] = wrap32(np.array(row) + (0 if start else kept[index]))
            out = round_shift(kept[index], shift)
        wanted.append(out.tolist())

    assert dut.LATENCY == 1

    async def testbench(ctx):
        """A row is set behind the edge of its control, and looked at a cycle after that."""
        waiting, arriving = None, None
        for number in range(2 * len(steps) + 4):
            if arriving is not None:
                assert [ctx.get(x) for x in dut.elements] == arriving
            arriving = waiting
            # Every other cycle is empty in one of the runs.
            index = number if seed != 2 else number // 2
            sends = index < len(steps) and (seed != 2 or number % 2 == 0)
            ctx.set(dut.control.valid, sends)
            if sends:
                for name, value in steps[index][0].items():
                    ctx.set(dut.control[name], value)
            await ctx.tick()
            waiting = wanted[index] if sends else None
            if sends:
                set_row(ctx, dut.rows, steps[index][1])

    simulate(dut, testbench)
