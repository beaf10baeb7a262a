"""Bytes and products of command lists."""

import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    Command,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.run.programs.program_work import program_work

TINY = PRESETS["tiny"]
ACC = LocalAddress(row=0, accumulator=True).encode()
FULL = LocalAddress(row=0, accumulator=True, full=True).encode()


def work(*commands):
    return program_work(commands, TINY)


def move(instruction, local, rows=3, cols=4, dram=MEMORY_BASE):
    return instruction.encode(dram=dram, local=local, local_rows=rows, local_cols=cols)


@pytest.mark.parametrize(
    ("command", "read", "written"),
    [
        (move(MVIN, 0), 12, 0),
        (move(MVIN, ACC), 48, 0),
        (move(MVIN, 0, dram=0), 0, 0),  # Zeros are not read.
        (move(MVIN, 0, rows=0), 0, 0),
        (MVIN_PARAM.encode(dram=MEMORY_BASE, row=0, count=5), 20, 0),
        (move(MVOUT, 0), 0, 12),
        (move(MVOUT, ACC), 0, 12),
        (move(MVOUT, FULL), 0, 48),
    ],
)
def test_bytes_are_those_that_move(command, read, written):
    found = work(command)
    assert (found.read_bytes, found.write_bytes, found.macs) == (read, written, 0)


def product(instruction=COMPUTE_PRELOADED, a=0, a_rows=3, a_cols=4):
    return instruction.encode(a=a, a_rows=a_rows, a_cols=a_cols, d=GARBAGE)


def weights(b=8, b_rows=4, b_cols=2, c_rows=3, c_cols=2):
    return PRELOAD.encode(b=b, b_rows=b_rows, b_cols=b_cols, c=ACC, c_rows=c_rows, c_cols=c_cols)


def test_products_are_those_that_all_operands_have():
    assert work(weights(), product()).macs == 3 * 4 * 2
    assert work(weights(c_rows=2), product()).macs == 2 * 4 * 2
    assert work(weights(c_cols=1), product()).macs == 3 * 4 * 1
    assert work(weights(b_rows=3), product()).macs == 3 * 3 * 2


def test_weights_that_stay_are_used_again():
    again = product(COMPUTE_ACCUMULATED)
    assert work(weights(), product(), weights(b=GARBAGE), again).macs == 2 * 24


def test_zeros_make_no_useful_products():
    assert work(weights(b=GARBAGE), product()).macs == 0
    assert work(weights(), product(a=GARBAGE)).macs == 0


def test_nothing_counts_behind_a_command_that_breaks_a_rule():
    assert work(Command(0x7F), move(MVIN, 0)).read_bytes == 0
    both_transposed = CONFIG_EX.encode(a_transpose=1, b_transpose=1)
    assert work(move(MVIN, 0), both_transposed, move(MVIN, 0)).read_bytes == 12
