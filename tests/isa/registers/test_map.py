"""The register map is consistent, and tells a driver the whole configuration."""

from dataclasses import fields
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.config import DATAFLOWS, AcceleratorConfig
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS
from celosia.isa.registers.map import (
    IDENTITY,
    INTERFACE_VERSION,
    REGISTER_BITS,
    REGISTERS,
    WINDOW_BYTES,
    Access,
    Register,
    RegisterField,
    configuration_words,
)

EXTREMES = (
    *PRESETS.values(),
    AcceleratorConfig(dim=64, scratchpad_kib=16384, accumulator_kib=16384, parameter_rows=4096),
    AcceleratorConfig(bus_bits=512, read_requests=128, write_requests=128, scratchpad_banks=16),
)


def test_offsets_rise():
    offsets = [register.offset for register in REGISTERS.values()]
    assert sorted(set(offsets)) == offsets
    assert offsets[-1] + REGISTER_BITS // 8 <= WINDOW_BYTES


def test_reset_values_lie_in_the_fields():
    for name, register in REGISTERS.items():
        if register.reset is not None:
            assert 0 <= register.reset < 1 << REGISTER_BITS, name
            if register.fields:
                assert register.pack(register.unpack(register.reset)) == register.reset, name


@given(seed=st.integers(0, 1 << 32))
def test_unpacking_inverts_packing(seed):
    random = Random(seed)
    for name, register in REGISTERS.items():
        extremes = {field.name: field.limit - 1 for field in register.fields}
        drawn = {each: random.randint(0, most) for each, most in extremes.items()}
        for values in (drawn, extremes, dict.fromkeys(extremes, 0)):
            assert register.unpack(register.pack(values)) == values, name


def test_only_registers_that_can_be_written_are_written_while_busy():
    for name, register in REGISTERS.items():
        assert not register.while_busy or register.access is not Access.RO, name


def test_registers_and_their_fields_say_what_they_are():
    """In sentences."""
    for name, register in REGISTERS.items():
        for text in (register.doc, *(field.doc for field in register.fields)):
            assert text.endswith("."), name
            assert text[0] == "`" or text[0].isupper() or text[0].isdigit(), (name, text)


def test_a_high_half_says_whose_it_is():
    highs = {each.doc for name, each in REGISTERS.items() if name.endswith("_HI")}
    assert highs == {"Its high half."}


def test_halves_stand_side_by_side():
    lows = [name.removesuffix("_LO") for name in REGISTERS if name.endswith("_LO")]
    highs = [name.removesuffix("_HI") for name in REGISTERS if name.endswith("_HI")]
    assert lows == highs
    for name in lows:
        low, high = REGISTERS[f"{name}_LO"], REGISTERS[f"{name}_HI"]
        assert low.offset % 8 == 0
        assert high.offset == low.offset + 4
        assert high.access is low.access


@pytest.mark.parametrize(
    ("name", "reset"),
    [("READ_BASE", 0), ("READ_LIMIT", 2**64 - 1), ("WRITE_BASE", 0), ("WRITE_LIMIT", 2**64 - 1)],
)
def test_everything_is_permitted_after_reset(name, reset):
    low, high = REGISTERS[f"{name}_LO"].reset, REGISTERS[f"{name}_HI"].reset
    assert low is not None
    assert high is not None
    assert high << 32 | low == reset


def test_the_identity_spells_the_name():
    assert IDENTITY.to_bytes(4, "big") == b"CELO"
    assert REGISTERS["IDENTITY"].reset == IDENTITY
    version = REGISTERS["VERSION"]
    assert version.reset is not None
    assert version.unpack(version.reset) == dict(
        zip(("major", "minor"), INTERFACE_VERSION, strict=True)
    )


def test_every_counter_has_registers():
    names = {name for name in REGISTERS if name.startswith("COUNTER_")}
    assert names == {
        f"COUNTER_{counter.name.upper()}_{half}" for counter in COUNTERS for half in ("LO", "HI")
    }
    assert COUNTER_BITS <= 2 * REGISTER_BITS


def test_every_cause_fits_its_field():
    cause = next(field for field in REGISTERS["ERROR"].fields if field.name == "cause")
    assert max(Cause) < cause.limit


def test_every_parameter_is_in_exactly_one_word():
    named = [
        field.name
        for register in REGISTERS.values()
        if register.reset is None
        for field in register.fields
    ]
    assert sorted(named) == sorted(field.name for field in fields(AcceleratorConfig))


@pytest.mark.parametrize("config", EXTREMES)
def test_a_configuration_can_be_read_back(config):
    values = {}
    for name, word in configuration_words(config).items():
        assert 0 <= word < 1 << REGISTER_BITS
        values |= REGISTERS[name].unpack(word)
    switches = ("normalization", "convolution", "bert", "loop_ws", "int4_pairs")
    values |= {name: bool(values[name]) for name in switches}
    values["dataflow"] = DATAFLOWS[values["dataflow"]]
    assert AcceleratorConfig(**values) == config


def test_a_value_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"ERROR\.cause: 16 is not in 0\.\.15"):
        REGISTERS["ERROR"].pack({"cause": 16})
    with pytest.raises(ValueError, match="ERROR: there is no field color"):
        REGISTERS["ERROR"].pack({"color": 1})


@pytest.mark.parametrize("offset", [-4, 2, WINDOW_BYTES])
def test_an_offset_outside_of_the_window_is_refused(offset):
    with pytest.raises(ValueError, match="is not a word of the window"):
        Register("BAD", offset, Access.RO, "")


@pytest.mark.parametrize(("low", "bits"), [(3, 1), (31, 2)])
def test_a_field_that_overlaps_or_leaves_its_register_is_refused(low, bits):
    with pytest.raises(ValueError, match="overlaps, or leaves the register"):
        Register(
            "BAD",
            0,
            Access.RO,
            "",
            (RegisterField("first", 0, 4, ""), RegisterField("second", low, bits, "")),
        )
