"""Properties that every instruction of the table must have."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FUNCT_BITS,
    INSTRUCTIONS,
    MVIN,
    MVOUT,
    PRELOAD,
    RING_ENTRY,
    WORD_BITS,
    Command,
    Field,
    Funct,
    Instruction,
    float_bits,
    identify,
    pack_ring,
    unpack_ring,
)
from celosia.isa.encoding.fields import Kind
from celosia.isa.encoding.gemmini_loops import LOOP_CONV_CONFIGS
from celosia.isa.encoding.tokens import TokenWait

every_instruction = pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
fewer = settings(max_examples=settings().max_examples // 5)
"""As a test has them for each instruction."""

COMMANDS = st.builds(
    Command,
    st.integers(0, (1 << FUNCT_BITS) - 1),
    st.integers(0, (1 << WORD_BITS) - 1),
    st.integers(0, (1 << WORD_BITS) - 1),
)


def operand_values(instruction: Instruction) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries({
        field.name: st.integers(0, field.limit - 1) for field in instruction.operands
    })


@every_instruction
def test_fields_say_in_words_what_they_are(instruction):
    assert instruction.doc.endswith(".")
    for field in instruction.operands:
        assert isinstance(field.kind, Kind)
        assert field.doc.endswith("."), field.name


@every_instruction
@fewer
@given(data=st.data())
def test_decoding_inverts_encoding(instruction, data):
    values = data.draw(operand_values(instruction))
    command = instruction.encode(**values)

    assert command.funct < 1 << FUNCT_BITS
    assert max(command.rs1, command.rs2) < 1 << WORD_BITS
    assert instruction.decode(command) == values
    assert instruction.matches(command)
    assert identify(command) is instruction


@every_instruction
@fewer
@given(data=st.data())
def test_every_field_changes_only_its_own_bits(instruction, data):
    values = data.draw(operand_values(instruction))
    zeros = dict.fromkeys(values, 0)
    words = [instruction.encode(**(zeros | {name: value})) for name, value in values.items()]
    base = instruction.encode(**zeros)
    whole = instruction.encode(**values)
    for register in ("rs1", "rs2"):
        parts = [getattr(word, register) ^ getattr(base, register) for word in words]
        assert sum(parts) == getattr(whole, register) ^ getattr(base, register)


@every_instruction
def test_fields_have_defaults_that_fit_and_names_of_their_own(instruction):
    names = [field.name for field in instruction.fields]
    assert len(set(names)) == len(names)
    command = instruction.encode()
    assert instruction.decode(command) == {
        field.name: field.default for field in instruction.operands
    }


@every_instruction
def test_values_that_do_not_fit_are_refused(instruction):
    for field in instruction.operands:
        for value in (-1, field.limit):
            with pytest.raises(ValueError, match=rf"{field.name}: {value} is not in 0\.\."):
                instruction.encode(**{field.name: value})


def test_unknown_fields_are_refused():
    with pytest.raises(ValueError, match="mvin: there is no field colour"):
        MVIN.encode(colour=1)


def test_an_instruction_is_told_by_all_of_its_fixed_fields():
    """Two fields of a word, one of the other: no bit of them may differ, and any other one may."""
    places = {"rs1": ((0, 2, 3), (5, 3, 4)), "rs2": ((8, 4, 9),)}
    fields = [
        Field(f"{word}_{low}", word, low, bits, "", fixed=value)
        for word, each in places.items()
        for low, bits, value in each
    ]
    instruction = Instruction("told", Funct.MVIN, "", tuple(fields))
    words = {"rs1": 3 | 4 << 5, "rs2": 9 << 8}
    assert instruction.matches(Command(Funct.MVIN, **words))
    assert not instruction.matches(Command(Funct.MVOUT, **words))
    for word, each in places.items():
        fixed = {low + bit for low, bits, _ in each for bit in range(bits)}
        for bit in range(WORD_BITS):
            other = words | {word: words[word] ^ 1 << bit}
            assert instruction.matches(Command(Funct.MVIN, **other)) == (bit not in fixed)


def test_fixed_fields_cannot_be_given():
    with pytest.raises(ValueError, match="config_ex: there is no field select"):
        CONFIG_EX.encode(select=0)


@pytest.mark.parametrize(("low", "bits"), [(4, 8), (11, 2), (60, 8), (57, 8), (64, 1)])
def test_a_field_that_overlaps_or_leaves_its_word_is_refused(low, bits):
    first = Field("first", "rs1", 8, 4, "")
    with pytest.raises(ValueError, match=r"bad\.(first|second): overlaps, or leaves rs1"):
        Instruction("bad", Funct.FLUSH, "", (first, Field("second", "rs1", low, bits, "")))


def test_a_fixed_value_or_default_that_does_not_fit_is_refused():
    for field in (Field("x", "rs1", 0, 4, "", fixed=16), Field("x", "rs2", 0, 4, "", default=16)):
        with pytest.raises(ValueError, match=r"bad\.x"):
            Instruction("bad", Funct.FLUSH, "", (field,))


def test_parts_of_a_convolution_follow_each_other():
    assert [int(part.funct) for part in LOOP_CONV_CONFIGS] == [16, 17, 18, 19, 20, 21]
    assert [part.name for part in LOOP_CONV_CONFIGS] == [f"loop_conv_{n}" for n in range(1, 7)]


@given(command=COMMANDS)
def test_at_most_one_instruction_matches_a_command(command):
    matching = [known for known in INSTRUCTIONS.values() if known.matches(command)]
    assert len(matching) <= 1
    assert identify(command) is (matching[0] if matching else None)


def test_functs_are_gemminis_or_celosias_own():
    gemmini = {
        "CONFIG": 0,
        "MVIN2": 1,
        "MVIN": 2,
        "MVOUT": 3,
        "COMPUTE_PRELOADED": 4,
        "COMPUTE_ACCUMULATED": 5,
        "PRELOAD": 6,
        "FLUSH": 7,
        "MVIN3": 14,
    }
    for funct in Funct:
        assert gemmini.get(funct.name) == funct or 32 <= funct <= 63
    assert {known.funct for known in INSTRUCTIONS.values()} == set(Funct)


def test_words_of_gemminis_macros():
    """Written out from Gemmini's C macros, as its specification describes them."""
    assert CONFIG_EX.encode(activation=1, a_transpose=1, a_stride=3, c_stride=5) == Command(
        0, 3 << 16 | 1 << 8 | 1 << 3 | 1 << 2, 5 << 48
    )
    assert CONFIG_LD.encode(stride=768, shrunk=1, set=2, block_stride=16) == Command(
        0, 0x3F80_0000 << 32 | 16 << 16 | 1 << 8 | 2 << 3 | 1 << 2 | 1, 768
    )
    assert CONFIG_ST.encode(stride=768, activation=1, scale=float_bits(0.5)) == Command(
        0, 1 << 2 | 2, 0x3F00_0000 << 32 | 768
    )
    tile = 7 << 48 | 9 << 32 | 0x8000_0010
    fields = {"local": 0x8000_0010, "local_cols": 9, "local_rows": 7}
    assert MVIN.encode(dram=0x1234, **fields) == Command(2, 0x1234, tile)
    assert MVOUT.encode(dram=0x1234, **fields) == Command(3, 0x1234, tile)
    assert PRELOAD.encode(b=1, b_cols=2, b_rows=3, c=4, c_cols=5, c_rows=6) == Command(
        6, 3 << 48 | 2 << 32 | 1, 6 << 48 | 5 << 32 | 4
    )
    for funct, compute in ((4, COMPUTE_PRELOADED), (5, COMPUTE_ACCUMULATED)):
        assert compute.encode(a=1, a_cols=2, a_rows=3, d=4, d_cols=5, d_rows=6) == Command(
            funct, 3 << 48 | 2 << 32 | 1, 6 << 48 | 5 << 32 | 4
        )


@given(commands=st.lists(COMMANDS, max_size=5))
def test_a_ring_image_holds_the_commands(commands):
    image = pack_ring(commands)
    assert len(image) == 24 * len(commands)
    assert unpack_ring(image) == commands


def test_a_ring_entry_is_little_endian():
    entry = pack_ring([Command(0x21, 0x0102030405060708, 0x1112131415161718)])
    assert entry.hex() == "210000000000000008070605040302011817161514131211"


@pytest.mark.parametrize("size", [1, 8, 23, 25, 32])
def test_a_torn_ring_image_is_refused(size):
    with pytest.raises(ValueError, match=f"{size} bytes are not a whole number"):
        unpack_ring(bytes(size))


@pytest.mark.parametrize(("funct", "zero"), [(128, 0), (2, 1)])
def test_a_malformed_ring_entry_is_refused(funct, zero):
    image = pack_ring([MVIN.encode()]) + RING_ENTRY.pack(funct, zero, 0, 0)
    with pytest.raises(ValueError, match=r"entry 1: .* is no command"):
        unpack_ring(image)


@given(value=st.floats(width=32, allow_nan=False))
def test_float_bits_are_those_of_the_float(value):
    assert struct.unpack("<f", struct.pack("<I", float_bits(value)))[0] == value


def test_a_load_that_waits_tells_its_token_and_how_far_it_is():
    text = TokenWait(token=3, count=1200).describe(1001)
    assert text == "load waits for token 3: 1,001 of 1,200 stores have finished"
