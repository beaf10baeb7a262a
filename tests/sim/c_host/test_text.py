"""Commands in words, as the library says them of a failure: they are assembly."""

import random
import subprocess
from pathlib import Path

import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import INSTRUCTIONS, Command, Field, Kind, float_bits, pack_ring
from celosia.sw.driver.assembly import parse_command
from tests.support.c_host import compile_parts

EACH = 40
"""Commands of each instruction."""


@pytest.fixture(scope="module")
def printer(tmp_path_factory) -> Path:
    """A program that prints commands."""
    work = tmp_path_factory.mktemp("printer")
    return compile_parts(work, Path(__file__).with_name("printer.cpp"), "text.cpp")


def printed(printer: Path, commands: list[Command]) -> list[str]:
    done = subprocess.run([printer], input=pack_ring(commands), capture_output=True, check=True)
    return done.stdout.decode().splitlines()


def drawn(rng: random.Random, field: Field) -> int:
    """The default, an end of the range, or any value; addresses of rows, and finite floats."""
    if field.kind is Kind.FLOAT:
        sizes = (0.1, 1 / 3, 1e-45, 3.4e38, 0.0, rng.uniform(0, 1e-6), rng.uniform(0, 1e6))
        return float_bits(rng.choice((1, -1)) * rng.choice(sizes))
    if field.kind is Kind.LOCAL:
        row, names = rng.randrange(1 << 14), ("accumulator", "accumulate", "full")
        flags = {name: rng.random() < 0.5 for name in names}
        local = LocalAddress(row=row, **flags, norm=rng.randrange(8)).encode()
        return rng.choice((GARBAGE, local))
    return rng.choice((field.default, 0, field.limit - 1, rng.randrange(field.limit)))


def test_every_command_can_be_read_again(printer):
    """No bit of a field is lost: of scales, too, which have nine digits."""
    rng = random.Random(1)
    commands = [
        instruction.encode(**{field.name: drawn(rng, field) for field in instruction.operands})
        for instruction in INSTRUCTIONS.values()
        for _ in range(EACH)
    ]
    for command, line in zip(commands, printed(printer, commands), strict=True):
        assert parse_command(line) == command, line


def test_what_no_instruction_has_is_a_word(printer):
    word = Command(99, 1 << 63, 5)
    assert printed(printer, [word]) == [".word 0x63 0x8000000000000000 0x5"]
    assert parse_command(".word 0x63 0x8000000000000000 0x5") == word
