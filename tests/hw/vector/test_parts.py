"""How rows become parts, and parts rows again."""

import random

import pytest
from amaranth import Module, Signal, signed
from amaranth.hdl import Const, Shape

from celosia.hw.vector.parts import RowGatherer, RowParts, parameter_part, part_shape
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate


def configuration(parts: int) -> AcceleratorConfig:
    return AcceleratorConfig(dim=8, normalization=True, vector_lanes=8 // parts)


every_part = pytest.mark.parametrize("parts", [1, 2, 8])


@every_part
def test_numbers_of_parts(parts):
    """A single part has a number, too; a parameter row is read by its parts."""
    config = configuration(parts)
    bits = (parts - 1).bit_length()
    assert Shape.cast(part_shape(config)).width == max(1, bits)
    row, part = Const(5, 6), Const(parts - 1, part_shape(config))
    number = parameter_part(config, row, part)
    m, found = Module(), Signal(12)
    m.d.comb += found.eq(number)

    async def testbench(ctx):
        assert ctx.get(found) == 5 * parts + parts - 1

    m.d.sync += Signal().eq(0)
    simulate(m, testbench)
    assert len(number) == 6 + bits


@every_part
@pytest.mark.parametrize("seed", range(2))
def test_a_step_enters_part_by_part(parts, seed):
    """From the cycle after its start on, up to the part that it wants last."""
    config, rng = configuration(parts), random.Random(seed)
    m, start = Module(), Signal()
    last_part = Signal(part_shape(config))
    row = [Signal(signed(9), name=f"element_{n}") for n in range(config.dim)]
    made = RowParts(m, config, start, last_part)
    elements = made.of(row)
    assert len(elements) == config.lanes

    async def testbench(ctx):
        left, number = 0, 0  # Parts of the step that are yet to enter, and the next one.
        for _ in range(80):
            assert ctx.get(made.enters) == (left > 0)
            if left:
                values = [rng.randrange(-256, 256) for _ in row]
                for signal, value in zip(row, values, strict=True):
                    ctx.set(signal, value)
                part = values[number * config.lanes :][: config.lanes]
                assert [ctx.get(each) for each in elements] == part
                assert ctx.get(made.number) == number
                assert ctx.get(made.last) == (left == 1)
            begins = left <= 1 and rng.random() < 0.5
            ctx.set(start, begins)
            ctx.set(last_part, last := rng.randrange(parts))
            left, number = (last + 1, 0) if begins else (max(0, left - 1), number + 1)
            await ctx.tick()

    simulate(m, testbench)


@every_part
@pytest.mark.parametrize("seed", range(2))
def test_parts_become_rows(parts, seed):
    """They may pause, and a row may end early: the rest of it is that of an older one."""
    config, rng = configuration(parts), random.Random(seed)
    m, valid, last = Module(), Signal(), Signal()
    part = [Signal(signed(9), name=f"element_{n}") for n in range(config.lanes)]
    gathered = RowGatherer(m, config, valid, last, part)
    assert len(gathered.row) == config.dim
    rows = 0

    async def testbench(ctx):
        nonlocal rows
        wanted: list[int | None] = [None] * config.dim
        number, whole = 0, False
        for _ in range(120):
            assert ctx.get(gathered.valid) == whole
            if whole:
                rows += 1
                found = [ctx.get(each) for each in gathered.row]
                assert all(b in {None, a} for a, b in zip(found, wanted, strict=True))
            ctx.set(valid, comes := rng.random() < 0.7)
            ctx.set(last, ends := number == parts - 1 or rng.random() < 0.2)
            values = [rng.randrange(-256, 256) for _ in part]
            for signal, value in zip(part, values, strict=True):
                ctx.set(signal, value)
            if comes:
                first = number * config.lanes
                wanted[first : first + config.lanes] = values
                number = 0 if ends else number + 1
            whole = comes and ends
            await ctx.tick()

    simulate(m, testbench)
    assert rows > 5
