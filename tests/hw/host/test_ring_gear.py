"""`RingGear` finds every command in its beats, wherever runs begin and end."""

import random

import pytest
from amaranth import ResetInserter, Signal

from celosia.hw.host.ring_gear import RingGear
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.registers.errors import Cause
from tests.hw.host.ring_memory import beats_of, random_commands
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, receive, send, simulate, sometimes

WIDTHS = (32, 64, 128, 256, 512)

every_width = pytest.mark.parametrize("bus_bits", WIDTHS)


def configuration(bus_bits: int) -> AcceleratorConfig:
    return AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=bus_bits)


def make_runs(bus_bits: int, lengths, rng) -> tuple[list[dict], list[int], list[Command]]:
    """Runs, their beats and their commands."""
    runs, beats, commands = [], [], []
    for length in lengths:
        address = rng.randrange(1 << 32) * 8
        part = random_commands(rng, length)
        runs.append({"address": address, "entries": length})
        beats += beats_of(address, part, bus_bits // 8, rng)[0]
        commands += part
    return runs, beats, commands


@every_width
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_runs_become_their_commands(bus_bits, seed):
    rng = random.Random(seed or 7)
    lengths = [1, 2, 1, 3, *(rng.randint(1, 12) for _ in range(25))]
    runs, beats, commands = make_runs(bus_bits, lengths, rng)
    dut = shared_design(RingGear, configuration(bus_bits))
    stalls = [never] * 3 if seed is None else [sometimes(seed + n) for n in range(3)]

    async def fetch(ctx):
        await send(ctx, dut.runs, runs, stalls[0])

    async def answer(ctx):
        await send(ctx, dut.beats, [{"data": beat} for beat in beats], stalls[1])

    async def consume(ctx):
        got = await receive(ctx, dut.commands, len(commands), stalls[2])
        assert [Command(c.funct, c.rs1, c.rs2) for c in got] == commands
        await ctx.tick().repeat(3)
        assert not ctx.get(dut.commands.valid)
        assert not ctx.get(dut.starved)

    simulate(dut, fetch, answer, consume)


@every_width
def test_throughput_is_as_documented(bus_bits):
    rng, count = random.Random(0), 60
    runs, beats, _ = make_runs(bus_bits, [count], rng)
    dut, arrivals = shared_design(RingGear, configuration(bus_bits)), []

    async def fetch(ctx):
        await send(ctx, dut.runs, runs)

    async def answer(ctx):
        await send(ctx, dut.beats, [{"data": beat} for beat in beats])

    async def consume(ctx):
        ctx.set(dut.commands.ready, 1)
        cycle = 0
        while len(arrivals) < count:
            _, _, valid = await ctx.tick().sample(dut.commands.valid)
            if valid:
                arrivals.append(cycle)
            cycle += 1

    simulate(dut, fetch, answer, consume)
    took = arrivals[-1] - arrivals[0] + 1
    beats_per_command = max(1, 192 / bus_bits)
    assert took <= count * beats_per_command + 2


@every_width
def test_the_next_address_is_told(bus_bits):
    dut = shared_design(RingGear, configuration(bus_bits))
    rng = random.Random(1)
    runs, beats, commands = make_runs(bus_bits, [5], rng)

    async def testbench(ctx):
        await send(ctx, dut.runs, runs)
        for index in range(len(commands)):
            assert ctx.get(dut.address) == runs[0]["address"] + 24 * index
            await ctx.tick().until(dut.commands.valid)
            await receive(ctx, dut.commands, 1)

    async def answer(ctx):
        await send(ctx, dut.beats, [{"data": beat} for beat in beats])

    simulate(dut, testbench, answer)


def stops_at(bus_bits: int, address: int, beats: list[dict], commands: int) -> tuple[int, Cause]:
    """How many commands come out of a run, and what is wrong with the next one."""
    dut, count = shared_design(RingGear, configuration(bus_bits)), 0
    found = []

    async def fetch(ctx):
        await send(ctx, dut.runs, [{"address": address, "entries": commands}])

    async def answer(ctx):
        await send(ctx, dut.beats, beats)

    async def consume(ctx):
        nonlocal count
        ctx.set(dut.commands.ready, 1)
        quiet = 0
        while quiet < 12:
            _, _, valid = await ctx.tick().sample(dut.commands.valid)
            count, quiet = count + valid, 0 if valid else quiet + 1
        found.append(Cause(ctx.get(dut.cause)))
        if count < commands:
            assert ctx.get(dut.address) == address + 24 * count

    simulate(dut, consume, background=[fetch, answer])
    return count, found[0]


@every_width
def test_a_bad_beat_stops_at_the_first_command_in_it(bus_bits):
    rng, width = random.Random(2), bus_bits // 8
    address = 8 * 3
    commands = random_commands(rng, 5)
    words, owners = beats_of(address, commands, width, rng)
    for bad in range(0, len(words), max(1, len(words) // 8)):
        beats = [{"data": word, "bad": index == bad} for index, word in enumerate(words)]
        assert stops_at(bus_bits, address, beats, 5) == (owners[bad][0], Cause.READ_RESPONSE)


async def taken(ctx, dut, address, beats, entries):
    """The commands that come out while a run and its beats are offered for some time."""
    ctx.set(dut.runs.p, {"address": address, "entries": entries})
    ctx.set(dut.runs.valid, 1)
    ctx.set(dut.commands.ready, 1)
    left, found = [*beats], []
    for _ in range(8 * len(beats) + 16):
        ctx.set(dut.beats.valid, bool(left))
        if left:
            ctx.set(dut.beats.p, left[0])
        offered = dut.runs.ready, dut.beats.ready, dut.commands.valid, dut.commands.p
        _, _, ran, took, valid, c = await ctx.tick().sample(*offered)
        found += [Command(c.funct, c.rs1, c.rs2)] * valid
        del left[: int(took)]
        if ran:
            ctx.set(dut.runs.valid, 0)
    return found


@every_width
def test_behind_a_reset_nothing_is_left_of_a_bad_beat(bus_bits):
    rng, width = random.Random(6), bus_bits // 8
    commands = random_commands(rng, 3)
    words, owners = beats_of(0, commands, width, rng)
    for bad in range(min(len(words), 7)):
        dut, reset = RingGear(configuration(bus_bits)), Signal()
        beats = [{"data": word, "bad": index == bad} for index, word in enumerate(words)]

        async def testbench(ctx, dut=dut, reset=reset, beats=beats, bad=bad):
            assert await taken(ctx, dut, 0, beats, 3) == commands[: owners[bad][0]]
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
            good = [{"data": word, "bad": 0} for word in words]
            assert await taken(ctx, dut, 0, good, 3) == commands

        simulate(ResetInserter(reset)(dut), testbench)


@every_width
@pytest.mark.parametrize("funct", [1 << 7, 1 << 31, 1 << 32, 1 << 63])
def test_what_is_no_command_stops(bus_bits, funct):
    rng = random.Random(3)
    commands = random_commands(rng, 4)
    words, _ = beats_of(16, commands, bus_bits // 8, rng)
    image = b"".join(word.to_bytes(bus_bits // 8, "little") for word in words)
    place = 16 % (bus_bits // 8) + 2 * 24
    broken = (int.from_bytes(image, "little") | funct << 8 * place).to_bytes(len(image), "little")
    beats = [
        {"data": int.from_bytes(broken[start : start + bus_bits // 8], "little")}
        for start in range(0, len(broken), bus_bits // 8)
    ]
    assert stops_at(bus_bits, 16, beats, 4) == (2, Cause.RING_ENTRY)


@every_width
def test_it_says_that_beats_are_missing(bus_bits):
    dut = shared_design(RingGear, configuration(bus_bits))
    words, _ = beats_of(0, random_commands(random.Random(4), 2), bus_bits // 8, random.Random(5))

    async def testbench(ctx):
        assert not ctx.get(dut.starved)
        await send(ctx, dut.runs, [{"address": 0, "entries": 2}])
        assert ctx.get(dut.starved)
        for word in words:
            ctx.set(dut.commands.ready, 1)
            await send(ctx, dut.beats, [{"data": word}])
        await ctx.tick().repeat(4)
        assert not ctx.get(dut.starved)

    simulate(dut, testbench)
