"""`ParameterMemory`: masked writes, and reads in every cycle."""

import random

import pytest

from celosia.hw.memory.parameters import ParameterMemory
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.config import AcceleratorConfig
from tests.support.registers import reset_registers
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, parameter_rows=8)
CONFIGS = [
    CONFIG,
    *(CONFIG.with_values({"normalization": True, "vector_lanes": lanes}) for lanes in (4, 2, 1)),
]
every_config = pytest.mark.parametrize(
    "config", CONFIGS, ids=["plain", "whole-rows", "halves", "elements"]
)


@every_config
def test_random_reads_and_writes_see_a_plain_array(config):
    """Each port at once, `transform2` by parts of rows; where nothing is asked for, nothing due."""
    dut, rng = ParameterMemory(config), random.Random(0)
    rows = [[0] * config.dim for _ in range(config.parameter_rows)]
    sizes = {"store": config.dim}
    if config.normalization:
        sizes |= {"transform": config.dim, "transform2": config.lanes}

    async def testbench(ctx):
        due: dict[tuple[str, int], list[int]] = {}
        for cycle in range(300):
            for name, size in sizes.items():
                port, parts = getattr(dut, name), config.dim // size
                number = rng.randrange(config.parameter_rows * parts)
                ctx.set(port.valid, asked := rng.random() < 0.8)
                ctx.set(port.row, number)
                assert ctx.get(port.ready)
                if asked:
                    first = number % parts * size
                    content = rows[number // parts][first : first + size]
                    due[name, cycle + LOCAL_READ_LATENCY] = content
                if (name, cycle) in due:
                    assert list(ctx.get(port.data)) == due[name, cycle]
            values = [rng.randrange(-(1 << 31), 1 << 31) for _ in range(config.dim)]
            mask, target = rng.randrange(1 << config.dim), rng.randrange(config.parameter_rows)
            ctx.set(dut.load.valid, cycle % 3 != 0)
            ctx.set(dut.load.payload, {"row": target, "data": values, "mask": mask})
            if cycle % 3:
                for lane in range(config.dim):
                    if mask >> lane & 1:
                        rows[target][lane] = values[lane]
            await ctx.tick()

    simulate(dut, testbench)


@every_config
def test_a_reset_sets_only_that_nothing_was_granted(config):
    """Nobody looks at the rest before it was written."""
    names = ["store", *["transform", "transform2"] * config.normalization]
    assert {*reset_registers(ParameterMemory(config))} == {f"{name}_granted" for name in names}


def contents(seed: int | None) -> list[int]:
    """All elements at power-on, row by row."""
    dut, found = ParameterMemory(CONFIG, memory_seed=seed), []

    async def testbench(ctx):
        for row in range(CONFIG.parameter_rows):
            ctx.set(dut.store.valid, 1)
            ctx.set(dut.store.row, row)
            await ctx.tick().repeat(LOCAL_READ_LATENCY)
            found.extend(ctx.get(dut.store.data))

    simulate(dut, testbench)
    return found


def test_at_power_on_there_is_what_the_seed_says():
    """Other elements everywhere, of all bits; zeros without one."""
    one, other = contents(1), contents(2)
    assert len({*one, *other}) == 2 * CONFIG.parameter_rows * CONFIG.dim
    assert one == contents(1)
    assert {element < 0 for element in one} == {False, True}
    assert not any(contents(None))
