"""`BoardTop`, from bits on its line to registers and memory and back."""

from typing import Any

import pytest
from amaranth import ClockDomain, Module
from amaranth.sim import Simulator

from celosia.hw.host.board.setup import BoardSetup
from celosia.hw.host.board.top import BoardTop
from celosia.isa.presets import PRESETS
from celosia.isa.registers.map import IDENTITY, REGISTERS
from celosia.isa.registers.serial import Greeting, Request, Result, Unframer, Verb, framed
from celosia.isa.registers.serial import Reply as LinkReply
from tests.support.uart_line import line_levels

SETUP = BoardSetup(clock_hz=8_000_000, baud=1_000_000, memory_bytes=4096)
BUDGET = REGISTERS["CYCLE_BUDGET_LO"].offset


async def pause(ctx, cycles):
    for _ in range(cycles):
        await ctx.tick("bench")


def asked(requests):
    """The replies of a board to `requests`, one after the other."""
    m, top = Module(), BoardTop(PRESETS["tiny"], SETUP)
    m.submodules.top = top
    domain: Any = ClockDomain("bench", reset_less=True)
    domain.clk = top.clk
    m.domains += domain
    divisor, heard, replies = SETUP.divisor, [], []

    async def listen(ctx):
        while True:
            await ctx.tick("bench")
            if ctx.get(top.tx):
                continue
            await pause(ctx, divisor // 2)
            byte = 0
            for bit in range(8):
                await pause(ctx, divisor)
                byte |= ctx.get(top.tx) << bit
            await pause(ctx, divisor)
            assert ctx.get(top.tx)
            heard.append(byte)

    async def host(ctx):
        ctx.set(top.rst, 1)
        await pause(ctx, 4)
        ctx.set(top.rst, 0)
        for request in requests:
            for byte in framed(request.packed()):
                for level in line_levels(byte):
                    ctx.set(top.rx, level)
                    await pause(ctx, divisor)
            bodies = []
            for _ in range(10_000):
                await pause(ctx, 1)
                if bodies := list(Unframer().feed(bytes(heard))):
                    break
            replies.append(LinkReply.unpacked(bodies[0]))
            heard.clear()

    simulator = Simulator(m)
    simulator.add_clock(1e-6, domain="bench")
    simulator.add_testbench(listen, background=True)
    simulator.add_testbench(host)
    simulator.run()
    return replies


@pytest.mark.nightly
def test_requests_reach_memory_and_registers():
    word = b"\x01\x02\x03\xc0"
    replies = asked([
        Request(Verb.HELLO, 1),
        Request(Verb.READ_REGISTER, 2, REGISTERS["IDENTITY"].offset, 4),
        Request(Verb.WRITE, 3, 5, 4, b"\xc0\xdb\xdc!"),
        Request(Verb.READ, 4, 4, 6),
        Request(Verb.WRITE_REGISTER, 5, BUDGET, 4, word),
        Request(Verb.READ_REGISTER, 6, BUDGET, 4),
        Request(Verb.RESET, 7),
        Request(Verb.READ_REGISTER, 8, BUDGET, 4),
        Request(Verb.WRITE_REGISTER, 9, REGISTERS["IDENTITY"].offset, 4, word),
        Request(Verb.READ, 10, 5, 4),
    ])
    assert [reply.sequence for reply in replies] == list(range(1, 11))
    assert Greeting.unpacked(replies[0].payload) == SETUP.greeting
    assert replies[1].payload == IDENTITY.to_bytes(4, "little")
    assert replies[3].payload == b"\0\xc0\xdb\xdc!\0"
    assert replies[5].payload == word
    assert replies[7].payload == bytes(4)
    assert replies[8].result is Result.REFUSED
    assert replies[9].payload == b"\xc0\xdb\xdc!"
