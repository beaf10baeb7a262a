"""`Products`: what PRODUCTS stands for, and when it comes."""

import random

import pytest

from celosia.hw.loops.products import Products
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_PRODUCTS, FENCE, MVIN, PRODUCTS, Command
from celosia.isa.operations.loops import expand
from tests.support.loops import payload
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
OTHER = MVIN.encode(local_rows=1, local_cols=1)
NEST = {"a": 7, "w": 300, "c": 65_530, "rows": 9, "k": 2, "pieces": 3, "columns": 2}
STRIDES = {"a_k": 4, "a_piece": 65_000, "w_k": 5, "w_piece": 70, "w_column": 900, "c_column": 33}


def expected(program):
    return [command for _, command in expand(program, CONFIG)]


def run(program, in_stall=never, out_stall=never):
    dut, got, wanted = Products(CONFIG), [], expected(program)
    counts = {"gained": 0, "lost": 0}

    async def source(ctx):
        await send(ctx, dut.i, [payload(each) for each in program], in_stall)

    async def watch(ctx):
        async for _, _, gained, lost in ctx.tick().sample(dut.gained, dut.lost):
            counts["gained"] += gained
            counts["lost"] += lost

    async def sink(ctx):
        for item in await receive(ctx, dut.o, len(wanted), out_stall):
            got.append(Command(item.funct, item.rs1, item.rs2))
        await ctx.tick().repeat(3)

    simulate(dut, sink, background=[source, watch])
    assert got == wanted
    assert len(got) == len(program) + counts["gained"] - counts["lost"]


@pytest.mark.parametrize("seed", range(3))
def test_random_nests_under_stalls(seed):
    rng = random.Random(seed)
    program = []
    for _ in range(8):
        if rng.random() < 0.5:
            values = {field.name: rng.randrange(field.limit) for field in CONFIG_PRODUCTS.operands}
            program.append(CONFIG_PRODUCTS.encode(**values))
        values = {name: rng.choice([1, 2, 3]) for name in ("k", "pieces", "columns")}
        values |= {"last_depth": rng.randint(1, 4), "last_cols": rng.randint(1, 4)}
        values |= {name: rng.randrange(1 << 16) for name in ("a", "w", "c", "rows")}
        values["overwrite"] = rng.randrange(2)
        program += [PRODUCTS.encode(**values), OTHER][: rng.choice([1, 2])]
    run([*program, OTHER], sometimes(seed), sometimes(seed + 5))


@pytest.mark.parametrize("name", ["rows", "k", "pieces", "columns", "last_depth", "last_cols"])
def test_what_is_not_well_formed_passes(name):
    good = {**NEST, "last_depth": 4, "last_cols": 1}
    wrong = [PRODUCTS.encode(**{**good, name: 0})]
    if name.startswith("last"):
        wrong.append(PRODUCTS.encode(**{**good, name: CONFIG.dim + 1}))
    run([CONFIG_PRODUCTS.encode(**STRIDES), *wrong, PRODUCTS.encode(**good), OTHER])


def test_a_command_per_cycle():
    program = [PRODUCTS.encode(**NEST, last_depth=1, last_cols=2), OTHER, FENCE.encode()]
    dut, cycles, wanted = Products(CONFIG), [], expected(program)
    assert len(wanted) == 2 * 2 * 3 * 2 + 2

    async def source(ctx):
        await send(ctx, dut.i, [payload(each) for each in program])

    async def watch(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(len(wanted) + 5):
            _, _, valid = await ctx.tick().sample(dut.o.valid)
            cycles.extend([cycle] * valid)

    simulate(dut, watch, background=[source])
    assert cycles == list(range(Products.LATENCY, Products.LATENCY + len(wanted)))


def test_what_leaves_nothing_waits_for_a_fence():
    dut = Products(CONFIG)

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.fenced, 1)
        await send(ctx, dut.i, [payload(CONFIG_PRODUCTS.encode(**STRIDES))])
        for _ in range(4):
            assert ctx.get(dut.busy)
            assert not ctx.get(dut.lost)
            assert not ctx.get(dut.i.ready)
            await ctx.tick()
        ctx.set(dut.fenced, 0)
        assert ctx.get(dut.lost)
        await ctx.tick()
        assert not ctx.get(dut.busy)
        assert ctx.get(dut.i.ready)

    simulate(dut, bench)
