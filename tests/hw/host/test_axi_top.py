# amaranth: UnusedElaboratable=no

"""`AxiTop`: commands from stream and ring, registers, interrupts and progress."""

import pytest

from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_TOKEN,
    FLUSH,
    MVIN,
    MVOUT,
    PRELOAD,
    REPEAT,
    Command,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.isa.registers.queues import QUEUES
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.program_file import ProgramFile
from tests.support.axi_bench import AxiBench
from tests.support.axi_copies import ISSUES, STALLS, copied, copies, fill_source, small
from tests.support.axi_host import RegisterError

both_ways = pytest.mark.parametrize("issue", ISSUES)


def wanted_memory(program: ProgramFile) -> bytes:
    """What the functional model leaves."""
    config = resolve_config(program.preset, program.overrides)
    device = FunctionalDevice(config, memory_bytes=program.memory_bytes)
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    device.run(program.commands)
    return device.read(MEMORY_BASE, program.memory_bytes)


@both_ways
# Without stalls, on 32 bits, it is what `tests/system/test_differential.py` runs on Verilator.
@pytest.mark.parametrize("seed", [*(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1)), 2])
def test_random_programs_leave_what_the_model_leaves(issue, seed):
    # By day without normalization, whose elaboration takes longest.
    fewer = ("normalization=false",) if seed == 2 else ()
    overrides = (*fewer, f"bus_bits={(32, 128, 512)[seed]}")
    program = random_program(seed, preset="tiny", length=15, overrides=overrides)
    config = resolve_config(program.preset, program.overrides)
    bench = AxiBench(
        config, memory_bytes=program.memory_bytes, ring_offset=8 * (seed + 1), seed=seed,
        stalls=STALLS if seed else {}, reorder=bool(seed), late=seed == 2,
        host={"stall": 0.3 * seed, "seed": seed},
    )  # fmt: skip
    for content in program.contents:
        place = content.region.address - MEMORY_BASE
        bench.memory.data[place : place + len(content.bytes())] = content.bytes()

    async def test(ctx):
        await bench.execute(ctx, program.commands, issue)
        assert not ctx.get(bench.top.error)
        assert bench.memory.data[: program.memory_bytes] == wanted_memory(program)
        bench.host.stall = 0  # The commands have met stalls; a counter takes two reads.
        counters = {
            c.name: await bench.host.read(ctx, f"COUNTER_{c.name.upper()}") for c in COUNTERS
        }
        assert counters["commands"] == len(program.commands)
        for unit in TABLES:
            assert sum(counters[owner.name] for owner in unit.owners) == counters["cycles"]
        done = await bench.host.read(ctx, "RING_COMPLETED")
        assert done == (len(program.commands) if issue == "ring" else 0)

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
    bench = AxiBench(small())
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
    rows = 32
    product = [PRELOAD.encode(b=0, b_cols=4, b_rows=4, c=1 << 31, c_cols=4, c_rows=rows)]
    product += [COMPUTE_PRELOADED.encode(a=8, a_cols=4, a_rows=1)]
    copied_all = False

    async def watch(ctx):
        moved = None
        async for _, _, progress, *values in ctx.tick("port").sample(top.progress, *signals):
            if moved is not None and not copied_all:
                assert progress == moved
            moved = any(
                valid and ready for valid, ready in zip(values[::2], values[1::2], strict=True)
            )

    async def test(ctx):
        fill_source(bench)
        await bench.stream(ctx, copies())
        await bench.idle(ctx)
        # So is a row in the array, of zeros as well: a program of them is not stuck.
        nonlocal copied_all
        copied_all, moved = True, 0
        await bench.stream(ctx, product)
        while ctx.get(top.busy):
            moved += ctx.get(top.progress)
            await ctx.tick("port")
        assert moved >= rows
        for channel in ("ar", "aw"):  # Normal memory, not cacheable, bufferable.
            for name, value in (("lock", 0), ("cache", 0b0011), ("prot", 0), ("qos", 0)):
                assert ctx.get(getattr(top, f"m_axi_{channel}{name}")) == value

    bench.simulate(test, watch)


def test_why_a_program_hangs_can_be_read():
    bench = AxiBench(small())
    host, place = bench.host, {"dram": MEMORY_BASE, "local": 0, "local_rows": 4, "local_cols": 4}
    program = [CONFIG_TOKEN.encode(wait=1, wait_id=6, count=9)]
    program += [MVIN.encode(**place), MVOUT.encode(**place), MVOUT.encode(**place)]
    program += [REPEAT.encode(count=1, length=2)]

    async def test(ctx):
        await bench.stream(ctx, program)
        await bench.wait(ctx, 30)
        none = dict.fromkeys(QUEUES, 0)
        assert await host.fields(ctx, "DEBUG_QUEUES") == none | {"load": 1, "store": 2}
        controller, older_load = 1 << 4, 1 << 0
        waits = none | {"load": controller, "store": older_load}
        assert await host.fields(ctx, "DEBUG_WAITS") == waits
        assert await host.fields(ctx, "DEBUG_TOKEN") == {"waits": 1, "id": 6}
        assert await host.read(ctx, "DEBUG_TOKEN_COUNT") == 9
        assert await host.read(ctx, "DEBUG_TOKEN_VALUE") == 0
        assert await host.fields(ctx, "DEBUG_LOOPS") == {"busy": 1, "missing": 2}
        assert (await host.fields(ctx, "STATUS"))["busy"]

    bench.simulate(test)
