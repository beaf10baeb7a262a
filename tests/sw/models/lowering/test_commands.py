"""Commands as lines of assembly: they come back, and wrong ones are named by their number."""

import re

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.sw.mlir.operation import Lines
from celosia.sw.models.lowering.commands import AssembledCommands
from tests.sw.models.lowering.levels_of import product_levels

COMPILED = product_levels()[-1].graphs[0]


def test_commands_come_back_from_their_lines():
    text = AssembledCommands.of(COMPILED)
    assert isinstance(text.program, Lines)
    assert text.commands() == COMPILED.program
    text.check({name: tensor.bytes for name, tensor in COMPILED.graph.tensors.items()})


def test_a_line_that_is_no_command_is_named():
    text = AssembledCommands(end=0, addresses={}, program=("fence", "fense"))
    with pytest.raises(ValueError, match=r"^program\[1\]: there is no instruction 'fense'"):
        text.commands()


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        ({"x": MEMORY_BASE}, None),
        ({"x": MEMORY_BASE + 24}, None),
        ({"x": MEMORY_BASE + 25}, "addresses: x at 0x80000019 is not within 0x80000000..0x8"),
        ({"x": MEMORY_BASE - 1}, "addresses: x at 0x7fffffff is not within"),
        ({"y": MEMORY_BASE}, "addresses: the graph has no tensor 'y'"),
    ],
)  # fmt: skip
def test_tensors_stand_where_memory_holds_them(addresses, message):
    text = AssembledCommands(end=MEMORY_BASE + 32, addresses=addresses, program=())
    if message is None:
        text.check({"x": 8})
    else:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            text.check({"x": 8})
