# amaranth: UnusedElaboratable=no

"""`AxiTop`: errors, what is told of them, and what comes after them."""

import pytest

from celosia.isa.encoding import FLUSH, RING_ENTRY, Command
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId
from tests.support.axi_bench import AxiBench
from tests.support.axi_copies import ISSUES, STALLS, copied, copies, fill_source, small
from tests.support.axi_host import RegisterError

both_ways = pytest.mark.parametrize("issue", ISSUES)


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


@pytest.mark.parametrize(
    ("issue", "stalls"),
    [
        pytest.param("ring", STALLS, id="stalled-ring"),
        # `tests/system/test_recovery.py` has all of them in a stream, on Verilator.
        pytest.param("stream", STALLS, marks=pytest.mark.nightly, id="stalled-stream"),
        pytest.param("ring", {}, marks=pytest.mark.slow, id="free-ring"),
        pytest.param("stream", {}, marks=pytest.mark.slow, id="free-stream"),
    ],
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
        # Each burst is a row of 4 bytes; `tests/system/test_recovery.py` has all of them.
        reads, writes = ((1,), (6,)) if stalls else ((0, 1, 6, 15),) * 2
        for position in reads:
            memory.read_fails = number_from_now(bench, BusId.DATA, position)
            command = {"address": MEMORY_BASE + 4 * position, "command": 2 + position // 4 * 2}
            await fails(ctx, copies(), Cause.READ_RESPONSE, **command)
        for position in writes:
            failing = memory.writes + position
            memory.write_fails = lambda number, failing=failing: number == failing
            command = {
                "address": MEMORY_BASE + 1024 + 4 * position,
                "command": 3 + position // 4 * 2,
            }
            await fails(ctx, copies(), Cause.WRITE_RESPONSE, **command)
        ring_end = bench.ring + RING_ENTRY.size * bench.ring_entries
        await host.write(ctx, "READ_BASE", MEMORY_BASE + 20)
        await host.write(ctx, "READ_LIMIT", ring_end - 1)
        await fails(ctx, copies(), Cause.READ_LIMIT, address=MEMORY_BASE, command=2)
        await host.write(ctx, "WRITE_LIMIT", MEMORY_BASE + 1024 + 35)
        await fails(ctx, copies(), Cause.WRITE_LIMIT, address=MEMORY_BASE + 1024 + 36, command=7)
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


# How entries are cut out of wider words is what `tests/hw/host/test_ring_gear.py` has.
@pytest.mark.parametrize(
    "bus_bits", [128, *(pytest.param(bits, marks=pytest.mark.nightly) for bits in (64, 256))]
)
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
            place = bench.ring - MEMORY_BASE + RING_ENTRY.size * entry
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
