"""Registers by name."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.driver.registers import RegisterError, Registers
from tests.support.register_port import FakePort


@pytest.fixture
def port():
    return FakePort(PRESETS["tiny"])


def test_a_pair_is_one_value(port):
    registers = Registers(port)
    registers.write("READ_LIMIT", 0x1234_5678_9ABC_DEF0)
    assert port.words["READ_LIMIT_LO"] == 0x9ABC_DEF0
    assert port.words["READ_LIMIT_HI"] == 0x1234_5678
    assert registers.read("READ_LIMIT") == 0x1234_5678_9ABC_DEF0
    assert registers.read("READ_LIMIT_HI") == 0x1234_5678


def test_fields_are_packed_and_unpacked(port):
    registers = Registers(port)
    registers.write_fields("INTERRUPT_ENABLE", error=1)
    assert port.log == [("INTERRUPT_ENABLE", 2)]
    assert registers.read_fields("INTERRUPT_ENABLE") == {"done": 0, "error": 1}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("RING_SIZE", 1 << 32, "RING_SIZE: 4294967296 is not in 0..0xffffffff"),
        ("RING_SIZE", -1, "RING_SIZE: -1 is not in"),
        ("READ_BASE", 1 << 64, "READ_BASE: 18446744073709551616 is not in"),
        ("COLOUR", 1, "there is no register 'COLOUR'"),
    ],
)
def test_what_does_not_fit_is_refused(port, name, value, message):
    with pytest.raises(ValueError, match=message):
        Registers(port).write(name, value)
    assert not port.log


def test_an_answer_that_is_not_okay_is_an_error(port):
    port.forbidden = {"READ_BASE_HI"}
    with pytest.raises(RegisterError, match="READ_BASE_HI: SLVERR"):
        Registers(port).read("READ_BASE")
