"""`RequestReader`: sound requests are offered, all else is passed over."""

import random

import pytest

from celosia.hw.host.board.request_reader import RequestReader
from celosia.isa.registers.serial import END, ESCAPE, MOST_PAYLOAD, Request, Verb, framed
from tests.support.streams import simulate


async def put(ctx, dut, data):
    ctx.set(dut.i.valid, 1)
    for byte in data:
        ctx.set(dut.i.payload, byte)
        await ctx.tick()
    ctx.set(dut.i.valid, 0)


def offered(wire, *, requests):
    """The requests that are offered in `wire`, each accepted when it comes."""
    dut, found = RequestReader(), []

    async def host(ctx):
        for part in wire:
            await put(ctx, dut, part)
            if ctx.get(dut.head.valid):
                head = ctx.get(dut.head.p)
                payload = []
                for index in range(head.length):
                    ctx.set(dut.index, index)
                    await ctx.tick()
                    payload.append(ctx.get(dut.payload))
                found.append(
                    Request(Verb(head.verb), head.sequence, head.offset, head.count, bytes(payload))
                )
                ctx.set(dut.head.ready, 1)
                await ctx.tick()
                ctx.set(dut.head.ready, 0)

    simulate(dut, host, deadline=100_000)
    assert found == requests


def some_requests(seed, sizes=(0, 1, 4, 300)):
    rng = random.Random(seed)
    payloads = [
        bytes(rng.choice((END, ESCAPE, rng.randrange(256))) for _ in range(size)) for size in sizes
    ]
    return [
        Request(Verb.WRITE, rng.randrange(256), rng.getrandbits(32), len(payload), payload)
        for payload in payloads
    ]


@pytest.mark.parametrize("seed", range(2))
def test_requests_are_offered_a_cycle_after_their_end(seed):
    """`offered` looks in that very cycle."""
    assert RequestReader.LATENCY == 1
    requests = some_requests(seed)
    offered([framed(request.packed()) for request in requests], requests=requests)


def test_the_longest_payload():
    requests = some_requests(3, (MOST_PAYLOAD,))
    offered([framed(request.packed()) for request in requests], requests=requests)


def test_what_is_no_request_is_passed_over():
    rng = random.Random(5)
    good = Request(Verb.HELLO, 1)
    short, long = framed(b"short"), framed(bytes(8 + MOST_PAYLOAD + 1))
    garbled = bytearray(framed(Request(Verb.HELLO, 2).packed()))
    garbled[3] ^= 1
    noise = [rng.randbytes(30), short, long, bytes(garbled), bytes((END, END, ESCAPE, END))]
    wire = [part for each in noise for part in (each, framed(good.packed()))]
    offered(wire, requests=[good] * len(noise))


def test_bytes_that_come_while_a_request_is_on_offer_are_lost_up_to_the_next_end():
    dut, first = RequestReader(), Request(Verb.WRITE, 1, 2, 2, b"ab")
    second = Request(Verb.HELLO, 9)

    async def host(ctx):
        await put(ctx, dut, framed(first.packed()))
        assert ctx.get(dut.head.valid)
        await put(ctx, dut, framed(second.packed())[:6])
        assert ctx.get(dut.head.p.sequence) == 1
        ctx.set(dut.index, 1)
        await ctx.tick()
        assert ctx.get(dut.payload) == ord("b")
        ctx.set(dut.head.ready, 1)
        await ctx.tick()
        ctx.set(dut.head.ready, 0)
        await put(ctx, dut, framed(second.packed())[6:])
        assert not ctx.get(dut.head.valid)
        await put(ctx, dut, framed(second.packed()))
        assert ctx.get(dut.head.valid)
        assert ctx.get(dut.head.p.sequence) == 9

    simulate(dut, host)
