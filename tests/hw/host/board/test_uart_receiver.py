"""`UartReceiver`: bytes off a line, whose sender's clock is not quite ours."""

import pytest

from celosia.hw.host.board.uart_receiver import UartReceiver
from tests.support.streams import simulate
from tests.support.uart_line import line_levels, put_bytes

BYTES = [0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80, 0xC0]


def received(dut, sender, cycles=0):
    """The bytes that come, and the cycles in which they do."""
    found = []

    async def watch(ctx):
        cycle = 0
        async for _, _, valid, byte in ctx.tick().sample(dut.o.valid, dut.o.payload):
            if valid:
                found.append((cycle, byte))
            cycle += 1

    async def send(ctx):
        await sender(ctx)
        await ctx.tick().repeat(20 * dut.divisor + cycles)

    simulate(dut, send, background=[watch])
    return found


@pytest.mark.parametrize(("divisor", "theirs"), [(8, 8), (20, 20), (40, 39), (40, 41), (9, 9)])
def test_bytes_come_one_behind_the_other(divisor, theirs):
    dut = UartReceiver(divisor)
    found = received(dut, lambda ctx: put_bytes(ctx, dut.rx, BYTES, theirs))
    assert [byte for _, byte in found] == BYTES


def test_a_byte_is_on_offer_when_documented():
    divisor = 8
    dut = UartReceiver(divisor)
    [(cycle, _)] = received(dut, lambda ctx: put_bytes(ctx, dut.rx, [0x37], divisor))
    middle_of_stop = 9 * divisor + divisor // 2
    assert cycle == middle_of_stop + UartReceiver.LATENCY


def test_a_byte_without_a_stop_bit_and_a_spike_are_dropped():
    dut = UartReceiver(8)

    async def sender(ctx):
        for levels in ([0, 1, 1, 1], [0] * 0):
            for level in levels:
                ctx.set(dut.rx, level)
                await ctx.tick()
        await ctx.tick().repeat(30)
        for level in (*line_levels(0x55, stop=0), 1, 1, 1):
            ctx.set(dut.rx, level)
            await ctx.tick().repeat(8)
        await put_bytes(ctx, dut.rx, [0x66], 8)

    assert [byte for _, byte in received(dut, sender)] == [0x66]


def test_a_bit_that_is_too_short():
    with pytest.raises(ValueError, match="divisor: 3 is below 4"):
        UartReceiver(3)
