"""The header for C says of each register and field what hardware does, by numbers alone."""

import re

import pytest

from celosia.isa.documents.registers import c_header
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import REGISTERS, Access

DEFINED = dict(re.findall(r"^#define CELOSIA_(\w+)\s+(\w+)", c_header(), re.MULTILINE))


def number(name):
    return int(DEFINED[name].removesuffix("u"), 0)


def test_every_number_is_defined_once():
    assert len(DEFINED) == c_header().count("#define CELOSIA_") - 1  # The guard has no number.


def test_a_register_has_its_offset_its_fields_and_what_reset_leaves():
    for register in REGISTERS.values():
        assert number(register.name) == register.offset
        known = register.reset is not None and register.access is not Access.WO
        assert (f"{register.name}_RESET" in DEFINED) == known, register.name
        if known:
            assert number(f"{register.name}_RESET") == register.reset, register.name
        _check_fields(register)


def _check_fields(register):
    taken = 0
    for field in register.fields:
        name = f"{register.name}_{field.name.upper()}"
        mask, shift = number(f"{name}_MASK"), number(f"{name}_SHIFT")
        # So many ones, from that bit on, of which no other field has one.
        assert mask == sum(1 << bit for bit in range(field.low, field.low + field.bits)), name
        assert shift == field.low, name
        assert not mask & taken, name
        taken |= mask
    assert taken < 1 << 32, register.name


def test_causes_have_the_values_that_hardware_reports():
    found = {n.removeprefix("CAUSE_"): int(v) for n, v in DEFINED.items() if n.startswith("CAUSE_")}
    assert found == {cause.name: cause.value for cause in Cause}


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("READ_LIMIT", "a read outside"),
        ("WRITE_LIMIT", "a write outside"),
        ("READ_RESPONSE", "answered a read with"),
        ("WRITE_RESPONSE", "answered a write with"),
    ],
)
def test_the_text_of_a_cause_is_about_its_own_direction(cause, words):
    (line,) = re.findall(rf"^#define CELOSIA_CAUSE_{cause}\s.*", c_header(), re.MULTILINE)
    assert words in line
