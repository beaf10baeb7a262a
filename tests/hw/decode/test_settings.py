"""The registers of the state, beside the encoding that they derive from."""

from dataclasses import replace

import pytest
from amaranth import Signal

from celosia.hw.decode.configuration import Configuration, State
from celosia.hw.decode.settings import core_settings
from celosia.hw.gemmini.settings import gemmini_settings
from celosia.hw.lib.settings import kept_operands, nested, nested_layout
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_DRAIN,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TRANSFORM,
    KEEP_SCALE,
    ONE,
    PRELOAD,
    Instruction,
)
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.streams import simulate

GEMMINI = PRESETS["gemmini4"]
ALL = [*core_settings(GEMMINI), *gemmini_settings(GEMMINI)]


def test_a_register_is_as_wide_as_its_operand():
    (field,) = (field for field in CONFIG_DRAIN.operands if field.name == "bias_row")
    longer = Instruction("longer", CONFIG_DRAIN.funct, "", (replace(field, bits=23),))
    (setting,) = kept_operands(longer, {"here": "bias_row"})
    assert setting.shape.width == 23


def test_an_operand_that_no_register_keeps_is_known():
    """CONFIG_EX's scale is ignored; what only says when others count is not kept."""
    read: dict[str, set[str]] = {}

    class Seen:
        def __init__(self, instruction):
            self.fields = {field.name: field for field in instruction.operands}
            self.seen = read.setdefault(instruction.name, set())

        def __getattr__(self, name):
            self.seen.add(name)
            return Signal(self.fields[name].bits)

    for setting in ALL:
        operands = Seen(setting.instruction)
        setting.value(operands)
        if setting.when:
            setting.when(operands)
    left = {
        f"{setting.instruction.name}.{field.name}"
        for setting in ALL
        for field in setting.instruction.operands
        if field.name not in read[setting.instruction.name]
    }
    assert left == {"config_ex.acc_scale"}


def test_without_gemmini_no_register_is_gemminis():
    assert not list(gemmini_settings(AcceleratorConfig()))
    assert set(State(AcceleratorConfig()).members) < set(State(GEMMINI).members)


@pytest.mark.parametrize("name", [field.name for field in PRELOAD.operands])
def test_registers_after_reset_are_the_contracts(name):
    (setting,) = (setting for setting in ALL if setting.register == name)
    assert setting.init == getattr(ArchState.reset(GEMMINI), name)


def test_dots_enter_structures():
    assert nested({"a.b": 1, "a.c": 2, "d": 3}) == {"a": {"b": 1, "c": 2}, "d": 3}
    assert nested_layout({"a.b": 4, "d": 1}).size == 5


@pytest.mark.parametrize("bits", [8, 23, 24])
@pytest.mark.parametrize(
    ("form", "name"),
    [
        (CONFIG_LD, "scale"),
        (CONFIG_ST, "scale"),
        (CONFIG_TRANSFORM, "scale"),
        (CONFIG_TRANSFORM, "scale2"),
    ],
    ids=["load", "store", "transform", "transform2"],
)
def test_a_scale_has_as_many_bits_as_the_configuration_says(form, name, bits):
    """Both ends of what is dropped count; of CONFIG_ST, the word that keeps the scale does not."""
    dut = Configuration(AcceleratorConfig(scale_bits=bits, normalization=True))
    dropped = 24 - bits
    kept = ONE | 1 << dropped
    broken = {ONE | 1, ONE | 1 << dropped - 1, KEEP_SCALE ^ 1 << 31} if dropped else set()
    cases = dict.fromkeys((kept, 0, 0xFF << 23), Cause.NONE) | dict.fromkeys(broken, Cause.SCALE)
    keeps = form is CONFIG_ST or not dropped
    cases |= {KEEP_SCALE: Cause.NONE if keeps else Cause.SCALE}

    async def testbench(ctx):
        for scale, cause in cases.items():
            ctx.set(dut.command, form.encode(**{name: scale})._asdict())
            assert Cause(ctx.get(dut.cause)) is cause, hex(scale)

    simulate(dut, testbench)
