"""`LoadPath`: whole loads, from a memory on the bus to rows in the local memories."""

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from celosia.hw.bus.bursts import max_segment_bytes
from celosia.hw.decode.ops import Space
from celosia.hw.load.path import LoadPath, LoadState
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.numerics import mvin_scale, scale_from_bits
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from tests.hw.load.read_memory import ReadMemory, bytes_at
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
CONFIGS = {
    "tiny": TINY,
    "base": BASE,
    "dim2-bus512": TINY.with_values({"dim": 2, "bus_bits": 512, "load_queue": 2}),
    "dim64-bus32": AcceleratorConfig(dim=64, bus_bits=32, read_requests=2),
    "dim4-bus128": TINY.with_values({"bus_bits": 128, "read_requests": 4}),
    "dim32-bus64": AcceleratorConfig(dim=32, bus_bits=64),
}
ONE = float_bits(1.0)
TOP = 1 << 64
EVERYTHING = {"base": 0, "limit": TOP - 1}
SPACES = {
    Space.SCRATCHPAD: "scratchpad",
    Space.ACCUMULATOR: "accumulator",
    Space.PARAMETER: "parameters",
}

Local = dict[tuple[Space, int, int], int]
"""Element (row, column) of a local memory; what was never written is not there."""


def load(**fields) -> dict:
    """A `LoadOp`: one row of nothing, unless `fields` say otherwise."""
    default = {"address": 0, "stride": 0, "rows": 1, "cols": 0, "space": Space.SCRATCHPAD, "row": 0}
    flags = {"block_stride": 1, "zero": 0, "accumulate": 0, "shrunk": 0, "scale": ONE, "tag": 0}
    return default | flags | fields


def apply(config: AcceleratorConfig, op: dict, local: Local) -> None:
    """The definition of a load."""
    dtype = np.dtype("i1" if element_bytes(op) == 1 else "<i4")
    for r in range(op["rows"]):
        address = (op["address"] + r * op["stride"]) % TOP
        data = bytes_at(address, op["cols"] * dtype.itemsize)
        elements = np.frombuffer(data, dtype)
        if op["zero"]:
            elements = np.zeros_like(elements)
        elif dtype.itemsize == 1:
            elements = mvin_scale(elements, scale_from_bits(op["scale"]))
        for c, element in enumerate(elements.tolist()):
            row = op["row"] + r + c // config.dim * op["block_stride"]
            added = op["accumulate"] and op["space"] == Space.ACCUMULATOR
            write(local, (op["space"], row, c % config.dim), element, added)


def write(local: Local, place: tuple[Space, int, int], element: int, added: bool) -> None:
    """One element into a local memory; adding wraps at 32 bits."""
    if added:
        element += local.get(place, 0)
        element = (element + (1 << 31)) % (1 << 32) - (1 << 31)
    local[place] = element


def element_bytes(op: dict) -> int:
    """Of one element in memory."""
    narrow = op["space"] == Space.SCRATCHPAD or (op["space"] == Space.ACCUMULATOR and op["shrunk"])
    return 1 if narrow else 4


@dataclass
class Bench:
    """A `LoadPath` between a memory and local memories, all of which may stall."""

    config: AcceleratorConfig
    ops: list[dict]
    stall: float = 0.0
    seed: int = 0
    latency: int = 1
    limits: dict = field(default_factory=lambda: EVERYTHING)
    halt_cycle: int | None = None
    local: Local = field(default_factory=dict)
    op_cycles: list[int] = field(default_factory=list)
    write_cycles: list[int] = field(default_factory=list)
    done_cycles: list[int] = field(default_factory=list)
    faults: list[tuple] = field(default_factory=list)
    rest_cycle: int | None = None
    read_bytes: int = 0
    states: set[LoadState] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.dut = shared_design(LoadPath, self.config)
        self.memory = ReadMemory(
            self.config, self.dut.port, latency=self.latency, stall=self.stall, seed=self.seed
        )
        self.rng = random.Random(self.seed)

    def run(self, deadline: int = 20_000) -> "Bench":
        """Until every load is done or, after an error, until the path is idle; and a bit longer."""
        simulate(self.dut, self.memory.run, self._drive, deadline=deadline)
        return self

    async def _drive(self, ctx) -> None:
        dut, todo, offered = self.dut, list(self.ops), None
        ctx.set(dut.limits, self.limits)
        cycle, rest = 0, 50
        while rest:
            if todo and not ctx.get(dut.op.valid) and self.rng.random() >= self.stall:
                ctx.set(dut.op.payload, todo[0])
                ctx.set(dut.op.valid, 1)
            for port in (dut.scratchpad, dut.accumulator):
                ctx.set(port.ready, self.rng.random() >= self.stall)
            ctx.set(dut.halt, cycle == self.halt_cycle)
            offered = self._local(ctx, cycle, offered)
            _, _, op_taken, done, fault, empty, idle, read_bytes, state = await ctx.tick().sample(
                dut.op.valid & dut.op.ready,
                dut.done,
                dut.fault,
                dut.empty,
                dut.idle,
                dut.read_bytes,
                dut.state,
            )
            if op_taken:
                todo.pop(0)
                self.op_cycles.append(cycle)
                ctx.set(dut.op.valid, 0)
            if done:
                self.done_cycles.append(cycle)
            if fault.valid:
                self.faults.append((fault.cause, fault.address, fault.tag))
            self.read_bytes += read_bytes
            self.states.add(LoadState(state))
            halted = self.halt_cycle is not None and cycle >= self.halt_cycle
            stopped = bool(self.faults) or halted
            busy = len(self.op_cycles) - len(self.done_cycles)
            assert empty == (not busy - op_taken + done), f"empty, cycle {cycle}"
            assert idle == empty or stopped, f"idle, cycle {cycle}"
            ended = idle if stopped else len(self.done_cycles) == len(self.ops)
            rest -= bool(ended)
            if stopped and idle and self.rest_cycle is None:
                self.rest_cycle = cycle
            assert idle or self.rest_cycle is None, "idle, then not"
            cycle += 1
        self.memory.finished = True

    def _local(self, ctx, cycle: int, offered: tuple | None) -> tuple | None:
        """Look at the ports of the local memories; returns an offer that is not accepted."""
        offers = [s for s, name in SPACES.items() if ctx.get(getattr(self.dut, name).valid)]
        if not offers:
            assert offered is None, "offer withdrawn"
            return None
        (space,) = offers
        port = getattr(self.dut, SPACES[space])
        offer = space, ctx.get(port.payload.as_value())
        assert offered in {None, offer}, "offer changed"
        if not ctx.get(port.ready):
            return offer
        self.write_cycles.append(cycle)
        payload = ctx.get(port.payload)
        for column in range(self.config.dim):
            if payload.mask >> column & 1:
                element = payload.data[column]
                if space == Space.SCRATCHPAD:
                    element = (element + 128) % 256 - 128
                added = space == Space.ACCUMULATOR and payload.accumulate
                write(self.local, (space, payload.row, column), element, added)
        return None

    def expected(self, count: int | None = None) -> Local:
        """What the first `count` loads (all, if not given) leave in the local memories."""
        local: Local = {}
        for op in self.ops[:count]:
            apply(self.config, op, local)
        return local


def random_load(config: AcceleratorConfig, rng: random.Random, tag: int) -> dict:
    """Any legal load, small, often near a page boundary."""
    space = rng.choice(list(Space))
    address = rng.choice([4096, 8192, TOP // 2]) + rng.randrange(-300, 60)
    fields = {"address": address, "space": space, "tag": tag, "zero": rng.random() < 0.1}
    if space == Space.PARAMETER:
        cols = rng.choice([1, config.dim, rng.randint(1, 3 * max_segment_bytes(config) // 4)])
        return load(cols=cols, row=rng.randrange(config.parameter_rows // 2), **fields)
    shrunk = space == Space.ACCUMULATOR and rng.random() < 0.5
    words = space == Space.ACCUMULATOR and not shrunk
    most = config.dim * (config.max_accumulator_blocks if words else config.max_blocks)
    cols = rng.choice([1, config.dim, most, rng.randint(1, most)])
    return load(
        rows=rng.randint(1, 4),
        cols=cols,
        stride=rng.choice([0, most, 77, TOP - 100]),
        row=rng.randrange(64),
        block_stride=rng.choice([1, 4, config.dim]),
        accumulate=rng.getrandbits(1),
        shrunk=shrunk,
        scale=rng.choice([ONE, float_bits(0.37), float_bits(-1.5)]),
        **fields,
    )


def random_loads(config: AcceleratorConfig, count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    return [random_load(config, rng, tag) for tag in range(count)]


@pytest.mark.parametrize(("name", "count"), [("tiny", 30), ("base", 20), ("dim2-bus512", 15)])
@pytest.mark.parametrize("seed", range(2))
def test_any_loads(name, count, seed):
    check_any_loads(CONFIGS[name], count, stall=0.4 * seed, seed=seed)


@pytest.mark.parametrize(
    ("name", "count"), [("dim64-bus32", 8), ("dim4-bus128", 20), ("dim32-bus64", 10)]
)
def test_any_loads_of_odd_configurations(name, count):
    check_any_loads(CONFIGS[name], count, stall=0.3, seed=3)


def check_any_loads(config: AcceleratorConfig, count: int, stall: float, seed: int) -> None:
    bench = Bench(config, random_loads(config, count, seed), stall=stall, seed=seed).run()
    assert bench.local == bench.expected()
    assert not bench.faults
    assert bench.memory.most_in_flight <= config.read_requests
    useful = [op for op in bench.ops if not op["zero"]]
    assert bench.read_bytes == sum(op["rows"] * op["cols"] * element_bytes(op) for op in useful)


def rows_of(config: AcceleratorConfig, rows: int, cols: int, count: int, **fields) -> list[dict]:
    """`count` equal loads of consecutive rows, one after the other."""
    row_bytes = cols * element_bytes(load(**fields))
    return [
        load(
            address=0x10000 + fields.get("offset", 0) + 4096 * number,
            stride=-(-row_bytes // 64) * 64,
            rows=rows,
            cols=cols,
            row=rows * number,
            block_stride=rows * count,
            **{name: value for name, value in fields.items() if name != "offset"},
        )
        for number in range(count)
    ]


WORDS = {"space": Space.ACCUMULATOR}
BYTES = {"scale": float_bits(0.5)}


@pytest.mark.parametrize(
    ("name", "cols", "beats_per_row", "fields"),
    [
        pytest.param("base", 64, 4, BYTES, id="four-blocks"),
        pytest.param("base", 64, 5, BYTES | {"offset": 3}, id="four-blocks-unaligned"),
        pytest.param("base", 16, 1, BYTES, id="a-beat-per-row"),
        pytest.param("base", 31, 2, BYTES | {"offset": 1}, id="ragged-unaligned"),
        pytest.param("base", 16, 4, WORDS, id="words"),
        pytest.param("base", 16, 5, WORDS | {"offset": 5}, id="words-unaligned"),
        pytest.param("base", 64, 4, WORDS | {"shrunk": 1}, id="shrunk"),
        pytest.param("tiny", 64, 16, BYTES, id="tiny"),
        pytest.param("tiny", 64, 17, BYTES | {"offset": 3}, id="tiny-unaligned"),
        pytest.param("dim4-bus128", 4, 1, WORDS, id="words-as-wide-as-a-beat"),
        pytest.param(
            "dim32-bus64", 32, 17, WORDS | {"offset": 4}, id="two-bursts-per-row-unaligned"
        ),
    ],
)
def test_a_beat_is_taken_every_cycle(name, cols, beats_per_row, fields):
    bench = Bench(CONFIGS[name], rows_of(CONFIGS[name], 16 if cols < 64 else 8, cols, 3, **fields))
    beats = bench.run().memory.beat_cycles
    rows = sum(op["rows"] for op in bench.ops)
    extra = rows if name == "dim32-bus64" else 0  # A beat with bytes of two bursts comes twice.
    assert len(beats) == rows * beats_per_row + extra
    assert beats[-1] - beats[0] == len(beats) - 1
    assert bench.local == bench.expected()


def test_latencies_are_as_documented():
    for op in (load(address=64, rows=1, cols=16), load(address=60, rows=1, cols=16)):
        bench = Bench(BASE, [op], latency=7).run()
        assert bench.memory.request_cycles == [bench.op_cycles[0] + LoadPath.ADDRESS_LATENCY]
        assert bench.write_cycles == [bench.memory.beat_cycles[-1] + LoadPath.ROW_LATENCY]
        assert bench.done_cycles == bench.write_cycles


def test_one_address_leaves_per_cycle_until_all_requests_are_in_flight():
    bench = Bench(BASE, rows_of(BASE, 16, 16, 4), latency=100).run()
    first = bench.memory.request_cycles[0]
    cycles = bench.memory.request_cycles[: BASE.read_requests]
    assert cycles == list(range(first, first + BASE.read_requests))
    assert bench.memory.most_in_flight == BASE.read_requests
    assert {LoadState.LATENCY, LoadState.REQUESTS} <= bench.states


def test_zeros_are_not_read():
    loads = [op | {"zero": 1, "address": 0} for op in rows_of(BASE, 8, 64, 3)]
    bench = Bench(BASE, loads).run()
    assert bench.local == bench.expected()
    assert not bench.memory.requests
    assert bench.write_cycles[-1] - bench.write_cycles[0] == len(bench.write_cycles) - 1


def test_a_load_of_nothing_is_done_in_its_turn():
    some = load(address=64, rows=2, cols=5)
    for nothing in (some | {"rows": 0}, some | {"cols": 0}, load(space=Space.PARAMETER)):
        bench = Bench(TINY, [some, nothing, some | {"row": 9}]).run()
        assert bench.local == bench.expected()
        assert len(bench.done_cycles) == 3


def test_reads_within_inclusive_limits_pass():
    limits = {"base": 0x1000, "limit": 0x1000 + 2 * 64 - 1}
    bench = Bench(BASE, [load(address=0x1000, stride=64, rows=2, cols=64)], limits=limits).run()
    assert bench.local == bench.expected()
    assert not bench.faults


@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize(
    ("address", "rows", "outside", "requests"),
    [
        pytest.param(0x1000 - 1, 2, 0x1000 - 1, 0, id="one-byte-below"),
        pytest.param(0x2000 + 1, 2, 0x2000 + 1 + 64, 1, id="one-byte-above"),
        pytest.param(0x2000 + 256, 1, 0x2000 + 256, 0, id="above"),
        pytest.param(0x2000 - 20, 3, 0x2000 + 108, 3, id="after-a-page-boundary"),
    ],
)
def test_a_read_outside_the_limits_ends_everything(address, rows, outside, requests, stall):
    good = load(address=0x1100, stride=64, rows=3, cols=64, tag=7)
    bad = load(address=address, stride=64, rows=rows, cols=64, row=400, tag=8)
    bench = Bench(BASE, [good, bad, good | {"row": 900}], stall=stall, seed=3)
    bench.limits = {"base": 0x1000, "limit": 0x2000 + 127}
    bench.run()
    assert bench.faults == [(Cause.READ_LIMIT, outside, 8)]
    assert len(bench.done_cycles) == 1
    assert len(bench.memory.requests) == 3 + requests
    whole = [op | {"rows": (outside - address) // 64} for op in (bad,)]
    assert bench.local == Bench(BASE, [good, *whole]).expected()


def test_a_run_whose_second_burst_is_outside_is_a_fault():
    bad = load(address=0x2000 - 32, rows=1, cols=64, tag=5)
    bench = Bench(BASE, [bad], limits={"base": 0, "limit": 0x2000}).run()
    assert bench.faults == [(Cause.READ_LIMIT, 0x2000, 5)]
    assert bench.memory.requests == [(0x2000 - 32, 2)]
    assert bench.local == Bench(BASE, [bad | {"cols": 32}]).expected()


@pytest.mark.parametrize("name", ["base", "tiny", "dim2-bus512"])
@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_an_error_response_ends_everything(name, stall):
    config = CONFIGS[name]
    good = load(address=0x1000, stride=64, rows=2, cols=config.dim, tag=1)
    bad = load(address=0x1FC0 + 3, stride=64, rows=8, cols=config.dim, row=100, tag=2)
    bench = Bench(config, [good, bad, good | {"row": 9}], stall=stall, seed=5, latency=9)
    bench.memory.broken = lambda address: address // 64 == 0x2040 // 64
    bench.run()
    assert bench.faults == [(Cause.READ_RESPONSE, 0x2043, 2)]
    assert len(bench.done_cycles) == 1
    assert bench.local == Bench(config, [good, bad | {"rows": 2}]).expected()


def test_an_error_response_comes_before_a_later_read_outside_the_limits():
    bad = load(address=0x1000, stride=64, rows=8, cols=64, tag=3)
    bench = Bench(BASE, [bad], limits={"base": 0, "limit": 0x10FF}, latency=30)
    bench.memory.broken = lambda address: address == 0x1090
    bench.run()
    assert bench.faults == [(Cause.READ_RESPONSE, 0x1080, 3)]
    assert len(bench.memory.requests) == 4


@pytest.mark.parametrize("cycle", range(2, 42, 4))
def test_halt_ends_everything(cycle):
    bench = Bench(TINY, random_loads(TINY, 6, seed=4), stall=0.3, seed=cycle, halt_cycle=cycle)
    bench.run()
    assert not bench.faults
    on_offer = 1
    assert sum(later > cycle for later in bench.memory.request_cycles) <= on_offer
    assert sum(later > cycle for later in bench.write_cycles) <= on_offer
    assert not any(later >= cycle for later in bench.op_cycles)
    assert bench.rest_cycle is not None
    last = max([*bench.memory.request_cycles, *bench.memory.beat_cycles], default=-1)
    assert last < max(bench.rest_cycle, 1)
