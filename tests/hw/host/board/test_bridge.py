"""`Bridge`: each request does what it says, once, and its reply says how it went."""

from itertools import pairwise

import pytest

from celosia.hw.host.board.bridge import MEMORY_LATENCY, RESET_CYCLES, Bridge
from celosia.hw.host.board.setup import BoardSetup
from celosia.isa.registers.serial import MOST_PAYLOAD, Greeting, Reply, Request, Result, Verb
from tests.support.streams import simulate

SETUP = BoardSetup(clock_hz=8_000_000, baud=1_000_000, memory_bytes=4096)


class Around:
    """What is around a bridge: a reader, a writer, a memory, registers that refuse odd words."""

    def __init__(self):
        self.dut = Bridge(SETUP)
        self.memory = bytearray(SETUP.memory_bytes)
        self.registers: list[tuple] = []
        self.resets = 0
        self.payload = b""

    async def run(self, ctx):
        dut = self.dut
        ctx.set(dut.reply.ready, 1)
        names = (dut.memory.valid, dut.memory.p, dut.access.valid, dut.access.p, dut.reset)
        pending, answered = [], False
        async for _, _, valid, access, asks, register, reset, index in ctx.tick().sample(
            *names, dut.index
        ):
            ctx.set(dut.payload, self.payload[index] if index < len(self.payload) else 0)
            pending = [(left - 1, byte) for left, byte in pending if left]
            if valid and access.write:
                self.memory[access.offset] = access.byte
            elif valid:
                pending.append((MEMORY_LATENCY - 1, self.memory[access.offset]))
            for left, byte in pending:
                if left == 0:
                    ctx.set(dut.byte, byte)
            self.resets += reset
            if asks and not answered:
                self.registers.append((
                    register.write,
                    register.address,
                    register.data if register.write else None,
                ))
                ctx.set(dut.refused, register.address >> 2 & 1)
                ctx.set(dut.data, register.address * 0x01010101)
            answered = bool(asks and not answered)
            ctx.set(dut.access.ready, answered)

    async def ask(self, ctx, request, length=None):
        """The reply, and the cycles until its first byte and between the others."""
        dut, found, cycles = self.dut, [], []
        self.payload = request.payload
        ctx.set(
            dut.head.p,
            {
                "verb": int(request.verb),
                "sequence": request.sequence,
                "offset": request.offset,
                "count": request.count,
                "length": len(request.payload) if length is None else length,
            },
        )
        ctx.set(dut.head.valid, 1)
        cycle = accepted = 0
        while not accepted:
            _, _, valid, reply, accepted = await ctx.tick().sample(
                dut.reply.valid, dut.reply.p, dut.head.ready
            )
            if valid:
                found.append(reply.byte)
                cycles.append(cycle)
                assert reply.last == accepted
            cycle += 1
        ctx.set(dut.head.valid, 0)
        await ctx.tick().repeat(2)
        return Reply.unpacked(bytes(found)), cycles


def with_bridge(testbench):
    around = Around()

    async def host(ctx):
        await testbench(ctx, around)

    simulate(around.dut, host, background=[around.run])
    return around


def test_memory():
    async def testbench(ctx, around):
        reply, _ = await around.ask(ctx, Request(Verb.WRITE, 9, 4091, 5, b"hello"))
        assert reply == Reply(9, Result.DONE, False)
        reply, cycles = await around.ask(ctx, Request(Verb.READ, 10, 4090, 6))
        assert reply.payload == b"\0hello"
        assert cycles[0] == Bridge.LATENCY - 1
        assert {after - before for before, after in pairwise(cycles[2:])} == {3}

    assert with_bridge(testbench).memory.count(0) == 4091


@pytest.mark.parametrize(
    ("request_", "result"),
    [
        (Request(Verb.READ, 1, 4095, 2), Result.OUTSIDE),
        (Request(Verb.READ, 1, 0xFFFF_FFFF, 2), Result.OUTSIDE),
        (Request(Verb.WRITE, 1, 4096, 1, b"x"), Result.OUTSIDE),
        (Request(Verb.READ, 1, 0, 0), Result.UNKNOWN),
        (Request(Verb.READ, 1, 0, MOST_PAYLOAD + 1), Result.UNKNOWN),
        (Request(Verb.WRITE, 1, 0, 2, b"x"), Result.UNKNOWN),
        (Request(Verb.WRITE_REGISTER, 1, 0, 4, b"xyz"), Result.UNKNOWN),
        (Request(Verb.READ_REGISTER, 1, 0, 2), Result.UNKNOWN),
        (Request(Verb.HELLO, 1, 0, 0, b"x"), Result.UNKNOWN),
        (Request(6, 1), Result.UNKNOWN),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_refused_does_nothing(request_, result):
    async def testbench(ctx, around):
        reply, _ = await around.ask(ctx, request_)
        assert reply == Reply(1, result, False)

    around = with_bridge(testbench)
    assert not any(around.memory)
    assert not around.registers


def test_registers_and_a_write_that_comes_again():
    async def testbench(ctx, around):
        write = Request(Verb.WRITE_REGISTER, 5, 0x48, 4, b"\1\2\3\4")
        refused = Request(Verb.WRITE_REGISTER, 6, 0x44, 4, b"\1\2\3\4")
        for request, result in ((write, Result.DONE), (refused, Result.REFUSED)):
            for _ in range(2):
                assert (await around.ask(ctx, request))[0].result is result
        reply, _ = await around.ask(ctx, Request(Verb.READ_REGISTER, 7, 0x10, 4))
        assert reply.payload == b"\x10\x10\x10\x10"
        reply, _ = await around.ask(ctx, Request(Verb.READ_REGISTER, 8, 0x14, 4))
        assert reply == Reply(8, Result.REFUSED, False)
        # Another request came between: this is a new one with an old number.
        await around.ask(ctx, write)

    written = (1, 0x48, 0x04030201)
    expected = [written, (1, 0x44, 0x04030201), (0, 0x10, None), (0, 0x14, None), written]
    assert with_bridge(testbench).registers == expected


def test_the_greeting_the_interrupt_and_a_reset():
    async def testbench(ctx, around):
        ctx.set(around.dut.interrupt, 1)
        reply, _ = await around.ask(ctx, Request(Verb.HELLO, 255))
        assert reply.interrupt
        assert reply.sequence == 255
        assert Greeting.unpacked(reply.payload) == SETUP.greeting
        ctx.set(around.dut.interrupt, 0)
        reply, _ = await around.ask(ctx, Request(Verb.RESET, 0))
        assert reply == Reply(0, Result.DONE, False)

    assert with_bridge(testbench).resets == RESET_CYCLES
