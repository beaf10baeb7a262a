"""`BlockMemory`: bursts and the host's bytes, at the pace that it promises."""

import random

import pytest

from celosia.hw.host.board.block_memory import BlockMemory
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from tests.support.streams import simulate

SIZE = 1024


def memory(preset="tiny"):
    return BlockMemory(resolve_config(preset), SIZE)


async def host_write(ctx, dut, offset, data):
    for place, byte in enumerate(data):
        ctx.set(dut.host.p, {"write": 1, "offset": offset + place, "byte": byte})
        ctx.set(dut.host.valid, 1)
        await ctx.tick()
    ctx.set(dut.host.valid, 0)


async def host_read(ctx, dut, offset, size):
    found = []
    for place in range(size):
        ctx.set(dut.host.p, {"write": 0, "offset": offset + place, "byte": 0})
        ctx.set(dut.host.valid, 1)
        await ctx.tick()
        ctx.set(dut.host.valid, 0)
        await ctx.tick()
        found.append(ctx.get(dut.byte))
    return bytes(found)


async def read_burst(ctx, dut, address, beats, stall=lambda: 0, number=1):
    """The data, the responses, and the cycles after the address was accepted."""
    for name, value in (("addr", address), ("len", beats - 1), ("id", number), ("valid", 1)):
        ctx.set(getattr(dut.axi, f"m_axi_ar{name}"), value)
    await ctx.tick().until(dut.axi.m_axi_arready)
    ctx.set(dut.axi.m_axi_arvalid, 0)
    found, cycle = [], 1
    while len(found) < beats:
        ready = not stall()
        ctx.set(dut.axi.m_axi_rready, ready)
        names = ("rvalid", "rdata", "rresp", "rlast", "rid")
        _, _, valid, data, response, last, identity = await ctx.tick().sample(
            *(getattr(dut.axi, f"m_axi_{name}") for name in names)
        )
        if valid and ready:
            assert identity == number
            assert last == (len(found) == beats - 1)
            found.append((data, response, cycle))
        cycle += 1
    ctx.set(dut.axi.m_axi_rready, 0)
    return found


async def write_burst(ctx, dut, address, words, strobe, number=0):
    """The response, and how many cycles after the address was accepted it came."""
    for name, value in (("addr", address), ("len", len(words) - 1), ("id", number), ("valid", 1)):
        ctx.set(getattr(dut.axi, f"m_axi_aw{name}"), value)
    await ctx.tick().until(dut.axi.m_axi_awready)
    ctx.set(dut.axi.m_axi_awvalid, 0)
    cycle = 1
    for index, word in enumerate(words):
        ctx.set(dut.axi.m_axi_wdata, word)
        ctx.set(dut.axi.m_axi_wstrb, strobe)
        ctx.set(dut.axi.m_axi_wlast, index == len(words) - 1)
        ctx.set(dut.axi.m_axi_wvalid, 1)
        taken = False
        while not taken:
            *_, taken = await ctx.tick().sample(dut.axi.m_axi_wready)
            cycle += 1
    ctx.set(dut.axi.m_axi_wvalid, 0)
    ctx.set(dut.axi.m_axi_bready, 1)
    response, identity = (
        await ctx.tick().sample(dut.axi.m_axi_bresp, dut.axi.m_axi_bid).until(dut.axi.m_axi_bvalid)
    )
    ctx.set(dut.axi.m_axi_bready, 0)
    assert identity == number
    return response, cycle


@pytest.mark.parametrize("preset", ["tiny", "small"])
@pytest.mark.parametrize("seed", range(2))
def test_what_both_sides_write_both_sides_read(preset, seed):
    dut, rng = memory(preset), random.Random(seed)
    lanes, model = dut.config.bus_bytes, bytearray(SIZE)

    async def testbench(ctx):
        for _ in range(25):
            beats = rng.randrange(1, 9)
            row = rng.randrange(SIZE // lanes - beats)
            strobe = rng.getrandbits(lanes)
            words = [rng.getrandbits(8 * lanes) for _ in range(beats)]
            address = MEMORY_BASE + row * lanes
            assert (await write_burst(ctx, dut, address, words, strobe))[0] == 0
            for index, word in enumerate(words):
                for lane in range(lanes):
                    if strobe >> lane & 1:
                        model[(row + index) * lanes + lane] = word >> 8 * lane & 0xFF
            place, data = rng.randrange(SIZE - 9), rng.randbytes(9)
            await host_write(ctx, dut, place, data)
            model[place : place + 9] = data
            found = await read_burst(ctx, dut, address, beats, lambda: rng.randrange(2))
            expected = model[row * lanes : (row + beats) * lanes]
            got = b"".join(word.to_bytes(lanes, "little") for word, *_ in found)
            assert got == expected
            assert await host_read(ctx, dut, place - place % 4, 8) == bytes(
                model[place - place % 4 :][:8]
            )

    simulate(dut, testbench, deadline=20_000)


def test_the_pace_of_bursts():
    dut = memory()

    async def testbench(ctx):
        found = await read_burst(ctx, dut, MEMORY_BASE, 8)
        assert [cycle for *_, cycle in found] == list(range(dut.LATENCY, dut.LATENCY + 8))
        assert (await write_burst(ctx, dut, MEMORY_BASE, [1] * 8, 0xF))[1] == 9

    simulate(dut, testbench)


def test_addresses_without_memory_are_answered_and_nothing_is_written():
    dut = memory()

    async def testbench(ctx):
        await host_write(ctx, dut, 0, b"abcd")
        for address in (MEMORY_BASE + SIZE, MEMORY_BASE - 8, MEMORY_BASE + (1 << 40)):
            assert (await write_burst(ctx, dut, address, [0, 0], 0xF))[0] == 3
            assert [response for _, response, _ in await read_burst(ctx, dut, address, 2)] == [3, 3]
        assert await host_read(ctx, dut, 0, 4) == b"abcd"
        await write_burst(ctx, dut, MEMORY_BASE, [0x41424344], 0xF)
        assert await host_read(ctx, dut, 0, 4) == b"DCBA"

    simulate(dut, testbench)


def test_a_read_that_nobody_takes_does_not_keep_the_host_out():
    dut = memory()

    async def testbench(ctx):
        ctx.set(dut.axi.m_axi_araddr, MEMORY_BASE)
        ctx.set(dut.axi.m_axi_arlen, 15)
        ctx.set(dut.axi.m_axi_arvalid, 1)
        await ctx.tick().repeat(40)
        ctx.set(dut.axi.m_axi_arvalid, 0)
        await host_write(ctx, dut, 6, b"x")
        assert await host_read(ctx, dut, 6, 1) == b"x"

    simulate(dut, testbench)
