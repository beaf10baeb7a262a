"""The page beside the Verilog says what is there."""

import pytest

from celosia.isa.registers.map import REGISTERS
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.description import describe_design
from celosia.sim.export.ports import MEANINGS
from tests.support.exports import exported

NAMES = {"listing": "x.f", "page": "x.md", "models": "x_memories.v"}


def page(top: TopChoice, memories: Memories = Memories.BLACKBOX) -> str:
    names = NAMES if memories is Memories.BLACKBOX else {**NAMES, "models": ""}
    names = {kind: name for kind, name in names.items() if name}
    return describe_design(exported(top, memories), "x.v", names)


@pytest.mark.parametrize("top", TopChoice)
def test_each_port_has_a_line(top):
    text = page(top)
    for port in exported(top, Memories.BLACKBOX).ports:
        line = f"| `{port.name}` | {port.direction} | {port.bits} | {port.meaning} |\n"
        assert text.count(line) == 1


def test_each_port_has_a_meaning():
    assert not [name for name, meaning in MEANINGS.items() if not meaning.strip()]


def test_each_register_has_a_line():
    text = page(TopChoice.AXI)
    for register in REGISTERS.values():
        if not register.name.endswith("_HI"):
            name = register.name.removesuffix("_LO")
            assert text.count(f"| {register.offset:#05x} | {name} |") == 1
    assert "| 0x098 | WRITE_LIMIT | read, write | 0xffffffffffffffff | 63:0 |" in text
    assert "## Registers" not in page(TopChoice.CORE)


def test_registers_have_the_values_of_the_configuration():
    config = exported(TopChoice.AXI, Memories.BLACKBOX).config
    word = config.scratchpad_kib | config.accumulator_kib << 16
    assert f"| 0x014 | CONFIG_MEMORY | read only | {word:#x} |" in page(TopChoice.AXI)


def test_each_memory_is_listed_with_its_size():
    design, text = exported(TopChoice.AXI, Memories.BLACKBOX), page(TopChoice.AXI)
    for ram in design.rams:
        assert f"| `{ram.name}` | {ram.rows} | {ram.bits} | {ram.element_bits} | " in text
    for memory in design.memories:
        assert text.count(f"`{memory.path}`") == 1
    assert "x_memories.v" in text
    assert "x_memories.v" not in page(TopChoice.CORE, Memories.INFERRED)
