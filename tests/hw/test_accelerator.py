"""`Accelerator`: the first error stops it, cleanly, and is kept."""

from collections import Counter

import pytest

from celosia.hw.accelerator import Accelerator
from celosia.hw.lib.layouts import Completed
from celosia.hw.observe.counters import owner_number
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_ST,
    CONFIG_TOKEN,
    FENCE,
    FLUSH,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    REPEAT,
    Command,
)
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import TABLES
from tests.support.reused_simulator import shared_design
from tests.support.streams import send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=32)


@pytest.mark.parametrize(
    ("commands", "cause", "tag"),
    [
        ([FLUSH.encode(), Command(99)], Cause.UNKNOWN_FUNCT, 1),
        ([MVIN.encode(dram=64, local=250, local_cols=4, local_rows=16)], Cause.LOCAL_RANGE, 0),
        ([FLUSH.encode(), MVIN_PARAM.encode(dram=0x1000, count=4)], Cause.READ_LIMIT, 1),
    ],
)
def test_an_error_halts_and_is_kept(commands, cause, tag):
    dut = shared_design(Accelerator, CONFIG)

    async def testbench(ctx):
        ctx.set(dut.read_limits, {"base": 0, "limit": 0xFFF})
        ctx.set(dut.read_port.ar.ready, 1)
        await send(ctx, dut.commands, [command._asdict() for command in commands])
        for _ in range(30):
            assert not ctx.get(dut.read_port.ar.valid)
            await ctx.tick()
        assert ctx.get(dut.error.cause) == cause
        assert ctx.get(dut.error.tag) == tag
        assert not ctx.get(dut.busy)
        assert not ctx.get(dut.commands.ready)

    simulate(dut, testbench)


def test_busy_covers_a_command_from_its_acceptance():
    dut = shared_design(Accelerator, CONFIG)

    async def testbench(ctx):
        assert not ctx.get(dut.busy)
        await send(ctx, dut.commands, [FLUSH.encode()._asdict()])
        assert ctx.get(dut.busy)
        await ctx.tick().repeat(4)
        assert not ctx.get(dut.busy)

    simulate(dut, testbench)


def test_what_ends_is_told_once_per_command():
    dut, ended = shared_design(Accelerator, CONFIG), []
    program = [FLUSH, MVIN, FENCE, CONFIG_ST, FENCE]

    async def count(ctx):
        async for _, _, completed, command in ctx.tick().sample(dut.completed, dut.events.command):
            ended.extend(name for name, _ in Completed() if completed[name])
            ended.extend(["command"] * command)

    async def testbench(ctx):
        await send(ctx, dut.commands, [command.encode()._asdict() for command in program])
        await ctx.tick().until(~dut.busy)
        await ctx.tick().repeat(2)

    simulate(dut, testbench, background=[count])
    # A load of no rows leaves nothing, too.
    assert sorted(ended) == ["command"] * 5 + ["fence"] * 2 + ["nothing"] * 3


def test_an_error_elsewhere_halts_and_gets_the_number_of_the_next_command():
    dut = shared_design(Accelerator, CONFIG)
    fault = {"valid": 1, "cause": Cause.WATCHDOG, "address": 5, "id": 1}

    async def testbench(ctx):
        await send(ctx, dut.commands, [FLUSH.encode()._asdict()] * 3)
        ctx.set(dut.fault, fault)
        await ctx.tick()
        ctx.set(dut.fault, fault | {"cause": Cause.CYCLE_BUDGET})
        await ctx.tick()
        assert {name: ctx.get(dut.error[name]) for name in fault} == fault
        assert ctx.get(dut.error.tag) == 3
        assert not ctx.get(dut.commands.ready)
        assert not ctx.get(dut.busy)

    simulate(dut, testbench)


def test_what_is_queued_when_an_error_comes_never_starts():
    dut, products, ended = shared_design(Accelerator, CONFIG), 6, Counter()
    tile = {"b_cols": 4, "b_rows": 4, "c": 1 << 31, "c_cols": 4, "c_rows": 16}
    product = COMPUTE_PRELOADED.encode(a=0, a_cols=4, a_rows=16)
    program = [PRELOAD.encode(b=4, **tile), *[product] * products]

    async def watch(ctx):
        async for *_, completed in ctx.tick().sample(dut.completed):
            ended["execute"] += completed.execute

    async def testbench(ctx):
        await send(ctx, dut.commands, [command._asdict() for command in program])
        await ctx.tick().until(dut.completed.execute)
        ctx.set(dut.fault, {"valid": 1, "cause": Cause.WATCHDOG})
        await ctx.tick()
        ctx.set(dut.fault, {"valid": 0})
        await ctx.tick().repeat(32 * products)
        assert not ctx.get(dut.busy)

    simulate(dut, testbench, background=[watch])
    assert 1 <= ended["execute"] < products


def accept_all(ctx, dut) -> None:
    """Let memory accept all addresses and data at once."""
    for limits in (dut.read_limits, dut.write_limits):
        ctx.set(limits, {"base": 0, "limit": 0xFFFF})
    for ready in (dut.read_port.ar.ready, dut.write_port.aw.ready, dut.write_port.w.ready):
        ctx.set(ready, 1)


@pytest.mark.parametrize("loads", [True, False], ids=["load", "store"])
def test_it_is_busy_until_an_error_is_there(loads):
    dut = shared_design(Accelerator, CONFIG)
    move = {"dram": 0x1000, "local": 0, "local_cols": 4, "local_rows": 1}
    read, write = dut.read_port, dut.write_port
    quiet: list[int] = []

    async def watch(ctx):
        begun = False
        async for *_, busy, cause in ctx.tick().sample(dut.busy, dut.error.cause):
            if begun and not busy:
                quiet.append(cause)
            begun |= bool(busy)

    async def testbench(ctx):
        accept_all(ctx, dut)
        command = (MVIN if loads else MVOUT).encode(**move)
        await send(ctx, dut.commands, [command._asdict()])
        await ctx.tick().repeat(40)
        response = read.r if loads else write.b
        ctx.set(response.p.response, 2)
        if loads:
            ctx.set(read.r.p.last, 1)
        ctx.set(response.valid, 1)
        await ctx.tick().until(response.ready)
        ctx.set(response.valid, 0)
        await ctx.tick().repeat(20)

    simulate(dut, testbench, background=[watch])
    assert set(quiet) == {Cause.READ_RESPONSE if loads else Cause.WRITE_RESPONSE}


@pytest.mark.parametrize("loads", [True, False], ids=["load", "store"])
def test_a_fence_behind_what_fails_never_passes(loads):
    dut = shared_design(Accelerator, CONFIG)
    move = {"dram": 0x1000, "local": 0, "local_cols": 4, "local_rows": 1}
    program = [(MVIN if loads else MVOUT).encode(**move), FENCE.encode()]
    response = dut.read_port.r if loads else dut.write_port.b
    passed: list[int] = []

    async def watch(ctx):
        async for *_, fence in ctx.tick().sample(dut.completed.fence):
            passed.append(fence)

    async def testbench(ctx):
        accept_all(ctx, dut)
        await send(ctx, dut.commands, [command._asdict() for command in program])
        await ctx.tick().repeat(40)
        ctx.set(response.p.response, 2)
        if loads:
            ctx.set(response.p.last, 1)
        ctx.set(response.valid, 1)
        await ctx.tick().until(response.ready)
        ctx.set(response.valid, 0)
        await ctx.tick().repeat(20)
        assert ctx.get(dut.error.cause) != Cause.NONE

    simulate(dut, testbench, background=[watch])
    assert not any(passed)


def test_of_two_errors_the_first_one_is_kept():
    """The units stop at the first one, a little later: whatever is between the two."""
    move = {"dram": 0x1000, "local_cols": 4, "local_rows": 1}
    program = [MVOUT.encode(local=0, **move), MVIN.encode(local=8, **move)]

    def told(pause: int) -> list[int]:
        """Causes, with bad responses: to the load `pause` cycles behind that to the store."""
        dut, causes = shared_design(Accelerator, CONFIG), [int(Cause.NONE)]
        read, write = dut.read_port, dut.write_port

        async def watch(ctx):
            async for *_, cause in ctx.tick().sample(dut.error.cause):
                if cause != causes[-1]:
                    causes.append(cause)

        async def testbench(ctx):
            accept_all(ctx, dut)
            await send(ctx, dut.commands, [command._asdict() for command in program])
            await ctx.tick().repeat(40)
            ctx.set(read.r.p, {"response": 2, "last": 1})
            ctx.set(write.b.p, {"response": 3})
            for cycle in range(40):
                ctx.set(read.r.valid, cycle == 15 + pause)
                ctx.set(write.b.valid, cycle == 15)
                await ctx.tick()
            assert not ctx.get(dut.busy)

        simulate(dut, testbench, background=[watch])
        return causes

    found = [told(pause) for pause in range(-6, -1)]
    reading, writing = (
        [Cause.NONE, cause] for cause in (Cause.READ_RESPONSE, Cause.WRITE_RESPONSE)
    )
    assert found[0] == reading
    assert found[-1] == writing
    assert all(causes in (reading, writing) for causes in found)


def test_it_is_busy_to_the_end_and_whose_the_cycles_are():
    dut, ends, sums = shared_design(Accelerator, CONFIG), [], Counter()
    owners: dict[str, set[str]] = {table.name: set() for table in TABLES}
    row = {"local_cols": 4, "local_rows": 1}
    tile = {"b_cols": 4, "b_rows": 4, "c": 8, "c_cols": 4, "c_rows": 1}
    parts = [
        [MVIN.encode(dram=0x1000, local=0, **row)],
        [PRELOAD.encode(b=4, **tile), COMPUTE_PRELOADED.encode(a=0, a_cols=4, a_rows=1)],
        [MVIN.encode(dram=0x1010, local=12, **row), MVOUT.encode(dram=0x1100, local=12, **row)],
    ]

    async def watch(ctx):
        async for _, _, events, completed in ctx.tick().sample(dut.events, dut.completed):
            ends.extend(name for name, _ in Completed() if completed[name] and name != "nothing")
            for table in TABLES:
                owners[table.name].add(table.owners[events[table.name]].name)
            for name in ("read_bytes", "write_bytes", "read_beat", "write_beat", "command"):
                sums[name] += events[name]

    async def memory(ctx):
        """A beat some cycles after each address."""
        read, write = dut.read_port, dut.write_port
        for ready in (read.ar.ready, write.aw.ready, write.w.ready):
            ctx.set(ready, 1)
        while True:
            _, _, asked, beat = await ctx.tick().sample(read.ar.valid, write.w.valid)
            if asked or beat:
                response = read.r if asked else write.b
                await ctx.tick().repeat(6)
                ctx.set(response.valid, 1)
                if asked:
                    ctx.set(read.r.p.last, 1)
                await ctx.tick().until(response.ready)
                ctx.set(response.valid, 0)

    async def testbench(ctx):
        for limits in (dut.read_limits, dut.write_limits):
            ctx.set(limits, {"base": 0, "limit": 0xFFFF})
        await ctx.tick()
        for part, last in zip(parts, ("load", "execute", "store"), strict=True):
            ends.clear()
            await send(ctx, dut.commands, [command._asdict() for command in part])
            await ctx.tick().until(~dut.busy)
            assert last in ends
        await ctx.tick().repeat(3)
        assert ctx.get(dut.error.cause) == Cause.NONE

    simulate(dut, testbench, background=[watch, memory])
    assert {"array_rows", "wait_command", "wait_issue"} <= owners["array"]
    assert {"read_none", "read_latency", "read_data"} <= owners["read"]
    assert {"write_none", "write_wait_load", "write_data", "write_latency"} <= owners["write"]
    assert sums == {
        "read_bytes": 8,
        "write_bytes": 4,
        "read_beat": 2,
        "write_beat": 1,
        "command": 5,
    }


def test_commands_on_their_way_count_as_busy():
    dut = shared_design(Accelerator, CONFIG)

    async def testbench(ctx):
        assert not ctx.get(dut.events.busy)
        ctx.set(dut.pending, 1)
        assert ctx.get(dut.events.busy)
        await ctx.tick()
        assert ctx.get(dut.events.array) == owner_number("wait_command")
        assert not ctx.get(dut.busy)

    simulate(dut, testbench)


@pytest.mark.parametrize("queued", [0, 3])
def test_the_latency_from_a_response_to_the_load_that_waits_for_it(queued):
    dut = shared_design(Accelerator, CONFIG)
    move = {"dram": 0x1000, "local": 0, "local_cols": 4, "local_rows": 1}
    other = MVIN.encode(**move | {"local": 8})
    program = [CONFIG_TOKEN.encode(signal=1, signal_id=6, wait=1, wait_id=6, count=1)]
    program += [MVOUT.encode(**move), other, *[other] * queued]

    async def testbench(ctx):
        for limits in (dut.read_limits, dut.write_limits):
            ctx.set(limits, {"base": 0, "limit": 0xFFFF})
        ctx.set(dut.write_port.aw.ready, 1)
        ctx.set(dut.write_port.w.ready, 1)
        await send(ctx, dut.commands, [command._asdict() for command in program])
        await ctx.tick().repeat(60)
        assert not ctx.get(dut.read_port.ar.valid)
        report = {"waits": 1, "token": 6, "count": 1, "finished": 0}
        assert ctx.get(dut.token) == report
        assert ctx.get(dut.busy)
        ctx.set(dut.write_port.b.valid, 1)
        await ctx.tick()
        ctx.set(dut.write_port.b.valid, 0)
        for _ in range(dut.TOKEN_LATENCY - 1):
            assert not ctx.get(dut.read_port.ar.valid)
            await ctx.tick()
        assert ctx.get(dut.read_port.ar.valid)
        assert not ctx.get(dut.token.waits)

    simulate(dut, testbench)


def test_it_is_starved_when_all_is_done_before_the_rest_of_a_body_comes():
    """Not before a loop, nor as long as a load is not answered, nor when the body is there."""
    dut = Accelerator(CONFIG.with_values({"loop_entries": 16}))
    load = MVIN.encode(dram=0x1000, local=0, local_cols=4, local_rows=1)
    flush = FLUSH.encode()

    async def testbench(ctx):
        accept_all(ctx, dut)
        for _ in range(5):
            assert not ctx.get(dut.starved)
            await ctx.tick()
        loop = [load, REPEAT.encode(count=2, length=2), flush]
        await send(ctx, dut.commands, [command._asdict() for command in loop])
        for _ in range(40):
            assert not ctx.get(dut.starved)
            await ctx.tick()
        assert ctx.get(dut.missing) == 1
        ctx.set(dut.read_port.r.p.last, 1)
        ctx.set(dut.read_port.r.valid, 1)
        await ctx.tick().until(dut.read_port.r.ready)
        ctx.set(dut.read_port.r.valid, 0)
        await ctx.tick().until(dut.completed.load)
        await ctx.tick().repeat(3)
        for _ in range(5):
            assert ctx.get(dut.starved)
            assert ctx.get(dut.busy)
            await ctx.tick()
        await send(ctx, dut.commands, [flush._asdict()])
        while ctx.get(dut.busy):
            assert not ctx.get(dut.starved)
            await ctx.tick()
        for _ in range(5):
            assert not ctx.get(dut.starved)
            await ctx.tick()

    simulate(dut, testbench)


@pytest.mark.parametrize(
    ("local", "rows", "owner"),
    [(0, 100, "wait_execute_store"), (1 << 31 | 1 << 29, 20, "wait_accumulator")],
)
def test_a_product_that_waits_for_a_store_says_of_which_memory(local, rows, owner):
    """Memory takes nothing: 64 words are read ahead, of one row each or of a quarter."""
    dut = shared_design(Accelerator, CONFIG)
    tile = {"b_cols": 4, "b_rows": 4, "c_cols": 4, "c_rows": 4}
    program = [MVOUT.encode(dram=0x1000, local=local, local_cols=4, local_rows=rows)]
    program += [PRELOAD.encode(b=200, c=local & 1 << 31 | rows - 1, **tile)]
    program += [COMPUTE_PRELOADED.encode(a=208, a_cols=4, a_rows=4)]

    async def testbench(ctx):
        ctx.set(dut.write_limits, {"base": 0, "limit": 0xFFFF})
        await send(ctx, dut.commands, [command._asdict() for command in program])
        await ctx.tick().repeat(90)
        assert ctx.get(dut.events.array) == owner_number(owner)

    simulate(dut, testbench)
