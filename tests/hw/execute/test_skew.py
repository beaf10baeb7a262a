"""`staggered`: value n comes n cycles late."""

import pytest
from amaranth import Module, Signal

from celosia.hw.execute.skew import staggered
from celosia.hw.lib.fields import CHUNK_BITS
from tests.support.streams import simulate


@pytest.mark.parametrize("bits", [1, 9, CHUNK_BITS])
@pytest.mark.parametrize("count", [2, 5, 16])
def test_value_n_comes_n_cycles_late(bits, count):
    m = Module()
    values = [Signal(bits, name=f"value_{n}") for n in range(count)]
    results = list(staggered(m, list(values), name="line"))

    def sent(n, cycle):
        return (37 * cycle + 11 * n + 1) % (1 << bits)

    async def testbench(ctx):
        for cycle in range(3 * count):
            for n, value in enumerate(values):
                ctx.set(value, sent(n, cycle))
            for n, result in enumerate(results):
                if cycle >= n:
                    assert ctx.get(result) == sent(n, cycle - n), (cycle, n)
            await ctx.tick()

    simulate(m, testbench)
