"""Ranges of local rows: where memories begin, and which ranges have a row in common."""

import random
from typing import Any

import pytest
from amaranth import Module, Signal, Value
from amaranth.hdl import Shape
from amaranth.sim import Simulator

from celosia.hw.decode.ops import Space
from celosia.hw.decode.ranges import (
    RowRange,
    overlap,
    parameter_overlap,
    space_base,
    space_rows,
)
from celosia.isa.config import AcceleratorConfig

CONFIGS = [
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=4, scratchpad_kib=8, accumulator_kib=1, parameter_rows=8),
]
every_config = pytest.mark.parametrize("config", CONFIGS, ids=["small", "large"])


@every_config
def test_rows_of_all_memories_are_counted_through(config):
    """Parameters first; every row has a number of its own, and numbers have no bit too many."""
    numbers = [
        space_base(config, space) + row
        for space in (Space.PARAMETER, Space.SCRATCHPAD, Space.ACCUMULATOR)
        for row in range(space_rows(config, space))
    ]
    assert numbers == list(range(len(numbers)))
    fields = RowRange(config).members
    for name in ("first", "last"):
        assert Shape.cast(fields[name]).width == (len(numbers) - 1).bit_length()


def random_range(config: AcceleratorConfig, rng: random.Random, space: Space) -> dict[str, int]:
    base, rows = space_base(config, space), space_rows(config, space)
    length = rng.choice([1, rng.randint(1, rows)])
    first = base + rng.choice([0, rows - length, rng.randint(0, rows - length)])
    return {"valid": int(rng.random() < 0.9), "first": first, "last": first + length - 1}


def meets(one: dict[str, int], other: dict[str, int]) -> bool:
    rows = [range(each["first"], each["last"] + 1) for each in (one, other)]
    return bool(one["valid"] and other["valid"] and {*rows[0]} & {*rows[1]})


@every_config
@pytest.mark.parametrize("parameters", [False, True])
def test_two_ranges_meet_if_they_have_a_row_in_common(config, parameters):
    """In any memory; or, by fewer bits, where the second one is of parameters."""
    rng = random.Random(parameters)
    one, other = (Signal(RowRange(config)) for _ in range(2))
    found: Any = parameter_overlap(config, one, other) if parameters else overlap(one, other)
    spaces, outcomes = list(Space), set()

    async def testbench(ctx):
        for _ in range(400):
            first = random_range(config, rng, rng.choice(spaces))
            space = Space.PARAMETER if parameters else rng.choice(spaces)
            second = random_range(config, rng, space)
            ctx.set(one, first)
            ctx.set(other, second)
            assert ctx.get(Value.cast(found)) == meets(first, second)
            outcomes.add(meets(first, second))

    simulator = Simulator(Module())
    simulator.add_testbench(testbench)
    simulator.run()
    assert outcomes == {False, True}
