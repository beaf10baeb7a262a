"""`UartTransmitter`: every level of the line, and how long it stands."""

import pytest

from celosia.hw.host.board.uart_transmitter import UartTransmitter
from tests.support.streams import never, send, simulate, sometimes
from tests.support.uart_line import line_levels

BYTES = [0x00, 0xFF, 0x55, 0xC3]


@pytest.mark.parametrize("divisor", [4, 9])
def test_bytes_follow_each_other_without_a_gap(divisor):
    dut, levels = UartTransmitter(divisor), []

    async def watch(ctx):
        async for _, _, tx in ctx.tick().sample(dut.tx):
            levels.append(tx)

    async def producer(ctx):
        await send(ctx, dut.i, BYTES, never)
        await ctx.tick().repeat(12 * divisor)

    simulate(dut, producer, background=[watch])
    expected = [level for byte in BYTES for level in line_levels(byte) for _ in range(divisor)]
    # The first byte is accepted in cycle 0.
    begin = UartTransmitter.LATENCY
    assert levels[:begin] == [1] * begin
    assert levels[begin : begin + len(expected)] == expected
    assert set(levels[begin + len(expected) :]) == {1}


@pytest.mark.parametrize("seed", range(3))
def test_with_gaps_each_byte_is_whole(seed):
    dut, divisor, found = UartTransmitter(4), 4, []

    async def watch(ctx):
        while True:
            *_, tx = await ctx.tick().sample(dut.tx)
            if tx == 0:
                levels = []
                for _ in range(10 * divisor - 1):
                    *_, level = await ctx.tick().sample(dut.tx)
                    levels.append(level)
                found.append([0, *levels][divisor // 2 :: divisor])

    async def producer(ctx):
        await send(ctx, dut.i, BYTES, sometimes(seed))
        await ctx.tick().repeat(12 * divisor)

    simulate(dut, producer, background=[watch])
    assert found == [line_levels(byte) for byte in BYTES]


def test_a_bit_that_is_too_short():
    with pytest.raises(ValueError, match="divisor: 3 is below 4"):
        UartTransmitter(3)
