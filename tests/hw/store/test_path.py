"""`StorePath` against a NumPy model of stores, with checked memory channels."""

import random
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.store.path import StorePath, StoreState
from celosia.isa.bert import NormCommand
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.numerics import relu, requantize_to, scale_from_bits, wrap32
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate
from tests.support.write_memory import WriteMemory

TINY, BASE = PRESETS["tiny"].with_values({"normalization": True}), PRESETS["base"]
NARROW = TINY.with_values({"dim": 2, "bus_bits": 512, "write_requests": 4})
WIDE = TINY.with_values({"dim": 64, "scratchpad_kib": 64, "accumulator_kib": 64})
EVEN = TINY.with_values({"dim": 8, "bus_bits": 64, "accumulator_kib": 16})
LIMITS = {"base": 0, "limit": (1 << 64) - 1}


class Locals:
    """Local memories with random contents, and the bytes that a store makes of them."""

    def __init__(self, config: AcceleratorConfig, seed: int):
        rng = np.random.default_rng(seed)
        self.config = config
        self.scratchpad = rng.integers(-128, 128, (config.scratchpad_rows, config.dim))
        shape = config.accumulator_rows, config.dim
        self.accumulator = rng.integers(-(1 << 31), 1 << 31, shape) >> rng.integers(0, 31, shape)
        shape = config.parameter_rows, config.dim
        self.parameters = rng.integers(-(1 << 31), 1 << 31, shape) >> rng.integers(0, 31, shape)

    def word(self, memory: str, row: int) -> int:
        """A row as the memory's port carries it."""
        narrow = memory == "scratchpad"
        elements = getattr(self, memory)[row].astype(np.int8 if narrow else np.int32)
        return int.from_bytes(elements.tobytes(), "little")

    def stored(self, op: dict) -> dict[int, int]:
        """The bytes that `op` writes."""
        written = {}
        for r in range(op["rows"]):
            blocks = [self._block(op, r, b) for b in range(-(-op["cols"] // self.config.dim))]
            content = np.concatenate(blocks)[: op["cols"]].tobytes()
            address = op["address"] + r * op["stride"]
            written |= {address + n: byte for n, byte in enumerate(content)}
        return written

    def _block(self, op: dict, r: int, b: int) -> np.ndarray:
        row = op["row"] + r + b * op["block_stride"]
        if op["space"] == Space.SCRATCHPAD:
            return self.scratchpad[row].astype(np.int8)
        x = self.accumulator[row]
        if op["bias"]:
            x = wrap32(x + self.parameters[op["bias_row"] + b])
        if op["full"]:
            return x.astype(np.int32)
        kind = np.int16 if op["int16"] else np.int8
        y = requantize_to(x, scale_from_bits(op["scale"]), kind)
        return relu(y) if op["relu"] else y


def store(config: AcceleratorConfig, **values) -> dict:
    """An operation with simple values for what is left out."""
    return {
        "address": 0x1000, "stride": 256, "rows": 1, "cols": config.dim, "space": Space.SCRATCHPAD,
        "row": 0, "block_stride": config.dim, "full": 0, "int16": 0, "relu": 0,
        "scale": float_bits(2.0**-12), "bias": 0, "bias_row": 0, "tag": 0,
    } | values  # fmt: skip


def random_stores(config: AcceleratorConfig, count: int, seed: int) -> list[dict]:
    """Stores of every kind, to places in memory that do not overlap."""
    rng, ops, address = random.Random(seed), [], 0x10000
    for tag in range(count):
        space = rng.choice([Space.SCRATCHPAD, Space.ACCUMULATOR, Space.ACCUMULATOR])
        full = rng.choice([0, 0, 1])  # Means nothing for the scratchpad.
        wide = full and space == Space.ACCUMULATOR
        int16 = space == Space.ACCUMULATOR and not full and rng.randrange(2)
        element = 4 if wide else 1 + int16
        most = config.dim * config.blocks_of(element)
        cols = rng.choice([1, most, config.dim, rng.randint(1, most), rng.randint(1, most)])
        size = cols * element
        rows, stride = rng.randint(1, 5), size + rng.choice([0, 1, rng.randrange(100)])
        blocks, block_stride = -(-cols // config.dim), rng.choice([1, config.dim])
        local_rows = (
            config.accumulator_rows if space == Space.ACCUMULATOR else config.scratchpad_rows
        )
        if rng.random() < 0.3:  # Across a page.
            address = (address // 4096 + 2) * 4096 - rng.randrange(1, size + 1)
        ops.append(
            store(
                config, address=address, stride=stride, rows=rows, cols=cols, space=space,
                row=rng.randrange(local_rows - rows - blocks * block_stride),
                block_stride=block_stride, full=full, int16=int16, relu=rng.randrange(2),
                tag=tag,
                scale=float_bits(rng.choice([-1, 1]) * 2.0 ** rng.uniform(-30, 0)),
                bias=rng.randrange(2), bias_row=rng.randrange(config.parameter_rows - blocks + 1),
            )
        )  # fmt: skip
        address += rows * stride + rng.randrange(200)
    return ops


@dataclass
class Run:
    """Runs operations, cycle by cycle, and notes when what happened."""

    config: AcceleratorConfig
    ops: list[dict]
    seed: int | None = None
    """Of stalls everywhere; none without."""
    limits: dict = field(default_factory=lambda: LIMITS)
    errors: tuple[int, ...] = ()
    halt_at: int | None = None
    aw_blocked_until: int = 0
    deadline: int = 3000

    granted: list[int] = field(default_factory=list)
    reads_done: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    faults: list[dict] = field(default_factory=list)
    states: list[StoreState] = field(default_factory=list)
    """Of each cycle."""
    taken: list[int] = field(default_factory=list)
    counted: int = 0
    cycles: int = 0

    def __post_init__(self) -> None:
        self.dut = shared_design(StorePath, self.config)
        self.locals = Locals(self.config, 0)
        self.memory = WriteMemory(self.config, seed=self.seed, errors=self.errors)
        self._rng = random.Random(self.seed)
        simulate(self.dut, self._bench, deadline=self.deadline + 10)

    def expected(self, ops: list[dict]) -> dict[int, int]:
        written = {}
        for op in ops:
            written |= self.locals.stored(op)
        return written

    def _coin(self) -> bool:
        return self.seed is None or self._rng.random() < 0.7

    async def _bench(self, ctx) -> None:
        dut, memory = self.dut, self.memory
        ports = {name: getattr(dut, name) for name in ("scratchpad", "accumulator", "parameters")}
        todo = list(self.ops)
        offered, quiet = False, 0
        delivery: dict[str, int | None] = dict.fromkeys(ports)
        ctx.set(dut.limits, self.limits)
        ctx.set(dut.parameters.ready, 1)
        signals = [dut.op.ready, dut.reads_done, dut.done, dut.fault, dut.idle, dut.write_bytes]
        signals += [dut.state, dut.empty]
        for port in ports.values():
            signals += [port.valid, port.row, port.ready]
        signals += memory.signals(dut.port)
        while quiet < 20:
            memory.ready[0] = self.cycles >= self.aw_blocked_until
            memory.drive(ctx, dut.port, self.cycles)
            ctx.set(dut.halt, self.halt_at is not None and self.cycles >= self.halt_at)
            if todo and not offered and self._coin():
                offered = True
                ctx.set(dut.op.valid, 1)
                ctx.set(dut.op.p, todo[0])
            for name in ("scratchpad", "accumulator"):
                ctx.set(ports[name].ready, self._coin())
            (
                _,
                _,
                ready,
                reads_done,
                done,
                fault,
                idle,
                count,
                state,
                empty,
                *rest,
            ) = await ctx.tick().sample(*signals)
            self.states.append(StoreState(state))
            for index, (name, port) in enumerate(ports.items()):
                row = delivery[name]
                noise = self._rng.getrandbits(8)  # When there is no row to deliver.
                ctx.set(port.data.as_value(), noise if row is None else self.locals.word(name, row))
                valid, row, granted = rest[3 * index : 3 * index + 3]
                delivery[name] = row if valid and granted else None
                if name != "parameters" and delivery[name] is not None:
                    self.granted.append(self.cycles)
            memory.step(self.cycles, rest[9:])
            stopped = self.faults or fault.valid or ctx.get(dut.halt)
            unanswered = memory.responses < len(memory.bursts)
            working = unanswered if stopped else len(self.taken) > len(self.done)
            assert empty == (len(self.taken) == len(self.done))
            assert not (idle and working)
            assert idle or working or stopped
            assert not stopped or not (offered and ready)
            assert not stopped or self.cycles not in self.granted
            if offered and ready:
                self.taken.append(self.cycles)
                todo.pop(0)
                offered = False
                ctx.set(dut.op.valid, 0)
            self.counted += count
            self.reads_done += [self.cycles] * reads_done
            self.done += [self.cycles] * done
            if fault.valid:
                self.faults.append({name: fault[name] for name in ("cause", "address", "tag")})
            quiet = quiet + 1 if idle and (stopped or not (todo or offered)) else 0
            self.cycles += 1


CASES = [(TINY, 12, 0), (TINY, 12, 1), (EVEN, 12, 0), (EVEN, 12, 1), (NARROW, 8, 0), (NARROW, 8, 1),
         (WIDE, 3, 0), (WIDE, 3, 1)]  # fmt: skip


@pytest.mark.parametrize(
    ("config", "count", "seed"), CASES, ids=[f"dim{c.dim}-bus{c.bus_bits}-{s}" for c, _, s in CASES]
)
def test_random_stores_reach_memory_under_stalls(config, count, seed):
    ops = random_stores(config, count, seed)
    run = Run(config, ops, seed=seed)
    assert run.memory.bytes == run.expected(ops)
    assert run.counted == len(run.memory.bytes)
    assert len(run.done) == len(run.reads_done) == len(ops)
    assert not run.faults
    assert run.memory.most_in_flight <= config.write_requests


KINDS = {
    "scratchpad": {"cols": 64},
    "accumulator": {"cols": 64, "space": Space.ACCUMULATOR, "bias": 1},
    "int16": {"cols": 32, "space": Space.ACCUMULATOR, "int16": 1},
    "full": {"cols": 16, "space": Space.ACCUMULATOR, "full": 1},
}


def beat_cycles(run: Run) -> list[int]:
    return [cycle for burst in run.memory.bursts for cycle in burst.beat_cycles]


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_bytes_leave_per_cycle_over_rows_and_operations(kind):
    ops = [store(BASE, address=0x1000 * (1 + n), rows=6, **KINDS[kind]) for n in range(3)]
    run = Run(BASE, ops)
    start, beats = StorePath.LATENCY, 18 * 4
    # The first operation is taken in cycle 0.
    assert beat_cycles(run) == [start + n for n in range(beats)]
    words = {"full": 4, "int16": 2}.get(kind, 1)
    assert run.granted == [1 + words * n for n in range(beats // words)]
    per_op = len(run.granted) // 3
    last_of_row = run.granted[per_op // 6 - 1]
    assert run.memory.bursts[0].offered == last_of_row + StorePath.ADDRESS_LATENCY
    assert run.reads_done == [run.granted[per_op * (n + 1) - 1] + 1 for n in range(3)]
    assert run.done == [beat_cycles(run)[24 * (n + 1) - 1] + 4 for n in range(3)]
    assert run.memory.bytes == run.expected(ops)


def test_what_it_does_is_told():
    """Stages, beats, what memory takes to answer; and what is in the way."""
    run = Run(TINY, [store(TINY, cols=4 * TINY.dim)])
    told = [(state, len(list(cycles))) for state, cycles in groupby(run.states)]
    first, *_, last = beat_cycles(run)
    answered = run.done[0] - 1  # When the response is there, it still has to be told.
    assert told[:5] == [
        (StoreState.IDLE, 2),
        (StoreState.STAGES, first - 1),
        (StoreState.DATA, 4),
        (StoreState.LATENCY, answered - last),
        (StoreState.STAGES, 1),
    ]
    slow = Run(BASE, [store(BASE, rows=40, cols=64)], aw_blocked_until=200)
    assert slow.states.count(StoreState.BANDWIDTH) > 150
    stalled = Run(TINY, random_stores(TINY, 4, 0), seed=0)
    assert StoreState.BANK in stalled.states


def test_an_unaligned_row_takes_no_more_cycles_than_it_has_beats():
    ops = [store(BASE, address=0x1005 + 0x1000 * n, rows=8, cols=64, stride=80) for n in range(2)]
    run = Run(BASE, ops)
    assert beat_cycles(run) == [StorePath.LATENCY + n for n in range(16 * 5)]


def test_a_slow_memory_does_not_stop_reads_before_the_buffer_is_full():
    ops = [store(BASE, rows=40, cols=64, **{"space": Space.ACCUMULATOR})]
    run = Run(BASE, ops, aw_blocked_until=200)
    early = [cycle for cycle in run.granted if cycle < 200]
    assert early == [1 + n for n in range(len(early))]
    assert len(early) >= 64
    assert run.memory.bytes == run.expected(ops)


@pytest.mark.parametrize("seed", range(3))
def test_a_store_outside_the_limits_is_a_fault(seed):
    ops = random_stores(TINY, 8, seed)
    bad = ops[4]
    inside = {"base": 0, "limit": bad["address"] + (bad["rows"] - 1) * bad["stride"] - 1}
    run = Run(TINY, ops, seed=seed, limits=inside)
    [fault] = run.faults
    assert (fault["cause"], fault["tag"]) == (Cause.WRITE_LIMIT, 4)
    assert max(run.memory.bytes) <= inside["limit"]
    expected = run.expected(ops[:5])
    assert all(expected[address] == byte for address, byte in run.memory.bytes.items())
    assert set(run.expected(ops[:4])) <= set(run.memory.bytes)
    assert len(run.done) <= 4
    assert run.memory.responses == len(run.memory.bursts) == run.memory.written


def test_a_store_below_the_base_is_a_fault():
    ops = random_stores(TINY, 1, 5)
    base = ops[0]["address"] + 1
    run = Run(TINY, ops, seed=5, limits=LIMITS | {"base": base})
    assert [fault["cause"] for fault in run.faults] == [Cause.WRITE_LIMIT]
    assert min(run.memory.bytes, default=base) >= base


@pytest.mark.parametrize("seed", range(3))
def test_after_an_error_response_or_halt_it_comes_to_rest(seed):
    ops = random_stores(TINY, 8, seed)
    failed = Run(TINY, ops, seed=seed, errors=(3,))
    assert [fault["cause"] for fault in failed.faults] == [Cause.WRITE_RESPONSE]
    halted = Run(TINY, ops, seed=seed, halt_at=60 + 10 * seed)
    assert not halted.faults
    for run in (failed, halted):
        expected = run.expected(ops)
        assert all(expected[address] == byte for address, byte in run.memory.bytes.items())
        assert 0 < len(run.memory.bytes) < len(expected)
        assert run.memory.responses == len(run.memory.bursts) == run.memory.written
        assert len(run.done) < len(ops)


def test_under_halt_no_operation_is_taken():
    run = Run(TINY, [store(TINY)], halt_at=0)
    assert run.cycles >= 20
    assert not run.taken


def test_a_norm_command_writes_nothing_and_is_alone():
    config = TINY.with_values({"bert": True})
    passing = {"passes": 1, "command": NormCommand.MAX.value}
    norm = store(config, space=Space.ACCUMULATOR, rows=3, passing=passing)
    ops = [store(config), norm, store(config, address=0x2000)]
    run = Run(config, ops)
    assert run.memory.bytes == run.expected([ops[0], ops[2]])
    assert len(run.done) == len(run.reads_done) == 3
    assert run.taken[1] > run.done[0]
    assert run.taken[2] > run.done[1]
