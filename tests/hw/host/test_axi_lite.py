"""`AxiLiteSlave`: every transfer is one access, with its own response, in whatever order."""

import random

import pytest

from celosia.hw.host.axi_lite import RESPONSE_ERROR, AxiLiteSlave
from tests.support.axi_host import AxiHost, lite_pins
from tests.support.registers import reset_registers
from tests.support.streams import simulate


def answer(dut, log):
    """A testbench in the place of the registers: odd words are errors, reads return the word."""

    async def testbench(ctx):
        access = dut.access
        names = ("write", "write_word", "write_data", "write_strobe", "read", "read_word")
        async for _, _, *values in ctx.tick().sample(*(getattr(access, n) for n in names)):
            write, word, written, strobe, read, read_word = values
            if write:
                log.append(("write", word, written, strobe))
                ctx.set(access.write_error, word & 1)
            if read:
                log.append(("read", read_word))
                ctx.set(access.read_error, read_word & 1)
                ctx.set(access.read_data, read_word * 3)

    return testbench


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_every_transfer_is_one_access(stall, seed):
    dut, log, rng = AxiLiteSlave(), [], random.Random(seed)
    pins = lite_pins(dut.port)
    writer = AxiHost(pins, stall=stall, seed=seed, domain="sync")
    reader = AxiHost(pins, stall=stall, seed=seed + 1, domain="sync")
    writes = [(rng.randrange(1024), rng.getrandbits(32), rng.randrange(16)) for _ in range(40)]
    reads = [rng.randrange(1024) for _ in range(40)]

    async def write(ctx):
        for word, value, strobe in writes:
            offset = word * 4 + rng.randrange(4)
            response = await writer.write_word(ctx, offset, value, strobe)
            assert response == (RESPONSE_ERROR if word & 1 else 0)

    async def read(ctx):
        for word in reads:
            response, value = await reader.read_word(ctx, word * 4)
            assert (response, value) == (RESPONSE_ERROR if word & 1 else 0, word * 3)

    simulate(dut, write, read, background=[answer(dut, log)])
    assert [entry[1:] for entry in log if entry[0] == "write"] == writes
    assert [entry[1] for entry in log if entry[0] == "read"] == reads


@pytest.mark.parametrize(("offered", "answered"), [(("aw", "w"), "b"), (("ar",), "r")])
def test_the_response_comes_when_documented_and_waits(offered, answered):
    dut, log = AxiLiteSlave(), []
    port = dut.port

    async def testbench(ctx):
        assert not any(ctx.get(getattr(port, channel).ready) for channel in offered)
        await ctx.tick()
        for channel in offered:
            assert ctx.get(getattr(port, channel).ready)
            ctx.set(getattr(port, channel).valid, 1)
        await ctx.tick()
        for _ in range(dut.LATENCY - 1):
            assert not ctx.get(getattr(port, answered).valid)
            await ctx.tick()
        for _ in range(5):  # The next transfer has been accepted, and waits for this response.
            assert ctx.get(getattr(port, answered).valid)
            await ctx.tick()
            assert len(log) == 1
            assert not any(ctx.get(getattr(port, channel).ready) for channel in offered)
        ctx.set(getattr(port, answered).ready, 1)
        await ctx.tick()
        assert not ctx.get(getattr(port, answered).valid)
        await ctx.tick().repeat(2)
        assert len(log) == 2

    simulate(dut, testbench, background=[answer(dut, log)])


def test_address_and_data_wait_for_each_other():
    dut, log = AxiLiteSlave(), []

    async def testbench(ctx):
        for first, second in (("aw", "w"), ("w", "aw")):
            before = len(log)
            for channel in (first, second):
                assert len(log) == before
                ctx.set(getattr(dut.port, channel).valid, 1)
                await ctx.tick().until(getattr(dut.port, channel).ready)
                ctx.set(getattr(dut.port, channel).valid, 0)
                await ctx.tick().repeat(4)
            assert len(log) == before + 1
            assert ctx.get(dut.port.b.valid)
            ctx.set(dut.port.b.ready, 1)
            await ctx.tick()
            ctx.set(dut.port.b.ready, 0)

    simulate(dut, testbench, background=[answer(dut, log)])


def test_a_reset_sets_what_is_held_not_what_it_is():
    """Nobody looks at the rest before it was written."""
    held = {f"{channel}_{what}" for channel in ("aw", "w", "ar") for what in ("held", "ready")}
    assert {*reset_registers(AxiLiteSlave())} == held | {"port__b__valid", "port__r__valid"}
