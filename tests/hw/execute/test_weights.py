"""`WeightLoader`: products without weights pass, waves are never torn, `hold` holds."""

from celosia.hw.execute.weights import WeightLoader
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
TILE = {"load_weights": 1, "w_row": 8, "w_rows": 4, "w_cols": 4, "c_rows": 4}


def test_a_product_without_weights_passes_without_a_read():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        await send(ctx, dut.i, [{"load_weights": 0, "c_rows": 3, "tag": 9}])
        for _ in range(4):
            assert not ctx.get(dut.read.valid)
            await ctx.tick()
        assert ctx.get(dut.o.valid)
        assert ctx.get(dut.o.p.tag) == 9

    simulate(dut, testbench)


def test_a_wave_reads_its_rows_in_consecutive_cycles_and_the_product_follows_it():
    dut, reads, starts, offered = WeightLoader(CONFIG), [], [], []

    async def producer(ctx):
        await send(ctx, dut.i, [TILE])

    async def watch(ctx):
        for cycle in range(16):
            if ctx.get(dut.read.valid):
                reads.append((cycle, ctx.get(dut.read.row)))
                assert ctx.get(dut.control.mask) == 0b1111
            if ctx.get(dut.control.start):
                starts.append(cycle)
            if ctx.get(dut.o.valid):
                offered.append(cycle)
            await ctx.tick()

    simulate(dut, producer, watch)
    first = starts[0]
    assert reads == [(first + n, 8 + n) for n in range(CONFIG.dim)]
    assert offered[0] == first + 1


def test_no_wave_starts_while_it_is_held():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.hold, 1)
        await send(ctx, dut.i, [TILE])
        for _ in range(10):
            await ctx.tick()
            assert not ctx.get(dut.control.start)
        assert ctx.get(dut.waiting)
        ctx.set(dut.hold, 0)
        await ctx.tick()
        assert ctx.get(dut.control.start)

    simulate(dut, testbench)


def test_the_next_wave_waits_for_the_swap():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [TILE, TILE])
        waves = 0
        for _ in range(20):
            waves += ctx.get(dut.control.start)
            await ctx.tick()
        assert waves == 1
        ctx.set(dut.swapped, 1)
        await ctx.tick()
        ctx.set(dut.swapped, 0)
        for _ in range(4):
            waves += ctx.get(dut.control.start)
            await ctx.tick()
        assert waves == 2

    simulate(dut, testbench)
