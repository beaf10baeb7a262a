"""`RowStreamer`: one row per cycle, D before A, padding, bank conflicts."""

import pytest

from celosia.hw.execute.rows import RowStreamer
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import receive, send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
PRODUCT = {"a_row": 16, "a_rows": 3, "a_cols": 4, "a_stride": 2, "c_rows": 5, "c_accumulator": 1}


async def log(ctx, dut: RowStreamer, cycles: int, ready=lambda cycle: True) -> list[tuple]:
    """Per cycle with anything: the row asked for, whether a row enters, is padding, is D's."""
    events = []
    ctx.set(dut.results.ready, 1)
    for cycle in range(cycles):
        ctx.set(dut.read.ready, ready(cycle))
        control = dut.control
        row = ctx.get(dut.read.row) if ctx.get(dut.read.valid) else None
        assert ctx.get(dut.waits_bank) == (row is not None and not ready(cycle))
        enters, d_valid = ctx.get(control.valid), ctx.get(control.d_valid)
        padding = ctx.get(dut.padding) if enters else 0
        if row is not None or enters or d_valid:
            events.append((row, enters, padding, d_valid))
        await ctx.tick()
    return events


@pytest.mark.parametrize("blocked", [0, 3])
def test_rows_of_a_then_padding(blocked):
    dut = RowStreamer(CONFIG)

    async def producer(ctx):
        await send(ctx, dut.i, [PRODUCT])

    async def watch(ctx):
        events = await log(ctx, dut, 20, lambda cycle: cycle >= 2 + blocked)
        wait = [(16, 0, 0, 0)] * blocked
        rows = [(16, 1, 0, 0), (18, 1, 0, 0), (20, 1, 0, 0)]
        assert events[-5 - blocked :] == wait + rows + [(None, 1, 1, 0)] * 2

    simulate(dut, producer, watch)


def test_with_d_a_row_takes_two_cycles():
    dut = RowStreamer(CONFIG)
    product = PRODUCT | {"d_valid": 1, "d_row": 40, "d_rows": 1, "d_cols": 4, "c_rows": 2}

    async def producer(ctx):
        await send(ctx, dut.i, [product])

    async def watch(ctx):
        events = await log(ctx, dut, 12)
        assert events == [(40, 0, 0, 1), (16, 1, 0, 0), (None, 0, 0, 1), (18, 1, 0, 0)]

    simulate(dut, producer, watch)


def test_a_product_is_held_until_its_weights_have_been_read():
    dut = RowStreamer(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.wave, 1)
        ctx.set(dut.read.ready, 1)
        ctx.set(dut.results.ready, 1)
        await send(ctx, dut.i, [PRODUCT | {"c_rows": 1, "load_weights": 1}])
        for _ in range(5):
            await ctx.tick()
            assert not ctx.get(dut.reads_done)
        assert ctx.get(dut.waits_weights)
        ctx.set(dut.wave, 0)
        await ctx.tick()
        assert ctx.get(dut.reads_done)

    simulate(dut, testbench)


@pytest.mark.parametrize("dataflow", ["ws", "both"])
def test_its_results_are_told_where_they_go(dataflow):
    dut = RowStreamer(CONFIG.with_values({"dataflow": dataflow}))
    fields = {"accumulate": 1, "relu": 1}
    if dataflow == "both":
        fields |= {"resident": 1, "start": 1, "kept": 3, "shift": 9}
    product = PRODUCT | fields | {"c_row": 21, "c_cols": 3, "c_stride": 2}

    async def testbench(ctx):
        (told,) = await receive(ctx, dut.results, 1)
        wanted = {"row": 21, "rows": 5, "stride": 2, "mask": 0b111, "to_accumulator": 1, "add_d": 0}
        for name, value in (fields | wanted).items():
            assert told[name] == value, name

    async def producer(ctx):
        await send(ctx, dut.i, [product])

    simulate(dut, testbench, producer)


@pytest.mark.parametrize("is_unsigned", [0, 1])
def test_elements_outside_of_a_and_rows_behind_it_are_masked(is_unsigned):
    dut, masks = RowStreamer(CONFIG), []

    async def producer(ctx):
        await send(ctx, dut.i, [PRODUCT | {"a_cols": 3, "a_unsigned": is_unsigned}])

    async def watch(ctx):
        ctx.set(dut.results.ready, 1)
        ctx.set(dut.read.ready, 1)
        for _ in range(10):
            if ctx.get(dut.control.valid):
                masks.append(ctx.get(dut.control.mask))
                assert ctx.get(dut.control.is_unsigned) == is_unsigned
            await ctx.tick()

    simulate(dut, producer, watch)
    assert masks == [0b111] * 3 + [0] * 2
