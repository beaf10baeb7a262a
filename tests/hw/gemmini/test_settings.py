"""What configuration commands refuse and leave behind, with and without Gemmini's parts."""

import random
from typing import Final

import pytest

from celosia.hw.decode.configuration import Configuration
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    PRELOAD,
    Instruction,
)
from celosia.isa.operations.semantics import check
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.streams import simulate

SMALL: Final = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
CONFIGS: Final = {
    "plain": SMALL,
    "os": SMALL.with_values({"dataflow": "os"}),
    "both": SMALL.with_values({"dataflow": "both"}),
    "convolution": SMALL.with_values({"convolution": True}),
    "bert": SMALL.with_values({"bert": True}),
    "normalization": SMALL.with_values({"normalization": True}),
    "all": SMALL.with_values({"dataflow": "both", "convolution": True, "bert": True}),
}
INSTRUCTIONS: Final = (
    CONFIG_EX, CONFIG_LD, CONFIG_ST, CONFIG_BERT, CONFIG_DRAIN, CONFIG_TOKEN, PRELOAD,
)  # fmt: skip


def values_near_limits(instruction: Instruction, rng: random.Random) -> dict[str, int]:
    """Values of its operands: small ones, and the largest."""
    values = {}
    for field in instruction.operands:
        most = field.limit - 1
        values[field.name] = min(rng.choice([0, 0, 1, 1, 2, 3, 4, most]), most)
    return values


@pytest.mark.parametrize("name", CONFIGS)
def test_commands_are_refused_as_the_contract_says(name):
    """Each of them in turn, and each value of one field while all others are 0."""
    config, rng = CONFIGS[name], random.Random(name)
    dut, reset = Configuration(config), ArchState.reset(config)
    commands = []
    for instruction in INSTRUCTIONS:
        commands += [instruction.encode(**values_near_limits(instruction, rng)) for _ in range(60)]
        for field in instruction.operands:
            values = {0, 1, 2, 3, 4, field.limit - 1}
            commands += [instruction.encode(**{field.name: x}) for x in values if x < field.limit]
    causes = set()

    async def testbench(ctx):
        for command in commands:
            ctx.set(dut.command, command._asdict())
            cause = Cause(ctx.get(dut.cause))
            if ctx.get(dut.mine):
                assert cause is check(command, reset, config), command
                causes.add(cause)

    simulate(dut, testbench)
    assert causes == {Cause.NONE, Cause.UNSUPPORTED}
