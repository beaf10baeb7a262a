"""`ExecutePath` with its memories against the functional machine."""

import random

import numpy as np
import pytest
from amaranth import Module
from amaranth.hdl import Elaboratable
from amaranth.lib.wiring import connect

from celosia.hw.execute.path import ArrayState, ExecutePath
from celosia.hw.memory.accumulator import Accumulator
from celosia.hw.memory.scratchpad import Scratchpad
from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.execution.machine import Machine
from celosia.isa.latencies import MIN_PRODUCT_CYCLES
from celosia.isa.operations.operations import Operand, Product, Resident
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.flat_memory import FlatMemory
from tests.support.memories import read_rows, rows_of_garbage
from tests.support.operations import product_op
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, send, simulate, sometimes

TINY = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=32)
SMALLEST = AcceleratorConfig(dim=2, scratchpad_kib=1, accumulator_kib=1, bus_bits=32)
ODD = AcceleratorConfig(dim=8, scratchpad_kib=2, accumulator_kib=4, accumulator_banks=1)
BOTH = [config.with_values({"dataflow": "both"}) for config in (TINY, SMALLEST, ODD)]
PAIRS = [config.with_values({"int4_pairs": True}) for config in (TINY, ODD, BOTH[2])]
CONFIGS = [TINY, SMALLEST, ODD, *BOTH, *PAIRS]
SEED = 5


class System(Elaboratable):
    """The execute path and the two memories it works on."""

    def __init__(self, config: AcceleratorConfig):
        self.path = ExecutePath(config)
        self.scratchpad = Scratchpad(config, memory_seed=SEED)
        self.accumulator = Accumulator(config, memory_seed=SEED)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.path = self.path
        m.submodules.scratchpad = self.scratchpad
        m.submodules.accumulator = self.accumulator
        connect(m, self.path.weights, self.scratchpad.weights)
        connect(m, self.path.operands, self.scratchpad.operands)
        connect(m, self.path.scratchpad, self.scratchpad.results)
        m.d.comb += [
            self.accumulator.address.eq(self.path.address),
            *(x.eq(y) for x, y in zip(self.accumulator.elements, self.path.elements, strict=True)),
        ]
        return m


def machine(config: AcceleratorConfig) -> Machine:
    """The functional machine with the same garbage."""
    model = Machine(config, FlatMemory(1024, 0), 0)
    model.scratchpad[:] = rows_of_garbage(
        SEED, config.scratchpad_banks, config.scratchpad_bank_rows, config.dim, np.int8
    )
    model.sums[:] = 0
    model.accumulator[:] = rows_of_garbage(
        SEED, config.accumulator_banks, config.accumulator_bank_rows, config.dim, np.int32
    )
    return model


def random_products(config: AcceleratorConfig, count: int, seed: int) -> list[Product]:
    """Legal products without hazards: results never land in rows that operands come from.

    But they do land in the same bank.
    """
    rng = random.Random(seed)
    dim, half = config.dim, config.scratchpad_rows * 3 // 8
    products: list[Product] = []
    while len(products) < count:
        stays = config.output_stationary and rng.random() < 0.6
        a_transposed = rng.random() < (0.6 if stays else 0.25)
        w_transposed = a_transposed == stays and rng.random() < 0.4

        def operand(
            rows: int, *, stride: int = 1, transposed: bool = False, fold: int | None = None
        ) -> Operand | None:
            row = LocalAddress(row=rng.randrange(half))
            cols = rng.choice([dim, rng.randint(0, dim)])
            shape = {"rows": rows, "cols": cols, "stride": stride, "transposed": transposed}
            return Operand(local=row, fold=fold, **shape) if rng.random() < 0.9 else None

        rows = rng.choice([0, 1, dim, dim, rng.randint(0, 3 * dim)])
        a_rows = rng.choice([rows, rows, rng.randint(0, dim)])
        a_rows = min(a_rows, dim) if a_transposed else a_rows
        to_accumulator = rng.random() < 0.8
        memory = config.accumulator_rows if to_accumulator else config.scratchpad_rows
        c_stride = rng.choice([1, 1, 1, 0, 2])
        target = rng.randrange(0 if to_accumulator else half, memory)
        c_address = LocalAddress(
            row=rng.choice([target, 3] if to_accumulator else [target]),
            accumulator=to_accumulator,
            accumulate=rng.random() < 0.7,
        )
        preloaded = rng.random() < 0.7 or len(products) < 10
        resident = Resident(start=preloaded, shift=rng.choice([0, 0, 3, 7, 31])) if stays else None
        product = Product(
            load_weights=preloaded or stays,
            resident=resident,
            a=operand(a_rows, stride=rng.choice([1, 1, 2, 0]), transposed=a_transposed),
            w=operand(
                rng.choice([dim, rng.randint(0, dim)]),
                transposed=w_transposed,
                fold=rng.choice([None, dim // 2]),
            )
            if preloaded or stays
            else None,
            d=operand(rng.randint(0, 2 * dim))
            if rng.random() < 0.3 and (preloaded or not stays)
            else None,
            c=Operand(local=c_address, rows=rows, cols=rng.randint(1, dim), stride=c_stride)
            if rng.random() < 0.9
            else None,
            a_unsigned=rng.random() < 0.3,
            relu=rng.random() < 0.5,
        )
        if product.check(config) is Cause.NONE:
            reads = [x.last for x in (product.a, product.w, product.d) if x]
            if not any(last >= half for last in reads):
                products.append(product)
    return products


@pytest.mark.parametrize(
    "config", CONFIGS, ids=lambda c: f"dim{c.dim}-{c.dataflow}{'-pairs' * c.int4_pairs}"
)
@pytest.mark.parametrize(
    ("seed", "count"),
    [(None, 30), *(pytest.param(n, 120, marks=pytest.mark.nightly) for n in range(4))],
)
def test_random_products_leave_what_the_machine_leaves(config, seed, count):
    """Seeds that are odd have no pauses: by day, every other configuration."""
    seed = CONFIGS.index(config) % 2 if seed is None else seed
    system, products = shared_design(System, config), random_products(config, count, seed)
    model = machine(config)
    for product in products:
        model.execute(product)

    ended = {"reads_done": 0, "done": 0}

    async def ends(ctx):
        while True:
            path = system.path
            _, _, reads_done, done = await ctx.tick().sample(path.reads_done, path.done)
            ended["reads_done"] += reads_done
            ended["done"] += done

    async def run(ctx):
        stall = never if seed % 2 else sometimes(seed)
        await send(ctx, system.path.op, [op_of(product, config) for product in products], stall)
        await ctx.tick()
        while not ctx.get(system.path.idle):
            await ctx.tick()
        await ctx.tick().repeat(4)
        assert ended == dict.fromkeys(ended, len(products))
        wanted = model.accumulator
        rows = await read_rows(ctx, system.accumulator.store, len(wanted))
        assert np.array_equal(np.array(rows), wanted)
        rows = await read_rows(ctx, system.scratchpad.store, len(model.scratchpad))
        assert np.array_equal(np.array(rows, np.uint8).view(np.int8), model.scratchpad)

    simulate(system, run, background=[ends])


def op_of(product: Product, config: AcceleratorConfig) -> dict:
    """As the decoder makes it."""
    return product_op(product) | ({"c_rows": config.dim} if product.resident else {})


def cycles_per_product(config: AcceleratorConfig, product: Product, count: int) -> float:
    """Cycles between the first and the last row of `count` equal products."""
    system, entered = shared_design(System, config), []

    async def run(ctx):
        await send(ctx, system.path.op, [op_of(product, config)] * count)

    async def watch(ctx):
        state = system.path.state
        for cycle in range(200 + count * (3 * config.dim + 20)):
            _, _, now = await ctx.tick().sample(state)
            if now == ArrayState.ROWS:
                entered.append(cycle)

    simulate(system, run, watch)
    assert product.c is not None
    assert len(entered) == count * product.c.rows
    return (entered[-1] - entered[product.c.rows - 1]) / (count - 1)


@pytest.mark.parametrize("fold", [None, 4])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows", [1, 4, 8, 11, 16, 20])
def test_a_product_takes_as_many_cycles_as_it_has_rows_or_the_array_has(rows, transposed, fold):
    config = AcceleratorConfig(dim=8, scratchpad_kib=8, accumulator_kib=4)
    bank = config.scratchpad_bank_rows
    product = Product(
        load_weights=True,
        a=Operand(local=LocalAddress(row=0), rows=rows, cols=8),
        w=Operand(local=LocalAddress(row=bank), rows=8, cols=8, transposed=transposed, fold=fold),
        d=None,
        c=Operand(local=LocalAddress(row=0, accumulator=True), rows=rows, cols=8),
        a_unsigned=False,
        relu=False,
    )
    assert cycles_per_product(config, product, 6) == max(rows, 8)


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("dim", [4, 8])
def test_a_product_of_pairs_of_lines_takes_half_as_many(rows, dim):
    config = AcceleratorConfig(dim=dim, scratchpad_kib=8, accumulator_kib=4, int4_pairs=True)
    product = Product(
        load_weights=True,
        a=Operand(local=LocalAddress(row=0), rows=rows, cols=dim),
        w=Operand(
            local=LocalAddress(row=config.scratchpad_bank_rows), rows=dim, cols=dim, fold=dim // 2
        ),
        d=None,
        c=Operand(local=LocalAddress(row=0, accumulator=True), rows=rows, cols=dim),
        a_unsigned=False,
        relu=False,
    )
    assert cycles_per_product(config, product, 6) == max(rows, dim // 2, MIN_PRODUCT_CYCLES)


def test_an_output_stationary_product_takes_as_many_cycles_as_the_array_has_rows():
    config = AcceleratorConfig(dim=8, scratchpad_kib=8, accumulator_kib=4, dataflow="both")
    product = Product(
        load_weights=True,
        a=Operand(local=LocalAddress(row=0), rows=8, cols=8),
        w=Operand(local=LocalAddress(row=config.scratchpad_bank_rows), rows=8, cols=8),
        d=None,
        c=Operand(local=LocalAddress(row=0, accumulator=True), rows=8, cols=8),
        a_unsigned=False,
        relu=False,
        resident=Resident(start=False, shift=0),
    )
    assert cycles_per_product(config, product, 6) == 8


def test_what_the_array_does_is_told():
    """With D, in every other cycle; rows that A does not have are padding."""
    system, told = shared_design(System, TINY), []
    product = Product(
        load_weights=True,
        a=Operand(local=LocalAddress(row=0), rows=3, cols=4),
        w=Operand(local=LocalAddress(row=TINY.scratchpad_bank_rows), rows=4, cols=4),
        d=Operand(local=LocalAddress(row=8), rows=2, cols=4),
        c=Operand(local=LocalAddress(row=0, accumulator=True), rows=8, cols=4),
        a_unsigned=False,
        relu=False,
    )

    async def run(ctx):
        await send(ctx, system.path.op, [op_of(product, TINY)])
        await ctx.tick().repeat(40)

    async def watch(ctx):
        async for _, _, now in ctx.tick().sample(system.path.state):
            told.append(ArrayState(now))

    simulate(system, run, background=[watch])
    counts = {state: told.count(state) for state in told}
    wanted = {ArrayState.D: 8, ArrayState.ROWS: 3, ArrayState.PADDING: 5}
    assert {state: counts.get(state) for state in wanted} == wanted
    assert ArrayState.WEIGHTS in counts
    assert told[-1] == ArrayState.EMPTY
