"""`ResultWriter`: addresses one cycle ahead, D added, int8 for the scratchpad."""

from celosia.hw.execute.results import PRODUCTS, ResultWriter
from celosia.isa.config import AcceleratorConfig
from tests.support.memories import set_row
from tests.support.registers import reset_registers
from tests.support.streams import send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
LATENCY = 6
ROWS = {"row": 5, "rows": 2, "stride": 3, "mask": 0b0111, "to_accumulator": 1, "accumulate": 1}


def test_a_row_comes_after_the_documented_latency_and_its_address_before_it():
    dut = ResultWriter(CONFIG, LATENCY)

    async def testbench(ctx):
        await send(ctx, dut.i, [ROWS | {"add_d": 1}])
        for cycle in range(LATENCY + 4):
            ctx.set(dut.entered, cycle < 2)
            ctx.set(dut.d_valid, cycle < 2)
            ctx.set(dut.d, [cycle + 1, -1, 0, -128])
            set_row(ctx, dut.sums, [cycle * 100, 0, -1000, 7])
            row = cycle - LATENCY
            assert ctx.get(dut.address.valid) == (row + 1 in (0, 1))
            if ctx.get(dut.address.valid):
                assert ctx.get(dut.address.row) == 5 + 3 * (row + 1)
                assert ctx.get(dut.address.mask) == 0b0111
                assert ctx.get(dut.address.accumulate)
            if row in (0, 1):
                assert [ctx.get(x) for x in dut.elements] == [
                    cycle * 100 + row + 1,
                    -1,
                    -1000,
                    -121,
                ]
            assert ctx.get(dut.done) == (row == 1)
            await ctx.tick()
        assert ctx.get(dut.empty)

    simulate(dut, testbench)


def test_output_stationary_rows_add_up_and_leave_a_cycle_later_shifted():
    dut = ResultWriter(CONFIG.with_values({"dataflow": "both"}), LATENCY)
    stays = ROWS | {"resident": 1, "rows": 4, "mask": 0b1111, "stride": 1, "add_d": 1}
    first, second = stays | {"start": 1, "kept": 0}, stays | {"kept": 2, "shift": 2}

    async def testbench(ctx):
        await send(ctx, dut.i, [first, second])
        addresses, rows = [], []
        for cycle in range(LATENCY + 14):
            ctx.set(dut.entered, cycle < 8)
            ctx.set(dut.d_valid, cycle < 8)
            ctx.set(dut.d, [3, 0, 0, 0])
            set_row(ctx, dut.sums, [cycle - LATENCY, -6, 6, 1 << 12])
            if ctx.get(dut.address.valid):
                addresses.append((cycle, ctx.get(dut.address.row), ctx.get(dut.address.mask)))
            if cycle in (LATENCY + 5, LATENCY + 6):
                rows.append([ctx.get(x) for x in dut.elements])
            assert ctx.get(dut.done) == (cycle in (LATENCY + 4, LATENCY + 8))
            await ctx.tick()
        assert addresses == [
            (LATENCY + row, 5 + row % 4, 0b1111 if row in (4, 5) else 0) for row in range(8)
        ]
        # Rows 0 and 4 add up, and 1 and 5: (0 + 3 + 4 + 3) / 4, (1 + 3 + 5 + 3) / 4.
        assert rows == [[2, -3, 3, 1 << 11], [3, -3, 3, 1 << 11]]
        assert ctx.get(dut.empty)

    simulate(dut, testbench)


def test_scratchpad_rows_are_saturated_one_cycle_later():
    dut = ResultWriter(CONFIG, LATENCY)

    async def testbench(ctx):
        products = [ROWS | {"to_accumulator": 0, "rows": 1, "relu": relu} for relu in (0, 1)]
        await send(ctx, dut.i, products)
        wanted = {LATENCY + 1: [127, 128, 128, 5], LATENCY + 2: [127, 0, 0, 5]}
        for cycle in range(LATENCY + 4):
            assert cycle > LATENCY + 1 or ctx.get(dut.scratchpad_pending)
            ctx.set(dut.entered, cycle < 2)
            set_row(ctx, dut.sums, [128, -128, -4000, 5])
            assert ctx.get(dut.scratchpad.valid) == (cycle in wanted)
            assert not ctx.get(dut.address.valid)
            if cycle in wanted:
                assert list(ctx.get(dut.scratchpad.p.data)) == wanted[cycle]
                assert ctx.get(dut.scratchpad.p.row) == 5
            await ctx.tick()
        assert not ctx.get(dut.scratchpad_pending)

    simulate(dut, testbench)


def test_a_product_without_rows_is_done_and_leaves_nothing_pending():
    dut = ResultWriter(CONFIG, LATENCY)

    async def testbench(ctx):
        await send(ctx, dut.i, [ROWS | {"to_accumulator": 0, "rows": 0}])
        await ctx.tick().until(dut.done)
        await ctx.tick()
        assert not ctx.get(dut.scratchpad_pending)
        assert ctx.get(dut.empty)

    simulate(dut, testbench)


def test_it_takes_as_many_products_as_it_says():
    dut = ResultWriter(CONFIG, LATENCY)

    async def testbench(ctx):
        await send(ctx, dut.i, [ROWS] * PRODUCTS)
        assert not ctx.get(dut.i.ready)

    simulate(dut, testbench)


def test_of_a_row_for_the_scratchpad_a_reset_sets_only_that_there_is_none():
    """Its place, its mask and its elements are not looked at without one."""
    names = {
        name for name in reset_registers(ResultWriter(CONFIG)) if name.startswith(("s1", "s2"))
    }
    assert names == {"s1_due", "s2_valid"}
