"""`LoopEngine` against `celosia.isa.loops`."""

import random

import pytest

from celosia.hw.loops.engine import LoopEngine
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from tests.support.loops import LoopPrograms, payload
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=64)


def run(program, count, in_stall=never, out_stall=never, config=CONFIG):
    """The first `count` commands that come out."""
    dut, got = LoopEngine(config), []

    async def source(ctx):
        await send(ctx, dut.i, [payload(command) for command in program], in_stall)

    async def sink(ctx):
        for item in await receive(ctx, dut.o, count, out_stall):
            got.append(Command(item.funct, item.rs1, item.rs2))

    simulate(dut, sink, background=[source], deadline=5_000)
    return got


@pytest.mark.parametrize("seed", range(4))
def test_what_comes_out_is_what_the_program_stands_for(seed):
    program, expected = LoopPrograms(CONFIG, random.Random(seed)).short_program(12)
    stalls = (sometimes(seed), sometimes(seed + 9)) if seed else (never, never)
    assert run(program, len(expected), *stalls) == expected
