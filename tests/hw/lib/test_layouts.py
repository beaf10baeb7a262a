"""Commands as Amaranth sees them, against `celosia.isa.encoding`."""

import random

import pytest
from amaranth import Cat, Const, Module
from amaranth.lib import data
from amaranth.sim import Simulator

from celosia.hw.lib.layouts import COMMAND, assembled, operands
from celosia.isa.encoding import COMPUTE_PRELOADED, CONFIG_LD, MVIN, PRELOAD


@pytest.mark.parametrize("instruction", [MVIN, PRELOAD, COMPUTE_PRELOADED, CONFIG_LD])
def test_operands_are_those_that_were_encoded(instruction):
    rng = random.Random(instruction.name)
    names = {field.name: field.bits for field in instruction.operands}

    async def testbench(ctx):
        for _ in range(8):
            # Some are left out; some are given by fewer bits than they have.
            given = {
                name: rng.getrandbits(bits) for name, bits in names.items() if rng.random() < 0.8
            }
            given |= {name: rng.getrandbits(1) for name in given if rng.random() < 0.4}
            command = instruction.encode(**given)
            values = {name: Const(value) for name, value in given.items()}
            words = assembled(instruction, values)
            assert [ctx.get(word) for word in words] == [command.rs1, command.rs2]
            view = data.View(COMMAND, Cat(Const(command.funct, 7), *words))
            for name, value in given.items():
                assert ctx.get(getattr(operands(instruction, view), name)) == value

    simulator = Simulator(Module())
    simulator.add_testbench(testbench)
    simulator.run()
