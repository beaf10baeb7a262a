"""`HazardTables` and the arithmetic of positions."""

import random

import pytest
from amaranth import Module
from amaranth.hdl import Const
from amaranth.sim import Simulator

from celosia.hw.decode.decoder import Kind, hull_count
from celosia.hw.decode.ops import Space
from celosia.hw.decode.ranges import space_base, space_rows
from celosia.hw.issue.hazards import POSITION_BITS, WINDOW, HazardTables, close, reached
from celosia.hw.issue.queues import Memories, QueueTraits
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import QUEUES
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(
    dim=4, scratchpad_kib=1, accumulator_kib=1, load_queue=4, execute_queue=4, store_queue=4
)
WRAP = 1 << POSITION_BITS
NOTHING = {"valid": 0, "first": 0, "last": 0}


def rows(first: int, last: int) -> dict:
    return {"valid": 1, "first": first, "last": last}


async def needs_of(ctx, dut: HazardTables, tails: dict, kind: Kind, *ranges: dict) -> dict:
    """Insert one operation; returns its needs."""
    ctx.set(dut.kind, kind)
    ctx.set(dut.ranges, [*ranges, *[NOTHING] * (hull_count(dut.config) - len(ranges))])
    ctx.set(dut.tails, {name: tail % WRAP for name, tail in tails.items()})
    ctx.set(dut.compare, 1)
    await ctx.tick()
    ctx.set(dut.compare, 0)
    ctx.set(dut.insert, 1)
    await ctx.tick()
    ctx.set(dut.insert, 0)
    tails[next(queue.name for queue in dut.queues if queue.kind == kind)] += 1
    return {name: ctx.get(dut.needs[name]) for name, _ in dut.needs.shape()}


@pytest.mark.parametrize("start", [0, WRAP - 2])
def test_an_operation_waits_for_the_youngest_conflict(start):
    dut = shared_design(HazardTables, CONFIG)

    async def testbench(ctx):
        tails = dict.fromkeys(QUEUES, start)
        for first in (0, 4, 0):
            await needs_of(ctx, dut, tails, Kind.LOAD, rows(first, first + 3))
        needs = await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(20, 20), rows(5, 6))
        assert needs["load_done"] == (start + 2) % WRAP
        needs = await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(20, 20), rows(3, 6))
        assert needs["load_done"] == (start + 3) % WRAP
        assert needs["execute_done"] == (start + 1 - CONFIG.execute_queue) % WRAP  # No conflict.
        needs = await needs_of(ctx, dut, tails, Kind.LOAD, rows(6, 6))
        assert needs["execute_reads"] == (start + 2) % WRAP
        needs = await needs_of(ctx, dut, tails, Kind.STORE, rows(18, 20))
        assert needs["execute_done"] == (start + 2) % WRAP
        needs = await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(19, 19))
        assert needs["store_reads"] == (start + 1) % WRAP

    simulate(dut, testbench)


def test_a_product_waits_for_one_whose_results_it_reads():
    dut = shared_design(HazardTables, CONFIG)

    async def testbench(ctx):
        tails, none = dict.fromkeys(QUEUES, 0), (1 - CONFIG.execute_queue) % WRAP
        await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(20, 23), rows(0, 3))
        # Results go to the same rows in order, without waiting for each other.
        needs = await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(20, 23), rows(0, 3))
        assert needs["execute_done"] == none
        needs = await needs_of(ctx, dut, tails, Kind.EXECUTE, rows(30, 33), rows(23, 26))
        assert needs["execute_done"] == 2

    simulate(dut, testbench)


def test_parameters_of_a_transform_are_read_until_it_is_done():
    config = CONFIG.with_values({"normalization": True, "statistics_rows": 16})
    dut = shared_design(HazardTables, config)

    async def testbench(ctx):
        tails, none = dict.fromkeys(QUEUES, 0), (-config.transform_queue) % WRAP
        ranges = [rows(10 * index, 10 * index + 3) for index in range(hull_count(config))]
        await needs_of(ctx, dut, tails, Kind.TRANSFORM, *ranges)
        source, residual, bias, scales = range(2, 6)
        for hull in (source, residual):
            needs = await needs_of(ctx, dut, tails, Kind.LOAD, rows(10 * hull, 10 * hull))
            assert (needs["transform_reads"], needs["transform_done"]) == (1, (1 + none) % WRAP)
        for hull in (bias, scales):
            needs = await needs_of(ctx, dut, tails, Kind.LOAD, rows(10 * hull, 10 * hull))
            assert (needs["transform_reads"], needs["transform_done"]) == ((1 + none) % WRAP, 1)
            other = rows(*[config.parameter_rows + 10 * hull] * 2)  # Of another memory.
            needs = await needs_of(ctx, dut, tails, Kind.LOAD, other)
            assert needs["transform_done"] == (1 + none) % WRAP

    simulate(dut, testbench)


PLACES = {
    Space.PARAMETER: Memories.PARAMETERS,
    Space.SCRATCHPAD: Memories.ROWS,
    Space.ACCUMULATOR: Memories.ROWS,
}


def random_ranges(config: AcceleratorConfig, queue: QueueTraits, rng: random.Random) -> list[dict]:
    """Rows that an operation of `queue` may name, often at an end of a memory."""
    ranges = []
    for memories in queue.memories:
        space = rng.choice([space for space, memory in PLACES.items() if memory in memories])
        base, count = space_base(config, space), space_rows(config, space)
        length = rng.choice([1, rng.randint(1, count // 4)])
        first = base + rng.choice([0, count - length, rng.randint(0, count - length)])
        ranges.append(rows(first, first + length - 1) if rng.random() < 0.7 else NOTHING)
    return ranges


def waits(new: QueueTraits, ranges: list[dict], old: QueueTraits, before: list[dict]) -> set[str]:
    """The events that an operation must wait for, because of one in front of it."""

    def meets(these: range, those: range, apart: bool = False) -> bool:
        pairs = ((one, other) for one in these for other in those if not (apart and one == other))
        return any(
            ranges[one]["valid"]
            and before[other]["valid"]
            and ranges[one]["first"] <= before[other]["last"]
            and before[other]["first"] <= ranges[one]["last"]
            for one, other in pairs
        )

    everything, written, early = range(new.hulls), range(old.writes), old.hulls - old.late
    if new.kind == old.kind:
        own = old.own_reads and meets(everything, written, apart=True)
        return {old.done} if own and old.done else set()
    events: set[str] = set()
    if old.done and (
        meets(everything, written) or meets(range(new.writes), range(early, old.hulls))
    ):
        events.add(old.done)
    if old.reads and meets(range(new.writes), range(old.writes, early)):
        events.add(old.reads)
    return events


@pytest.mark.parametrize("normalization", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_operations_wait_for_what_they_meet(normalization, seed):
    """In all memories, which are of different sizes."""
    config = CONFIG.with_values({"normalization": True, "statistics_rows": 16})
    config = config if normalization else CONFIG
    rng, dut = random.Random(seed), shared_design(HazardTables, config)

    async def testbench(ctx):
        tails: dict[str, int] = {}
        tails.update(dict.fromkeys(QUEUES, WRAP - 40 * seed))
        before: dict[str, list[list[dict]]] = {queue.name: [] for queue in dut.queues}
        met = set()
        for _ in range(250):
            queue = rng.choice(dut.queues)
            ranges = random_ranges(config, queue, rng)
            wanted = {}
            for old in dut.queues:
                depth, tail = old.depth(config), tails[old.name]
                wanted |= dict.fromkeys(old.events, tail - depth)
                for age, others in reversed([*enumerate(before[old.name][: -depth - 1 : -1])]):
                    found = waits(queue, ranges, old, others)
                    wanted |= dict.fromkeys(found, tail - age)
                    met |= {(queue.name, event) for event in found}
            needs = await needs_of(ctx, dut, tails, queue.kind, *ranges)
            assert needs == {event: need % WRAP for event, need in wanted.items()}
            before[queue.name].append(ranges)
        assert {event for _, event in met} == {event for q in dut.queues for event in q.events}

    simulate(dut, testbench)


@pytest.mark.parametrize("need", [0, 5, WRAP - 1])
def test_positions_compare_across_the_wrap(need):
    async def testbench(ctx):
        for ahead, wanted in ((-2 * WINDOW, 0), (-1, 0), (0, 1), (1, 1), (2 * WINDOW - 1, 1)):
            event = Const((need + ahead) % WRAP, POSITION_BITS)
            assert ctx.get(reached(event, Const(need, POSITION_BITS))) == wanted

    simulator = Simulator(Module())
    simulator.add_testbench(testbench)
    simulator.run()


def test_tags_are_close_within_the_window_and_across_the_wrap():
    bits, rng = 32, random.Random(0)
    olds = [0, 1, WINDOW - 1, WINDOW, 3 << 20, (1 << bits) - WINDOW, (1 << bits) - 1]
    aparts = [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 1, 2 * WINDOW, 1 << 31, -1]
    pairs = [(old, apart) for old in olds for apart in aparts]
    pairs += [(rng.getrandbits(bits), rng.randrange(2 * WINDOW)) for _ in range(100)]

    async def testbench(ctx):
        for old, apart in pairs:
            new = Const((old + apart) % (1 << bits), bits)
            assert ctx.get(close(new, Const(old, bits))) == (0 <= apart < WINDOW)

    simulator = Simulator(Module())
    simulator.add_testbench(testbench)
    simulator.run()
