"""Assembly and commands convert into each other without loss."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_LD,
    CONFIG_ST,
    INSTRUCTIONS,
    KEEP_SCALE,
    MVIN,
    PRELOAD,
    STRIDE,
    Command,
    Kind,
    float_bits,
    pack_ring,
)
from celosia.sw.driver.assembly import disassemble, format_command, format_local, parse_command

NAN = 0x7FC0_0001


@st.composite
def instructions(draw: st.DrawFn) -> Command:
    """Any instruction with any values in its fields, typical and odd ones above all."""
    instruction = draw(st.sampled_from(list(INSTRUCTIONS.values())))
    values = {}
    for field in instruction.operands:
        odd = [field.default, 0, field.limit - 1]
        if field.kind is Kind.FLOAT:
            odd += [float_bits(x) for x in (0.1, -0.0, 1e-45, float("inf"), 3e38)] + [NAN]
        if field.kind is Kind.LOCAL:
            odd += [GARBAGE, GARBAGE & ~(1 << 26), LocalAddress(row=5, accumulator=True).encode()]
        values[field.name] = draw(st.one_of(st.sampled_from(odd), st.integers(0, field.limit - 1)))
    return instruction.encode(**values)


words = st.integers(0, (1 << 64) - 1)


def test_bodies_of_loops_are_indented():
    text = """\
repeat count=3 length=4
    mvin dram=0x80000000 local=sp[0]
    stride addend1=64 addend2=-1
    repeat count=2 length=1
        fence
flush
"""
    commands = [parse_command(line) for line in text.splitlines()]
    assert disassemble(pack_ring(commands)) == text


def test_addends_have_a_sign():
    command = STRIDE.encode(addend1=(1 << 48) - 5, addend2=7, wrap1_2=3)
    assert format_command(command) == "stride addend1=-5 wrap1_2=3 addend2=7"
    with pytest.raises(ValueError, match=r"stride.addend1: 140737488355328 is not in -140737"):
        parse_command(f"stride addend1={1 << 47}")


@given(instructions())
def test_every_instruction_survives_the_round_trip(command):
    assert parse_command(format_command(command)) == command


@given(st.builds(Command, st.integers(0, 127), words, words))
def test_every_word_survives_the_round_trip(command):
    assert parse_command(format_command(command)) == command


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            MVIN.encode(dram=0x8000_0040, local=128, local_cols=64, local_rows=16),
            "mvin dram=0x80000040 local=sp[128] local_cols=64 local_rows=16",
        ),
        (
            PRELOAD.encode(b=64, b_cols=16, b_rows=16, c=0xC000_0000, c_cols=16, c_rows=64),
            "preload b=sp[64] b_cols=16 b_rows=16 c=acc[0]+accumulate c_cols=16 c_rows=64",
        ),
        (
            COMPUTE_PRELOADED.encode(a=3, a_cols=1, a_rows=2, d=GARBAGE),
            "compute_preloaded a=sp[3] a_cols=1 a_rows=2 d=none",
        ),
        (CONFIG_LD.encode(set=1, scale=float_bits(0.1)), "config_ld set=1 scale=0.1"),
        (CONFIG_ST.encode(scale=KEEP_SCALE), "config_st scale=0xffffffff"),
        (Command(32, 1, 0), ".word 0x20 0x1 0x0"),
        (Command(127, 0, 2), ".word 0x7f 0x0 0x2"),
    ],
)
def test_the_text_is_what_people_expect(command, text):
    assert format_command(command) == text
    assert parse_command(text) == command


def test_a_local_address_shows_every_flag():
    word = LocalAddress(row=7, accumulator=True, accumulate=True, full=True, norm=3).encode()
    assert format_local(word) == "acc[7]+accumulate+full+norm=3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no instruction ''"),
        ("mvim dram=0", "there is no instruction 'mvim'; there are config_ex"),
        ("mvin dram", "mvin: 'dram': write operands as field=value"),
        ("mvin rows=1", "mvin: there is no field 'rows'; there are: dram, local"),
        ("fence x=1", "fence: there is no field 'x'; there are: none"),
        ("mvin dram=1 dram=2", "mvin.dram: 2 is the second value"),
        ("mvin dram=q", "mvin.dram: 'q' is not a whole number"),
        ("mvin local_rows=65536", "mvin.local_rows: 65536 is not in 0..65535"),
        ("mvin dram=-1", "mvin.dram: -1 is not in 0..18446744073709551615"),
        ("config_ld scale=big", "config_ld.scale: 'big' is not a float32"),
        ("config_ld scale=1e39", "config_ld.scale: '1e39' is not a float32"),
        ("mvin local=ram[1]", "mvin.local: 'ram[1]' is not a local address: sp[ROW]"),
        ("mvin local=sp[-1]", "mvin.local: local address row: -1 is not in 0..67108863"),
        ("mvin local=acc[1]+half", "mvin.local: 'acc[1]+half': +half is not one of"),
        ("mvin local=acc[1]+full+full", "+full is not one of +accumulate, +full, +norm=N, once"),
        ("mvin local=acc[1]+norm", "+norm is not one of"),
        ("mvin local=acc[1]+norm=8", "norm: 8 is not in 0..7"),
        (".word 1 2", ".word: 2 numbers given, needs funct, rs1 and rs2"),
        (".word 128 0 0", ".word.funct: 128 is not in 0..0x7f"),
        (".word 0 x 0", "'x' is not a whole number"),
    ],
)
def test_an_error_names_field_value_and_rule(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_command(text)


@given(st.lists(instructions(), max_size=5))
def test_a_ring_is_disassembled_line_by_line(commands):
    lines = disassemble(pack_ring(commands)).splitlines()
    assert [parse_command(line) for line in lines] == commands


def test_a_torn_ring_is_refused():
    with pytest.raises(ValueError, match="25 bytes are not a whole number of 24-byte entries"):
        disassemble(bytes(25))
