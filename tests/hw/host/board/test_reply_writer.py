"""`ReplyWriter`: frames, byte by byte, as `framed` writes them."""

import random

import pytest

from celosia.hw.host.board.reply_writer import ReplyWriter
from celosia.isa.registers.serial import END, ESCAPE, Reply, Result, framed
from tests.support.streams import never, receive, send, simulate, sometimes

REPLIES = [
    b"\x01\x00",
    bytes((END, ESCAPE, END, 3)),
    *(random.Random(seed).randbytes(60) for seed in range(4)),
]


def payloads(body):
    return [{"byte": byte, "last": index == len(body) - 1} for index, byte in enumerate(body)]


@pytest.mark.parametrize("stalls", [(never, never), (sometimes(1), sometimes(2))])
def test_replies_are_framed(stalls):
    dut = ReplyWriter()
    expected = b"".join(map(framed, REPLIES))
    found = []

    async def producer(ctx):
        await send(ctx, dut.i, [each for body in REPLIES for each in payloads(body)], stalls[0])

    async def consumer(ctx):
        found.extend(await receive(ctx, dut.o, len(expected), stalls[1]))

    simulate(dut, producer, consumer)
    assert bytes(found) == expected


def test_a_byte_goes_in_every_cycle():
    dut, body = ReplyWriter(), bytes(range(1, 40))
    cycles = []

    async def producer(ctx):
        await send(ctx, dut.i, payloads(body))

    async def consumer(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(60):
            if ctx.get(dut.o.valid):
                cycles.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert cycles == list(range(len(framed(body))))
    assert Reply.unpacked(body[:1] + b"\0").result is Result.DONE
