"""`RingFetcher` fetches runs within the rules, and reports what it cannot fetch in its turn."""

import random
from dataclasses import dataclass

import pytest

from celosia.hw.host.ring_fetch import GROWTH, PREFETCH_BYTES, URGENT_BYTES, RingFetcher
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId
from tests.hw.host.ring_memory import random_commands
from tests.hw.load.read_memory import SLAVE_ERROR, ReadMemory
from tests.support.reused_simulator import shared_design
from tests.support.streams import receive, send, simulate, sometimes

WIDTHS = (32, 64, 128, 512)
EVERYTHING = {"base": 0, "limit": (1 << 64) - 1}

both = pytest.mark.parametrize("busy", [0, 1])
every_width = pytest.mark.parametrize("bus_bits", WIDTHS)


def configuration(bus_bits: int) -> AcceleratorConfig:
    return AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=bus_bits)


@dataclass
class RingMemory(ReadMemory):
    """Holds `image` at `base`; what is around it is garbage."""

    base: int = 0
    image: bytes = b""

    def _offer(self, ctx, r, address: int, last: bool) -> None:
        broken = self.broken(address)
        word = bytes(
            self.image[place] if 0 <= place < len(self.image) else 0x5A
            for place in range(address - self.base, address - self.base + self.config.bus_bytes)
        )
        ctx.set(r.valid, 1)
        data = 0 if broken else int.from_bytes(word, "little")
        ctx.set(r.payload, {"data": data, "response": SLAVE_ERROR if broken else 0, "last": last})


def start(ctx, dut, limits=EVERYTHING) -> None:
    ctx.set(dut.limits, limits)


@every_width
@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_commands_come_in_order_from_anywhere(bus_bits, stall):
    rng = random.Random(bus_bits)
    base, count = 0xFC8 + 8 * rng.randrange(16), 100
    commands = random_commands(rng, count)
    dut = shared_design(RingFetcher, configuration(bus_bits))
    memory = RingMemory(
        dut.config, dut.port, latency=9, stall=stall, base=base, image=pack_ring(commands)
    )
    runs, first = [], 0
    while first < count:
        entries = min(rng.choice([1, 1, 2, 5, 30]), count - first)
        runs.append({"address": base + 24 * first, "entries": entries})
        first += entries

    async def fetch(ctx):
        start(ctx, dut)
        await send(ctx, dut.runs, runs)

    async def consume(ctx):
        pause = sometimes(1) if stall else (lambda: 0)
        got = await receive(ctx, dut.commands, count, pause)
        assert [Command(c.funct, c.rs1, c.rs2) for c in got] == commands
        await ctx.tick().repeat(3)
        assert not ctx.get(dut.in_flight)
        assert not ctx.get(dut.fault.valid)
        memory.finished = True

    simulate(dut, fetch, consume, background=[memory.run], deadline=30_000)
    width = bus_bits // 8
    for address, beats in memory.requests:
        assert address // 64 == (address // width * width + beats * width - 1) // max(64, width)
    needed = {place // width for place in range(base, base + 24 * count)}
    assert sum(beats for _, beats in memory.requests) <= len(needed) + 3 * len(runs)


@every_width
@pytest.mark.parametrize("latency", [10, 60])
def test_throughput_and_latency_are_as_documented(bus_bits, latency):
    count = 150
    dut = shared_design(RingFetcher, configuration(bus_bits))
    commands = random_commands(random.Random(0), count)
    memory = RingMemory(dut.config, dut.port, latency=latency, base=8, image=pack_ring(commands))
    arrivals = []

    async def fetch(ctx):
        start(ctx, dut)
        ctx.set(dut.runs.payload, {"address": 8, "entries": count})
        ctx.set(dut.runs.valid, 1)
        assert ctx.get(dut.runs.ready)
        await ctx.tick()
        ctx.set(dut.runs.valid, 0)
        for _ in range(dut.LATENCY - 1):
            assert not ctx.get(dut.port.ar.valid)
            await ctx.tick()
        assert ctx.get(dut.port.ar.valid)

    async def consume(ctx):
        ctx.set(dut.commands.ready, 1)
        while len(arrivals) < count:
            _, _, valid = await ctx.tick().sample(dut.commands.valid)
            if valid:
                arrivals.append(memory.cycle)
        memory.finished = True

    simulate(dut, fetch, consume, background=[memory.run])
    took = arrivals[-1] - arrivals[0]
    assert took <= count * max(2, 192 / bus_bits) + 16


@every_width
def test_only_what_there_is_room_for_is_asked_for(bus_bits):
    dut = shared_design(RingFetcher, configuration(bus_bits))
    memory = RingMemory(dut.config, dut.port, base=0, image=bytes(24 * 1000))
    taken, slack = 0, 64 + 6 * bus_bits // 8  # What the gear holds, and a part of a burst.

    async def testbench(ctx):
        nonlocal taken
        ahead = 0
        start(ctx, dut)
        await send(ctx, dut.runs, [{"address": 0, "entries": 1000}])
        for step in range(120):
            ctx.set(dut.commands.ready, step > 40)
            for _ in range(5):
                _, _, valid = await ctx.tick().sample(dut.commands.valid)
                taken += valid and step > 40
                assert ctx.get(dut.port.r.ready)
                asked = sum(beats for _, beats in memory.requests) * bus_bits // 8
                ahead = asked - 24 * taken
                grown = URGENT_BYTES + (24 * taken + slack) // GROWTH
                assert ahead <= min(PREFETCH_BYTES, grown) + slack
                if step < 40:
                    assert ctx.get(dut.urgent) <= (asked <= URGENT_BYTES + slack)
            if step == 40:
                assert ahead >= URGENT_BYTES
        memory.finished = True

    simulate(dut, testbench, background=[memory.run])


@pytest.mark.parametrize(
    "bus_bits", [32, 512, *(pytest.param(bits, marks=pytest.mark.nightly) for bits in (64, 128))]
)
@pytest.mark.parametrize("rests", [True, False])
def test_from_rest_no_more_is_asked_for_than_at_first(bus_bits, rests):
    """A run that follows at once is asked for as far ahead as the one before it."""
    many = 16 * PREFETCH_BYTES // 64
    dut = shared_design(RingFetcher, configuration(bus_bits))
    memory = RingMemory(dut.config, dut.port, base=0, image=bytes(48 * many))
    runs = [{"address": 24 * many * number, "entries": many} for number in range(2)]
    slack = 64 + 6 * bus_bits // 8  # What the gear holds, and a part of a burst.
    taken = []

    async def fetch(ctx):
        start(ctx, dut)
        await send(ctx, dut.runs, runs[:1])
        while rests and not taken:
            await ctx.tick()
        await send(ctx, dut.runs, runs[1:])

    async def consume(ctx):
        taken.extend(await receive(ctx, dut.commands, many))
        await ctx.tick().repeat(PREFETCH_BYTES)
        ahead = sum(beats for _, beats in memory.requests) * bus_bits // 8 - 24 * many
        wanted = URGENT_BYTES if rests else PREFETCH_BYTES
        assert wanted - slack <= ahead <= wanted + slack
        memory.finished = True

    simulate(dut, fetch, consume, background=[memory.run])


def outcome(
    bus_bits: int, broken=lambda address: False, limits=EVERYTHING, base=0x1008, count=8, busy=1
):
    """Commands that come before a fault, and the fault.

    With `busy`, commands before it run for long, and there is no fault as long as they do.
    """
    dut = shared_design(RingFetcher, configuration(bus_bits))
    commands = random_commands(random.Random(6), count)
    memory = RingMemory(
        dut.config, dut.port, latency=4, broken=broken, base=base, image=pack_ring(commands)
    )
    got, fault = [], {}

    async def testbench(ctx):
        start(ctx, dut, limits)
        await send(ctx, dut.runs, [{"address": base, "entries": count}])
        ctx.set(dut.commands.ready, 1)
        ctx.set(dut.core_busy, busy)
        names = ("valid", "cause", "address", "id")
        for _ in range(120):
            _, _, valid, payload, fails = await ctx.tick().sample(
                dut.commands.valid, dut.commands.payload, dut.fault.valid
            )
            assert not (busy and fails)
            if valid:
                assert not fails
                got.append(Command(payload.funct, payload.rs1, payload.rs2))
            if fails:
                break
        ctx.set(dut.core_busy, 0)
        fault.update({name: ctx.get(dut.fault[name]) for name in names})
        await ctx.tick().repeat(200)
        assert not ctx.get(dut.in_flight)
        memory.finished = True

    simulate(dut, testbench, background=[memory.run])
    assert got == commands[: len(got)]
    return len(got), fault, memory


@every_width
@both
@pytest.mark.parametrize("bad", [0, 1, 2, 7])
def test_an_error_response_is_a_fault_of_its_command(bus_bits, bad, busy):
    base = 0x1008
    beat = (base + 24 * bad + 8) // (bus_bits // 8) * (bus_bits // 8)
    first = max(0, beat - base) // 24
    done, fault, _ = outcome(bus_bits, lambda address: address == beat, busy=busy)
    address = base + 24 * first
    assert (done, fault["valid"], fault["cause"]) == (first, 1, Cause.READ_RESPONSE)
    assert (fault["address"], fault["id"]) == (address, BusId.RING)


@every_width
@both
@pytest.mark.parametrize("cut", [0, 24, 100, 191])
def test_what_lies_outside_of_the_limits_is_not_read(bus_bits, cut, busy):
    base = 0x1008
    limits = {"base": base, "limit": base + cut - 1}
    done, fault, memory = outcome(bus_bits, limits=limits, busy=busy)
    # A burst ends at a multiple of 64 bytes; the first one that is not all inside is not read.
    edge = (base + cut) // 64 * 64
    assert done == max(0, edge - base) // 24
    assert (fault["valid"], fault["cause"]) == (1, Cause.READ_LIMIT)
    assert (fault["address"], fault["id"]) == (base + 24 * done, BusId.RING)
    assert all(address < max(edge, base) for address, _ in memory.requests)


@every_width
def test_all_of_a_ring_may_be_just_inside(bus_bits):
    base = 0x1008
    done, fault, _ = outcome(bus_bits, limits={"base": base, "limit": base + 191})
    assert (done, fault["valid"]) == (8, 0)


@every_width
@both
@pytest.mark.parametrize("inside", [0, 1, 5])
def test_memory_ends(bus_bits, inside, busy):
    base = (1 << 64) - 24 * inside - 16
    done, fault, memory = outcome(bus_bits, base=base, busy=busy)
    assert (done, fault["valid"], fault["cause"]) == (inside, 1, Cause.READ_LIMIT)
    assert fault["address"] == base + 24 * inside
    assert all(address >= base for address, _ in memory.requests)


@every_width
def test_halted_it_begins_nothing_and_answers_come(bus_bits):
    dut = shared_design(RingFetcher, configuration(bus_bits))
    memory = RingMemory(dut.config, dut.port, latency=30, stall=0.3, base=0, image=bytes(24 * 100))

    async def testbench(ctx):
        start(ctx, dut)
        await send(ctx, dut.runs, [{"address": 0, "entries": 100}])
        ctx.set(dut.commands.ready, 1)
        while not memory.requests:
            await ctx.tick()
        ctx.set(dut.halt, 1)
        asked = len(memory.requests)
        assert ctx.get(dut.in_flight)
        for _ in range(200):
            await ctx.tick()
            assert not ctx.get(dut.commands.valid)
        assert len(memory.requests) <= asked + 3  # Those that were on offer.
        assert not ctx.get(dut.in_flight)
        memory.finished = True

    simulate(dut, testbench, background=[memory.run])
