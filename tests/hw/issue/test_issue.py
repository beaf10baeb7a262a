"""`Issue`: no conflicting pair runs out of order, everything runs, fences and errors drain."""

import random
from dataclasses import dataclass, field

import pytest

from celosia.hw.decode.decoder import Kind, hull_count
from celosia.hw.issue.issue import Issue
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import Cause
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, send, simulate, sometimes

CONFIG = AcceleratorConfig(
    dim=4, scratchpad_kib=1, accumulator_kib=1, load_queue=4, execute_queue=4, store_queue=2
)
QUEUES = (Kind.LOAD, Kind.EXECUTE, Kind.STORE)
ROWS = 12
"""Few rows, so that many operations conflict."""


@dataclass
class Operation:
    """An operation of the test, and what has become of it."""

    tag: int
    kind: Kind
    ranges: list[range]
    events: set[str] = field(default_factory=set)

    @property
    def writes(self) -> list[range]:
        return [] if self.kind == Kind.STORE else self.ranges[:1]

    @property
    def reads(self) -> list[range]:
        return self.ranges if self.kind == Kind.STORE else self.ranges[1:]

    def payload(self) -> dict:
        ranges = [{"valid": 1, "first": r[0], "last": r[-1]} for r in self.ranges]
        ranges += [{"valid": 0, "first": 0, "last": 0}] * (hull_count(CONFIG) - len(ranges))
        payload = {"kind": self.kind, "tag": self.tag, "ranges": ranges}
        return payload | {kind.name.lower(): {"tag": self.tag} for kind in QUEUES}


def meet(ones: list[range], others: list[range]) -> bool:
    return any(max(a[0], b[0]) <= min(a[-1], b[-1]) for a in ones for b in others)


def must_wait(new: Operation, old: Operation) -> bool:
    """Whether `new` must not start in the present state of the older `old`."""
    if new.kind == old.kind != Kind.EXECUTE:
        return False
    if "done" not in old.events:
        same = new.kind == old.kind
        if meet(new.reads, old.writes) or (not same and meet(new.writes, old.writes)):
            return True
    return new.kind != old.kind and "reads" not in old.events and meet(new.writes, old.reads)


def random_operation(tag: int, rng: random.Random) -> Operation:
    kind = rng.choice(QUEUES)
    hulls = {Kind.LOAD: 1, Kind.EXECUTE: hull_count(CONFIG), Kind.STORE: 2}[kind]
    firsts = [rng.randrange(ROWS) for _ in range(hulls)]
    return Operation(tag, kind, [range(n, n + rng.randint(1, 2)) for n in firsts])


async def controller(ctx, dut: Issue, kind: Kind, operations: dict[int, Operation], rng) -> None:
    """Accept operations, at times several at once, and finish them in order."""
    port = getattr(dut, kind.name.lower())
    running: list[Operation] = []
    reading: list[Operation] = []
    name = kind.name.lower()
    while True:
        ready = len(running) < 2 and rng.random() < 0.5
        ctx.set(port.ready, ready)
        reads_end = bool(reading) and rng.random() < 0.3
        ends = bool(running) and running[0] not in reading and rng.random() < 0.3
        if kind == Kind.STORE:  # Over for the queue once it has read.
            ctx.set(dut.finished.store_reads, reads_end)
        elif kind == Kind.EXECUTE:
            ctx.set(dut.finished.execute_reads, reads_end)
        if kind != Kind.STORE:
            ctx.set(dut.finished[f"{name}_done"], ends)
        _, _, valid, tag = await ctx.tick().sample(port.valid, port.p.tag)
        if reads_end:
            reading.pop(0).events.add("reads")
        if ends:
            running.pop(0).events.add("done")
        if valid and ready:
            operation = operations[tag]
            for old in operations.values():
                assert old.tag >= tag or not must_wait(operation, old), (operation, old)
            operation.events.add("started")
            running.append(operation)
            if kind != Kind.LOAD:
                reading.append(operation)


@pytest.mark.parametrize("seed", range(4))
def test_conflicting_operations_keep_their_order(seed):
    rng = random.Random(seed)
    operations = {tag: random_operation(tag, rng) for tag in range(150)}
    dut = shared_design(Issue, CONFIG)

    async def producer(ctx):
        payloads = [operation.payload() for operation in operations.values()]
        await send(ctx, dut.i, payloads, never if seed % 2 else sometimes(seed))
        while any("started" not in operation.events for operation in operations.values()):
            await ctx.tick()

    def worker(kind: Kind):
        async def run(ctx):
            await controller(ctx, dut, kind, operations, random.Random(seed + kind.value))

        return run

    simulate(dut, producer, background=[worker(kind) for kind in QUEUES])


def independent(kind: Kind, count: int) -> list[dict]:
    return [Operation(tag, kind, [range(tag, tag + 1)]).payload() for tag in range(count)]


def test_takes_an_operation_every_two_cycles_and_delivers_it_three_cycles_later():
    dut, count, arrivals, taken = shared_design(Issue, CONFIG), 4, [], []

    async def producer(ctx):
        await send(ctx, dut.i, independent(Kind.LOAD, count), never)

    async def consumer(ctx):
        ctx.set(dut.load.ready, 1)
        for cycle in range(20):
            if ctx.get(dut.i.valid) and ctx.get(dut.i.ready):
                taken.append(cycle)
            if ctx.get(dut.load.valid):
                arrivals.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert taken == [1 + 2 * n for n in range(count)]
    assert arrivals == [4 + 2 * n for n in range(count)]


def test_a_full_queue_holds_operations_outside():
    dut, count = shared_design(Issue, CONFIG), 8

    async def producer(ctx):
        await send(ctx, dut.i, independent(Kind.STORE, count), never)

    async def consumer(ctx):
        ctx.set(dut.store.ready, 1)
        await ctx.tick().repeat(20)
        assert ctx.get(dut.queued.store) == CONFIG.store_queue
        for _ in range(count):
            ctx.set(dut.finished.store_reads, 1)
            await ctx.tick()
            ctx.set(dut.finished.store_reads, 0)
            await ctx.tick().repeat(8)
        assert ctx.get(dut.queued.store) == 0
        assert ctx.get(dut.idle)

    simulate(dut, producer, consumer)


@pytest.mark.parametrize("kind", [Kind.FENCE, Kind.ERROR])
def test_fences_and_errors_wait_until_everything_is_over(kind):
    dut = shared_design(Issue, CONFIG)

    async def testbench(ctx):
        await send(ctx, dut.i, independent(Kind.LOAD, 2))
        ctx.set(dut.load.ready, 1)
        ctx.set(dut.i.payload, {"kind": kind, "cause": Cause.SHAPE, "tag": 7})
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.paths_idle, 1)
        for number in range(20):
            await ctx.tick()
            # One of the two ends.
            ctx.set(dut.finished.load_done, number == 9)
            assert not ctx.get(dut.i.ready)
        ctx.set(dut.finished.load_done, 1)
        ctx.set(dut.paths_idle, 0)
        await ctx.tick()
        ctx.set(dut.finished.load_done, 0)
        for _ in range(3):
            await ctx.tick()
            assert not ctx.get(dut.i.ready)
        ctx.set(dut.paths_idle, 1)
        assert ctx.get(dut.i.ready)
        assert ctx.get(dut.fault.valid) == (kind == Kind.ERROR)
        assert ctx.get(dut.fault.tag) == (7 if kind == Kind.ERROR else 0)

    simulate(dut, testbench)


def test_a_fence_waits_for_what_is_taken_while_the_last_one_ends():
    dut = shared_design(Issue, CONFIG)

    async def testbench(ctx):
        first, second = independent(Kind.LOAD, 2)
        await send(ctx, dut.i, [first])
        ctx.set(dut.load.ready, 1)
        await ctx.tick().repeat(5)
        ctx.set(dut.i.payload, second)
        ctx.set(dut.i.valid, 1)
        await ctx.tick()
        assert ctx.get(dut.i.ready)  # It is inserted in this cycle.
        ctx.set(dut.finished.load_done, 1)
        await ctx.tick()
        ctx.set(dut.finished.load_done, 0)
        ctx.set(dut.i.payload, {"kind": Kind.FENCE})
        ctx.set(dut.paths_idle, 1)
        for _ in range(10):
            assert not ctx.get(dut.i.ready)
            await ctx.tick()
        ctx.set(dut.finished.load_done, 1)
        await ctx.tick()
        assert ctx.get(dut.i.ready)

    simulate(dut, testbench)


def test_a_halt_starts_nothing():
    dut = shared_design(Issue, CONFIG)

    async def testbench(ctx):
        await send(ctx, dut.i, independent(Kind.LOAD, 1))
        ctx.set(dut.halt, 1)
        ctx.set(dut.load.ready, 1)
        ctx.set(dut.i.valid, 1)
        for _ in range(10):
            await ctx.tick()
            assert not ctx.get(dut.load.valid)
            assert not ctx.get(dut.i.ready)

    simulate(dut, testbench)


def test_waits_name_the_queue():
    dut = shared_design(Issue, CONFIG)
    load = Operation(0, Kind.LOAD, [range(4)])
    product = Operation(1, Kind.EXECUTE, [range(8, 9), range(2, 3)])

    async def testbench(ctx):
        await send(ctx, dut.i, [load.payload(), product.payload()])
        ctx.set(dut.load.ready, 1)
        await ctx.tick().repeat(8)
        assert ctx.get(dut.waits.execute.load)
        assert not ctx.get(dut.waits.execute.store)
        assert not ctx.get(dut.waits.execute.controller)  # Its controller is not even asked.
        assert not ctx.get(dut.execute.valid)
        ctx.set(dut.finished.load_done, 1)
        await ctx.tick()
        ctx.set(dut.finished.load_done, 0)
        assert ctx.get(dut.execute.valid)
        assert ctx.get(dut.waits.execute.controller)

    simulate(dut, testbench)


def test_what_a_product_waits_for_of_a_transform_is_named_by_its_function():
    config = CONFIG.with_values({"normalization": True, "statistics_rows": 16})
    dut = shared_design(Issue, config)
    places = [(Kind.TRANSFORM, first, first + 40) for first in (0, 10, 20, 30)]
    places += [(Kind.EXECUTE, 90, 20), (Kind.EXECUTE, 50, 95)]  # Reads a result; writes a source.
    payloads = []
    for tag, (kind, written, read) in enumerate(places):
        ranges = [{"valid": 0, "first": 0, "last": 0}] * hull_count(config)
        for hull, row in ((0, written), (2, read)):
            ranges[hull] = {"valid": 1, "first": row, "last": row}
        payloads.append({
            "kind": kind,
            "tag": tag,
            "ranges": ranges,
            "transform": {"function": tag + 5},
        })

    async def end(ctx, event: str, count: int):
        ctx.set(dut.finished[event], 1)
        await ctx.tick().repeat(count)
        ctx.set(dut.finished[event], 0)

    async def testbench(ctx):
        ctx.set(dut.transform.ready, 1)
        ctx.set(dut.execute.ready, 1)
        await send(ctx, dut.i, payloads[:5])
        await ctx.tick().repeat(8)
        assert ctx.get(dut.waits.execute.transform)
        assert ctx.get(dut.awaited) == 2 + 5
        await end(ctx, "transform_reads", 1)
        await end(ctx, "transform_done", 3)
        await ctx.tick()
        await send(ctx, dut.i, payloads[5:])
        await ctx.tick().repeat(3)
        assert ctx.get(dut.waits.execute.transform)
        assert ctx.get(dut.awaited) == 1 + 5

    simulate(dut, testbench)


def test_an_operation_is_held_from_its_acceptance_until_it_starts():
    dut, held, full = shared_design(Issue, CONFIG), [], []

    async def producer(ctx):
        await send(ctx, dut.i, independent(Kind.LOAD, 1), never)

    async def consumer(ctx):
        for cycle in range(12):
            ctx.set(dut.load.ready, cycle >= 8)
            held.append([ctx.get(dut.held[queue]) for queue in ("load", "execute", "store")])
            full.append(ctx.get(dut.full))
            await ctx.tick()

    simulate(dut, producer, consumer)
    # It is taken in cycle 1, and starts in cycle 8.
    assert held == [[0, 0, 0], *[[1, 0, 0]] * 8, *[[0, 0, 0]] * 3]
    assert not any(full[1:])


def test_full_is_told_of_operations_that_wait_for_a_place_alone():
    """Two stores have one; a third waits, but neither a load nor a fence."""
    dut = shared_design(Issue, CONFIG)
    stores = independent(Kind.STORE, 3)

    async def testbench(ctx):
        await send(ctx, dut.i, stores[:2])
        await ctx.tick().repeat(4)
        assert not ctx.get(dut.full)
        others = [independent(Kind.LOAD, 1)[0], {"kind": Kind.FENCE, "tag": 9}]
        for payload, full in ((stores[2], 1), *((other, 0) for other in others)):
            ctx.set(dut.i.payload, payload)
            ctx.set(dut.i.valid, 1)
            for _ in range(3):
                assert ctx.get(dut.full) == full
                if ctx.get(dut.i.ready):
                    ctx.set(dut.i.valid, 0)
                await ctx.tick()
        ctx.set(dut.i.valid, 0)

    simulate(dut, testbench)
