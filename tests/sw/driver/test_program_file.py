"""Programs as text."""

import re

import pytest

from celosia.isa.encoding import FENCE, MVIN
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sw.driver.program_file import (
    Content,
    ProgramError,
    ProgramFile,
    Region,
    format_program,
    load_program,
    parse_program,
    random_bytes,
)

TEXT = """\
# A comment.
.preset tiny      # and another
.set parameter_rows=8
.memory 65536
.data 0x80000040 00ff12
.data 0x80000043 aa
.random 0x80001000 100 7
.zeros 0x80001010 16

.check 0x80003000 64
mvin dram=0x80000040 local=sp[0] local_cols=4 local_rows=1
fence
"""


def test_every_part_is_read():
    program = parse_program(TEXT)
    assert program.config == PRESETS["tiny"].with_values({"parameter_rows": 8})
    assert program.memory_bytes == 65536
    assert program.contents[0] == Content(Region(MEMORY_BASE + 0x40, 4), b"\x00\xff\x12\xaa")
    assert program.checks == (Region(MEMORY_BASE + 0x3000, 64),)
    expected = MVIN.encode(dram=0x8000_0040, local=0, local_cols=4, local_rows=1)
    assert program.commands == (expected, FENCE.encode())


def test_a_program_survives_the_round_trip():
    program = parse_program(TEXT)
    text = format_program(program)
    assert parse_program(text) == program
    assert format_program(parse_program(text)) == text


def test_long_data_is_written_in_lines_and_read_as_one():
    data = bytes(range(200))
    content = Content(Region(MEMORY_BASE, len(data)), data)
    text = format_program(ProgramFile(contents=(content,)))
    assert max(map(len, text.splitlines())) < 100
    assert parse_program(text).contents == (content,)


def test_only_data_without_a_gap_between_becomes_one():
    lines = (".data 0x80000000 01", ".data 0x80000001 02", ".data 0x80000003 04")
    program = parse_program("\n".join((*lines, ".data 0x80000002 03", ".zeros 0x80000003 1")))
    assert program.contents == (
        Content(Region(MEMORY_BASE, 2), b"\x01\x02"),
        Content(Region(MEMORY_BASE + 3, 1), b"\x04"),
        Content(Region(MEMORY_BASE + 2, 1), b"\x03"),
        Content(Region(MEMORY_BASE + 3, 1)),
    )
    assert program.memory_image()[:5] == bytes([1, 2, 3, 0, 0])


def test_memory_is_zero_but_for_contents_and_the_later_one_wins():
    image = parse_program(TEXT).memory_image()
    stream = random_bytes(100, 7)
    assert len(image) == 65536
    assert image[0x3F:0x45] == b"\x00\x00\xff\x12\xaa\x00"
    assert image[0x1000:0x1010] == stream[:16]
    assert image[0x1010:0x1020] == bytes(16)
    assert image[0x1020:0x1064] == stream[32:]


def test_random_bytes_stay_what_they_are():
    assert random_bytes(8, 0).hex() == "42e5bfbe6a42066a"
    assert random_bytes(3, 1) == random_bytes(100, 1)[:3] != random_bytes(3, 2)


def test_defaults_are_enough():
    program = parse_program("fence\n")
    assert program.config == PRESETS["base"]
    assert program.checks == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (".preset nope", "preset: there is no preset 'nope'"),
        (".set dim=3", "dim: 3 is not a power of two in 2..64"),
        (".set speed=3", "speed: no such parameter"),
        (".set dim", "override 'dim': write it as key=value"),
        (".foo 1", "there is no directive '.foo'; there are .preset"),
        (".random 1 2", ".random with 2 values; write it as .random ADDRESS SIZE SEED"),
        (".memory 0", "SIZE: 0 is not in 1.."),
        (".memory much", "SIZE: 'much' is not a whole number"),
        (".data 0x80000000 0", "BYTES: '0' is not pairs of hexadecimal digits"),
        (".data 0x80000000 xy", "BYTES: 'xy' is not pairs of hexadecimal digits"),
        (".zeros 0x80000000 0", "SIZE: 0 is not in 1.."),
        (".check 0 4", "4 bytes at 0x0 are not inside the memory, 0x80000000..0x800fffff"),
        (".check 0x800ffffe 4", "4 bytes at 0x800ffffe are not inside the memory"),
        (".random 0x80000000 4 -1", "SEED: -1 is not in 0.."),
        ("mvin x=3", "mvin: there is no field 'x'"),
        (".word 1", ".word: 1 numbers given"),
    ],
)
def test_an_error_names_file_and_line(line, message):
    with pytest.raises(ProgramError, match=re.escape(f"p.cel:2: {message}")):
        parse_program(f"fence\n{line}\nfence\n", "p.cel")


def test_an_impossible_combination_is_blamed_on_a_line_that_makes_it():
    text = ".set dim=64\n.set scratchpad_kib=1\nfence\n"
    with pytest.raises(ProgramError, match=r"^<program>:2: scratchpad_kib, scratchpad_banks"):
        parse_program(text)


def test_a_file_is_loaded(tmp_path):
    path = tmp_path / "p.cel"
    path.write_text(TEXT)
    assert load_program(path) == parse_program(TEXT)


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ProgramError, match=r"missing.cel: No such file"):
        load_program(tmp_path / "missing.cel")
    (tmp_path / "bytes.cel").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match=r"bytes.cel: not a text file"):
        load_program(tmp_path / "bytes.cel")
