"""`ParameterMemory`: masked writes, and reads in every cycle."""

import random

from celosia.hw.memory.parameters import ParameterMemory
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, parameter_rows=8)


def test_random_reads_and_writes_see_a_plain_array():
    dut, rng = ParameterMemory(CONFIG), random.Random(0)
    rows = [[0] * CONFIG.dim for _ in range(CONFIG.parameter_rows)]

    async def testbench(ctx):
        due: dict[int, list[int]] = {}
        for cycle in range(300):
            row = rng.randrange(CONFIG.parameter_rows)
            ctx.set(dut.store.valid, 1)
            ctx.set(dut.store.row, row)
            assert ctx.get(dut.store.ready)
            due[cycle + LOCAL_READ_LATENCY] = list(rows[row])
            values = [rng.randrange(-(1 << 31), 1 << 31) for _ in range(CONFIG.dim)]
            mask, target = rng.randrange(1 << CONFIG.dim), rng.randrange(CONFIG.parameter_rows)
            ctx.set(dut.load.valid, cycle % 3 != 0)
            ctx.set(dut.load.payload, {"row": target, "data": values, "mask": mask})
            if cycle in due:
                assert list(ctx.get(dut.store.data)) == due[cycle]
            if cycle % 3:
                for lane in range(CONFIG.dim):
                    if mask >> lane & 1:
                        rows[target][lane] = values[lane]
            await ctx.tick()

    simulate(dut, testbench)
