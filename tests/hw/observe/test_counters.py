"""`Counters`: every event is counted once, under its own name."""

import random

from amaranth import Module, ResetInserter, Signal

from celosia.hw.observe.counters import Counters, OwnerCounters
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import COUNTERS, TABLES
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)


def test_random_events_are_all_counted():
    dut, rng = Counters(CONFIG), random.Random(0)
    wanted = {counter.name: 0 for counter in COUNTERS}

    async def testbench(ctx):
        for _ in range(300):
            owners = {table.name: rng.randrange(len(table.owners)) for table in TABLES}
            event = {
                "busy": rng.random() < 0.8,
                **owners,
                "command": rng.random() < 0.5,
                "read_bytes": rng.choice([0, 0, rng.randint(1, 128)]),
                "write_bytes": rng.choice([0, 0, rng.randint(1, 128)]),
                "read_beat": rng.random() < 0.5,
                "write_beat": rng.random() < 0.5,
            }
            ctx.set(dut.events, event)
            await ctx.tick()
            wanted["cycles"] += event["busy"]
            for table in TABLES:
                wanted[table.owners[owners[table.name]].name] += event["busy"]
            wanted["commands"] += event["command"]
            wanted["read_beats"] += event["read_beat"]
            wanted["write_beats"] += event["write_beat"]
            wanted["read_bytes"] += event["read_bytes"]
            wanted["write_bytes"] += event["write_bytes"]
        ctx.set(dut.events, {})
        await ctx.tick()
        await ctx.tick().repeat(Counters.LATENCY - 1)
        got = {}
        for number, counter in enumerate(COUNTERS):
            ctx.set(dut.number, number)
            ctx.set(dut.read, 1)
            await ctx.tick()
            ctx.set(dut.read, 0)
            got[counter.name] = ctx.get(dut.value)
            await ctx.tick()
            assert ctx.get(dut.value) == got[counter.name]
        assert got == wanted
        for table in TABLES:
            assert sum(got[owner.name] for owner in table.owners) == got["cycles"]

    simulate(dut, testbench)


def test_a_long_run_of_one_owner_is_counted_and_a_reset_forgets_it():
    dut, clear = OwnerCounters(), Signal()
    m = Module()
    m.submodules.dut = ResetInserter(clear)(dut)

    async def testbench(ctx):
        ctx.set(dut.owner, 2)
        for cycles in (700, 5):
            ctx.set(dut.busy, 1)
            await ctx.tick().repeat(cycles)
            ctx.set(dut.busy, 0)
            await ctx.tick().repeat(2)
            ctx.set(dut.number, 2)
            ctx.set(dut.read, 1)
            await ctx.tick()
            ctx.set(dut.read, 0)
            assert ctx.get(dut.value) == cycles
            ctx.set(clear, 1)
            await ctx.tick()
            ctx.set(clear, 0)

    simulate(m, testbench)
