"""What a register is: its place, its fields, its halves, words and back."""

import pytest

from celosia.isa.registers.layout import (
    Access,
    Register,
    RegisterField,
    number_of,
    pair,
    parameters,
)


def register(*fields: tuple[str, int, int], offset: int = 8, reset: int = 0, name: str = "R"):
    made = tuple(RegisterField(*field, "A field.") for field in fields)
    return Register(name, offset, Access.RW, "A register.", made, reset)


@pytest.mark.parametrize("fields", [[("a", 0, 32)], [("b", 31, 1), ("a", 0, 31)]])
def test_fields_may_fill_a_register(fields):
    assert len(register(*fields).fields) == len(fields)


def test_a_word_holds_the_fields_at_their_bits():
    both = register(("low", 0, 3), ("high", 8, 4))
    word = both.pack({"high": 15, "low": 7})
    assert word == 0xF07
    assert both.pack({"high": 1}) == 0x100
    assert both.unpack(word | 0xF0) == {"low": 7, "high": 15}


def test_a_field_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="R: there is no field other"):
        register(("low", 0, 3)).pack({"other": 0})


def test_a_pair_is_the_low_half_and_the_high_half_behind_it():
    low, high = pair(register(offset=16, reset=0x1234_5678_9ABC_DEF0))
    assert (low.name, low.offset, low.reset) == ("R_LO", 16, 0x9ABC_DEF0)
    assert (high.name, high.offset, high.reset) == ("R_HI", 20, 0x1234_5678)
    assert (low.half, high.half) == (("R", 0), ("R", 32))
    assert register().half == ("R", 0)


def test_parameters_are_numbers_and_dataflows_are_their_places():
    (field,) = parameters(("dim", 4, 8))
    assert (field.name, field.low, field.limit) == ("dim", 4, 256)
    assert "`dim`" in field.doc
    assert [number_of(each) for each in (7, True, "ws", "os", "both")] == [7, 1, 0, 1, 2]
