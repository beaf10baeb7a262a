# amaranth: UnusedElaboratable=no

"""`AxiTop`: commands from stream and ring, registers, errors and what comes after them."""

import random

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_LD,
    CONFIG_ST,
    FENCE,
    FLUSH,
    MVIN,
    MVOUT,
    RING_ENTRY,
    Command,
)
from celosia.isa.errors import Cause
from celosia.isa.events import COUNTERS, TABLES
from celosia.isa.presets import PRESETS, resolve_config
from celosia.isa.registers import BusId
from celosia.sim.functional import FunctionalDevice
from celosia.sw.driver.program_file import ProgramFile
from celosia.sw.random_programs import random_program
from tests.support.axi_bench import AxiBench
from tests.support.axi_host import RegisterError

TINY = PRESETS["tiny"]
ISSUES = ("stream", "ring")
BASE = 0x8000_0000
STALLS = {"ar": 0.3, "r": 0.4, "aw": 0.3, "w": 0.4, "b": 0.3}

both_ways = pytest.mark.parametrize("issue", ISSUES)


def small(bus_bits: int = 128) -> AcceleratorConfig:
    return AcceleratorConfig(
        dim=4, scratchpad_kib=1, accumulator_kib=1, parameter_rows=8, bus_bits=bus_bits
    )


def copies(count: int = 4) -> list[Command]:
    """Copies of 4 rows of 4 bytes: those from k*16 on go to 1024 + k*16."""
    program = [
        CONFIG_LD.encode(stride=4, block_stride=4, scale=0x3F80_0000),
        CONFIG_ST.encode(stride=4, scale=0x3F80_0000),
    ]
    for index in range(count):
        place = {"local": 4 * index, "local_rows": 4, "local_cols": 4}
        program.append(MVIN.encode(dram=BASE + 16 * index, **place))
        program.append(MVOUT.encode(dram=BASE + 1024 + 16 * index, **place))
    return [*program, FENCE.encode()]


def fill_source(bench: AxiBench, seed: int = 0) -> None:
    bench.memory.data[:256] = random.Random(seed).randbytes(256)
    bench.memory.data[1024:1280] = bytes(256)


def copied(bench: AxiBench, count: int = 4) -> bool:
    data = bench.memory.data
    return data[1024 : 1024 + 16 * count] == data[: 16 * count]


def wanted_memory(program: ProgramFile) -> bytes:
    """What the functional model leaves."""
    config = resolve_config(program.preset, program.overrides)
    device = FunctionalDevice(config, memory_bytes=program.memory_bytes)
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    device.run(program.commands)
    return device.read(BASE, program.memory_bytes)


@both_ways
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_random_programs_leave_what_the_model_leaves(issue, seed):
    program = random_program(
        seed, preset="tiny", length=15, overrides=(f"bus_bits={(32, 128, 512)[seed]}",)
    )
    config = resolve_config(program.preset, program.overrides)
    bench = AxiBench(
        config, memory_bytes=program.memory_bytes, ring_offset=8 * (seed + 1), seed=seed,
        stalls=STALLS if seed else {}, reorder=bool(seed), late=seed == 2,
        host={"stall": 0.3 * seed, "seed": seed},
    )  # fmt: skip
    for content in program.contents:
        place = content.region.address - BASE
        bench.memory.data[place : place + len(content.bytes())] = content.bytes()

    async def test(ctx):
        await bench.execute(ctx, program.commands, issue)
        assert not ctx.get(bench.top.error)
        assert bench.memory.data[: program.memory_bytes] == wanted_memory(program)
        counters = {
            c.name: await bench.host.read(ctx, f"COUNTER_{c.name.upper()}") for c in COUNTERS
        }
        assert counters["commands"] == len(program.commands)
        for unit in TABLES:
            assert sum(counters[owner.name] for owner in unit.owners) == counters["cycles"]
        done = await bench.host.read(ctx, "RING_COMPLETED")
        assert done == (len(program.commands) if issue == "ring" else 0)

    bench.simulate(test)


async def recovers(ctx, bench: AxiBench, issue: str, cause: Cause, **error: int) -> None:
    """After an error of `cause`: it is told, and after a clear a program gives right results."""
    host, top = bench.host, bench.top
    assert ctx.get(top.error)
    assert not ctx.get(top.busy)
    told = await host.fields(ctx, "ERROR")
    told["address"] = await host.read(ctx, "ERROR_ADDRESS")
    told["command"] = await host.read(ctx, "ERROR_COMMAND")
    wanted = {"cause": cause, "id": BusId.DATA} | error
    assert {name: told[name] for name in wanted} == wanted
    assert (await host.fields(ctx, "STATUS"))["error"]
    status = await host.fields(ctx, "INTERRUPT_STATUS")
    assert status["error"]
    await host.set(ctx, "INTERRUPT_STATUS", **status)

    memory = bench.memory
    memory.read_fails = memory.ring_fails = memory.write_fails = lambda number: False
    for name, value in (("READ_BASE", 0), ("READ_LIMIT", (1 << 64) - 1), ("WRITE_BASE", 0)):
        await host.write(ctx, name, value)
    await host.write(ctx, "WRITE_LIMIT", (1 << 64) - 1)
    await host.write(ctx, "CYCLE_BUDGET", 0)
    await host.write(ctx, "WATCHDOG", 0)
    counted = await host.read(ctx, "COUNTER_COMMANDS")
    ended = await host.read(ctx, "RING_COMPLETED")
    await host.clear(ctx)
    assert not ctx.get(top.error)
    assert await host.fields(ctx, "ERROR") == {"cause": 0, "id": 0}
    assert await host.read(ctx, "RING_HEAD") == await host.read(ctx, "RING_TAIL")
    assert (await host.fields(ctx, "STATUS")) == {"busy": 0, "error": 0, "ring_empty": 1}

    fill_source(bench, seed=counted)
    await bench.execute(ctx, copies(), issue)
    assert not ctx.get(top.error)
    assert copied(bench)
    assert await host.fields(ctx, "INTERRUPT_STATUS") == {"done": 1, "error": 0}
    assert await host.read(ctx, "COUNTER_COMMANDS") == counted + len(copies())
    rings = len(copies()) if issue == "ring" else 0
    assert await host.read(ctx, "RING_COMPLETED") == ended + rings


def number_from_now(bench: AxiBench, user: BusId, later: int):
    """Whether a read burst of `user` is the one `later` bursts after all that were asked for."""
    known = sum(burst.id == user for burst in bench.memory.reads)
    return lambda number: number == known + later


@both_ways
@pytest.mark.parametrize(
    "stalls",
    [pytest.param({}, marks=pytest.mark.slow, id="free"), pytest.param(STALLS, id="stalled")],
)
def test_each_error_is_told_and_cleared(issue, stalls):
    bench = AxiBench(small(), stalls=stalls, reorder=bool(stalls), seed=3, latency=12)
    host, memory = bench.host, bench.memory
    cleared = 0  # Commands since the last clear.

    async def fails(ctx, program, cause, *, command=None, **error):
        nonlocal cleared
        await bench.execute(ctx, program, issue)
        error |= {} if command is None else {"command": cleared + command}
        await recovers(ctx, bench, issue, cause, **error)
        cleared = len(copies())

    async def test(ctx):
        fill_source(bench)
        for position in (0, 1, 6, 15):  # Each burst is a row of 4 bytes.
            memory.read_fails = number_from_now(bench, BusId.DATA, position)
            command = {"address": BASE + 4 * position, "command": 2 + position // 4 * 2}
            await fails(ctx, copies(), Cause.READ_RESPONSE, **command)
            failing = memory.writes + position
            memory.write_fails = lambda number, failing=failing: number == failing
            command = {"address": BASE + 1024 + 4 * position, "command": 3 + position // 4 * 2}
            await fails(ctx, copies(), Cause.WRITE_RESPONSE, **command)
        ring_end = bench.ring + RING_ENTRY.size * bench.ring_entries
        await host.write(ctx, "READ_BASE", BASE + 20)
        await host.write(ctx, "READ_LIMIT", ring_end - 1)
        await fails(ctx, copies(), Cause.READ_LIMIT, address=BASE, command=2)
        await host.write(ctx, "WRITE_LIMIT", BASE + 1024 + 35)
        await fails(ctx, copies(), Cause.WRITE_LIMIT, address=BASE + 1024 + 36, command=7)
        for broken, cause in (
            (Command(99), Cause.UNKNOWN_FUNCT),
            (Command(0, 3), Cause.UNSUPPORTED),
        ):
            program = copies()
            program.insert(4, broken)
            await fails(ctx, program, cause, command=4)
        await host.write(ctx, "CYCLE_BUDGET", 40)
        await fails(ctx, copies(), Cause.CYCLE_BUDGET)
        await host.write(ctx, "WATCHDOG", 15)
        memory.latency = 60
        await fails(ctx, copies(), Cause.WATCHDOG)

    bench.simulate(test)


@pytest.mark.parametrize("bus_bits", [64, 256])
def test_each_error_of_the_ring_is_told_and_cleared(bus_bits):
    bench = AxiBench(small(bus_bits), stalls=STALLS, reorder=True, seed=4, ring_offset=24)
    host, memory = bench.host, bench.memory
    size = bench.ring_entries
    cleared = 0  # Commands since the last clear.

    async def ring_fails(ctx, cause, entry=None, command=0):
        nonlocal cleared
        await bench.idle(ctx)
        error = {"command": cleared + command}
        if entry is not None:
            error |= {"address": bench.ring + RING_ENTRY.size * entry}
            assert await host.read(ctx, "RING_HEAD") == entry
        await recovers(ctx, bench, "ring", cause, id=BusId.RING, **error)
        cleared = len(copies())

    async def test(ctx):
        fill_source(bench)
        await host.enable_ring(ctx, bench.ring, size)
        flushes = [FLUSH.encode()] * (size - 1)
        for position in range(4):
            memory.ring_fails = number_from_now(bench, BusId.RING, position)
            start = host.tail
            await host.submit(ctx, memory, flushes, bench.ring, size)
            await bench.idle(ctx)
            failed = (await host.read(ctx, "RING_HEAD") - start) % size
            assert (failed > 0) == (position > 0)
            await ring_fails(ctx, Cause.READ_RESPONSE, (start + failed) % size, command=failed)
        for wrong in (1 << 7, 1 << 32):
            start = host.tail
            program = [Command(7), Command(7), Command(7)]
            entry = (start + 2) % size
            tail = (start + 3) % size
            await host.submit(ctx, memory, program[:2], bench.ring, size)
            await bench.idle(ctx)
            place = bench.ring - BASE + RING_ENTRY.size * entry
            memory.data[place : place + 24] = (7 | wrong).to_bytes(24, "little")
            await host.write(ctx, "RING_TAIL", tail)
            await host.write(ctx, "RING_DOORBELL", 1)
            host.tail = tail
            await ring_fails(ctx, Cause.RING_ENTRY, entry, command=2)
        first = host.tail
        await host.write(ctx, "READ_LIMIT", bench.ring + RING_ENTRY.size * first - 1)
        await host.submit(ctx, memory, flushes[:1], bench.ring, size)
        await ring_fails(ctx, Cause.READ_LIMIT, first)
        await host.write(ctx, "RING_TAIL", size)
        await host.write(ctx, "RING_DOORBELL", 1)
        await bench.idle(ctx)
        await host.write(ctx, "RING_TAIL", host.tail)
        await ring_fails(ctx, Cause.RING_RANGE)

    bench.simulate(test)


def test_a_read_that_is_never_answered_keeps_it_busy_until_a_reset():
    bench = AxiBench(small(), silent=lambda number: number == 1)
    host = bench.host

    async def test(ctx):
        await host.write(ctx, "WATCHDOG", 200)
        fill_source(bench)
        await bench.stream(ctx, copies(), most=400)
        await bench.wait(ctx, 300)
        assert (await host.fields(ctx, "ERROR"))["cause"] == Cause.WATCHDOG
        assert ctx.get(bench.top.busy)
        with pytest.raises(RegisterError):
            await host.clear(ctx)
        bench.memory.silent = lambda number: False
        await bench.reset(ctx)
        assert await host.read(ctx, "WATCHDOG") == 0
        await bench.execute(ctx, copies(), "stream")
        assert not ctx.get(bench.top.error)
        assert copied(bench)

    bench.simulate(test)


def test_the_budget_is_exact():
    bench = AxiBench(small())
    host = bench.host

    async def test(ctx):
        fill_source(bench)
        await bench.execute(ctx, copies(), "stream")
        cycles = await host.read(ctx, "COUNTER_CYCLES")
        await host.set(ctx, "CONTROL", clear_counters=1)
        assert await host.read(ctx, "COUNTER_CYCLES") == 0
        for budget, cause in ((cycles, Cause.NONE), (cycles - 1, Cause.CYCLE_BUDGET)):
            await host.write(ctx, "CYCLE_BUDGET", budget)
            await bench.execute(ctx, copies(), "stream")
            assert (await host.fields(ctx, "ERROR"))["cause"] == cause

    bench.simulate(test)


def test_interrupts_are_raised_enabled_and_cleared():
    bench = AxiBench(small())
    host, top = bench.host, bench.top

    async def test(ctx):
        fill_source(bench)
        await bench.execute(ctx, copies(), "ring")
        assert await host.fields(ctx, "INTERRUPT_STATUS") == {"done": 1, "error": 0}
        assert not ctx.get(top.interrupt)
        await host.set(ctx, "INTERRUPT_ENABLE", error=1)
        assert not ctx.get(top.interrupt)
        await host.set(ctx, "INTERRUPT_ENABLE", done=1, error=1)
        assert ctx.get(top.interrupt)
        await host.set(ctx, "INTERRUPT_STATUS", done=1)
        assert not ctx.get(top.interrupt)
        await bench.execute(ctx, [Command(99)], "ring")
        await bench.wait(ctx, 3)
        assert ctx.get(top.interrupt)
        assert await host.fields(ctx, "INTERRUPT_STATUS") == {"done": 0, "error": 1}
        await host.set(ctx, "INTERRUPT_STATUS", error=1)
        await bench.wait(ctx, 3)
        assert not ctx.get(top.interrupt)
        await host.clear(ctx)
        assert await host.fields(ctx, "INTERRUPT_STATUS") == {"done": 0, "error": 0}

    bench.simulate(test)


@both_ways
@pytest.mark.parametrize("way", ["read", "write"])
def test_a_program_whose_last_response_fails_is_never_done(issue, way):
    bench = AxiBench(small())

    async def test(ctx):
        fill_source(bench)
        program = copies(1)[:-1]  # Without FENCE.
        if way == "read":
            program = program[:-1]
            bench.memory.read_fails = lambda number: number == 3
        else:
            bench.memory.write_fails = lambda number: number == 3
        await bench.execute(ctx, program, issue)
        await bench.wait(ctx, 3)
        assert ctx.get(bench.top.error)
        assert await bench.host.fields(ctx, "INTERRUPT_STATUS") == {"done": 0, "error": 1}

    bench.simulate(test)


def test_while_busy_registers_are_guarded_and_the_ring_goes_on():
    bench = AxiBench(small(), latency=60)
    host, top = bench.host, bench.top
    program = copies()

    async def test(ctx):
        fill_source(bench)
        await host.enable_ring(ctx, bench.ring, bench.ring_entries)
        for index, command in enumerate(program):  # A doorbell for each: most while busy.
            await host.submit(ctx, bench.memory, [command], bench.ring, bench.ring_entries)
            if 0 < index < len(program) - 1:
                assert ctx.get(top.busy)
                with pytest.raises(RegisterError):
                    await host.set(ctx, "CONTROL", ring_enable=0)
                with pytest.raises(RegisterError):
                    await host.write(ctx, "READ_LIMIT_LO", 0)
                await host.set(ctx, "INTERRUPT_ENABLE", done=1)
        await bench.idle(ctx)
        assert copied(bench)
        assert await host.read(ctx, "RING_COMPLETED") == len(program)
        assert await host.read(ctx, "READ_LIMIT") == (1 << 64) - 1
        assert await host.fields(ctx, "INTERRUPT_STATUS") == {"done": 1, "error": 0}

    bench.simulate(test)


def test_stream_and_ring_take_turns():
    bench = AxiBench(small(32))
    host, top = bench.host, bench.top

    async def test(ctx):
        await host.enable_ring(ctx, bench.ring, bench.ring_entries)
        ctx.set(top.cmd_valid, 1)
        for _ in range(10):
            await ctx.tick("port")
            assert not ctx.get(top.cmd_ready)
        ctx.set(top.cmd_valid, 0)
        for issue in ("ring", "stream", "ring", "ring", "stream"):
            fill_source(bench)
            await bench.execute(ctx, copies(), issue)
            assert copied(bench)
        # Asked for while it is off, the ring waits.
        await host.submit(ctx, bench.memory, [FLUSH.encode()] * 3, bench.ring, bench.ring_entries)
        await bench.wait(ctx, 30)
        before = await host.read(ctx, "RING_COMPLETED")
        assert not (await host.fields(ctx, "STATUS"))["ring_empty"]
        await host.set(ctx, "CONTROL", ring_enable=1)
        await bench.idle(ctx)
        assert await host.read(ctx, "RING_COMPLETED") == before + 3

    bench.simulate(test)


def test_what_is_accepted_around_a_reset_is_not_lost():
    bench = AxiBench(small())
    top, accepted = bench.top, 0

    async def watch(ctx):
        nonlocal accepted
        ctx.set(top.cmd_valid, 1)
        ctx.set(top.cmd_funct, FLUSH.encode().funct)
        async for _, _, rst, ready in ctx.tick("port").sample(top.rst, top.cmd_ready):
            accepted += ready and not rst
            assert not (rst and accepted)
            if accepted == 10:
                ctx.set(top.cmd_valid, 0)
                return

    async def test(ctx):
        await bench.wait(ctx, 30)
        assert accepted == 10
        assert await bench.host.read(ctx, "COUNTER_COMMANDS") == 10
        await bench.execute(ctx, [Command(99)], "stream")
        assert await bench.host.read(ctx, "ERROR_COMMAND") == 10  # All since the reset.

    bench.simulate(test, watch)


@pytest.mark.parametrize(
    "bus_bits", [128, *(pytest.param(w, marks=pytest.mark.slow) for w in (32, 64, 256, 512))]
)
def test_the_ring_brings_a_command_every_two_cycles(bus_bits):
    entries = 128
    bench = AxiBench(small(bus_bits), ring_entries=entries, latency=40)

    async def test(ctx):
        await bench.host.enable_ring(ctx, bench.ring, entries)
        count = entries - 1
        await bench.host.submit(ctx, bench.memory, [FLUSH.encode()] * count, bench.ring, entries)
        took = await bench.idle(ctx)
        assert took <= 40 + 20 + count * max(2, 192 / bus_bits)

    bench.simulate(test)


def test_what_moves_is_progress():
    bench = AxiBench(small(), stalls=STALLS)
    top = bench.top
    pairs = [(f"m_axi_{c}valid", f"m_axi_{c}ready") for c in ("ar", "r", "aw", "w", "b")]
    pairs.append(("cmd_valid", "cmd_ready"))
    signals = [getattr(top, name) for pair in pairs for name in pair]

    async def watch(ctx):
        moved = None
        async for _, _, progress, *values in ctx.tick("port").sample(top.progress, *signals):
            if moved is not None:
                assert progress == moved
            moved = any(
                valid and ready for valid, ready in zip(values[::2], values[1::2], strict=True)
            )

    async def test(ctx):
        fill_source(bench)
        await bench.stream(ctx, copies())
        await bench.idle(ctx)

    bench.simulate(test, watch)
