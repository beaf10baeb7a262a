"""`ReadArbiter`: both get what is theirs, at once, and offers stand."""

import random
from collections import deque

import pytest

from celosia.hw.bus.read_arbiter import ReadArbiter
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.map import BusId
from tests.support.streams import receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=64)
COUNT = 60


@pytest.mark.parametrize("seed", range(3))
def test_addresses_and_beats_find_their_way(seed):
    dut, rng = ReadArbiter(CONFIG), random.Random(seed)
    users = {BusId.DATA: dut.load, BusId.RING: dut.ring}
    asked = {user: [rng.getrandbits(64) for _ in range(COUNT)] for user in users}
    waiting = {user: deque() for user in users}
    got = {user: [] for user in users}

    def ask(user):
        async def testbench(ctx):
            payloads = [{"address": address} for address in asked[user]]
            await send(ctx, users[user].ar, payloads, sometimes(seed + user))

        return testbench

    async def accept(ctx):
        pause = sometimes(seed + 2)
        for _ in range(2 * COUNT):
            ctx.set(dut.urgent, rng.randrange(2))
            (offer,) = await receive(ctx, dut.memory.ar, 1, pause)
            waiting[BusId(offer.id)].append(offer.request.address)

    async def answer(ctx):
        for _ in range(2 * COUNT):
            while not any(waiting.values()):
                await ctx.tick()
            user = rng.choice([user for user in users if waiting[user]])
            data = waiting[user].popleft()
            await send(ctx, dut.memory.r, [{"id": user, "beat": {"data": data, "last": 1}}])

    async def take_load(ctx):
        beats = await receive(ctx, dut.load.r, COUNT, sometimes(seed + 3))
        got[BusId.DATA] += [beat.data for beat in beats]
        ctx.set(dut.load.r.ready, 1)

    async def take_ring(ctx):
        while len(got[BusId.RING]) < COUNT:
            _, _, valid, beat = await ctx.tick().sample(dut.ring.r.valid, dut.ring.r.payload)
            if valid:
                got[BusId.RING].append(beat.data)

    testbenches = [ask(user) for user in users]
    simulate(dut, *testbenches, accept, answer, take_load, take_ring)
    assert got == asked


@pytest.mark.parametrize("ring_first", [0, 1])
def test_one_goes_first_but_an_offer_stands(ring_first):
    dut = ReadArbiter(CONFIG)
    first, second = (dut.ring, dut.load) if ring_first else (dut.load, dut.ring)

    async def testbench(ctx):
        ar = dut.memory.ar
        ctx.set(dut.urgent, ring_first)
        ctx.set(second.ar.payload, {"address": 1})
        ctx.set(first.ar.payload, {"address": 2})
        ctx.set(second.ar.valid, 1)
        assert (ctx.get(ar.valid), ctx.get(ar.p.request.address)) == (1, 1)  # At once.
        await ctx.tick()
        ctx.set(first.ar.valid, 1)
        assert ctx.get(ar.p.request.address) == 1
        ctx.set(ar.ready, 1)
        assert (ctx.get(second.ar.ready), ctx.get(first.ar.ready)) == (1, 0)
        await ctx.tick()
        assert ctx.get(ar.p.request.address) == 2
        assert (ctx.get(second.ar.ready), ctx.get(first.ar.ready)) == (0, 1)
        ctx.set(ar.ready, 0)
        await ctx.tick()
        assert ctx.get(ar.p.request.address) == 2
        ctx.set(dut.urgent, 1 - ring_first)  # Not before the offer has been accepted.
        assert ctx.get(ar.p.request.address) == 2
        ctx.set(second.ar.valid, 0)
        assert ctx.get(ar.valid)

    simulate(dut, testbench)


@pytest.mark.parametrize("ready", [0, 1])
def test_what_memory_signals_is_not_seen_in_ready(ready):
    dut = ReadArbiter(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.load.r.ready, ready)
        for identity in BusId:
            for valid in (0, 1):
                ctx.set(dut.memory.r.valid, valid)
                ctx.set(dut.memory.r.p.id, identity)
                assert ctx.get(dut.memory.r.ready) == ready
                assert ctx.get(dut.ring.r.valid) == (ready and valid and identity == BusId.RING)
                assert ctx.get(dut.load.r.valid) == (valid and identity == BusId.DATA)

    simulate(dut, testbench)
