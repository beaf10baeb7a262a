"""Matrices in local rows: they come back, and stand where the instruction set says."""

import numpy as np
import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.operations.transforms import Rows

CONFIG = AcceleratorConfig(
    dim=4, scratchpad_kib=1, accumulator_kib=1, accumulator_banks=1, parameter_rows=8
)
FILL = 0xA5


def place(row: int, stride: int, blocks: int, *, accumulator: bool = False) -> Rows:
    return Rows(local=LocalAddress(row=row, accumulator=accumulator), stride=stride, blocks=blocks)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("cols", [1, 4, 7])
@pytest.mark.parametrize("stride", [3, 9])
@pytest.mark.parametrize("accumulator", [False, True])
def test_a_matrix_comes_back(kind, cols, stride, accumulator):
    memories, size = LocalMemories(CONFIG, fill=FILL), np.dtype(kind).itemsize
    x = np.random.default_rng(cols).integers(0, 100, (3, cols)).astype(kind)
    row_bytes = CONFIG.dim * (4 if accumulator else 1)
    at = place(5, stride, -(-cols * size // row_bytes), accumulator=accumulator)
    memories.put(at, x)
    assert (memories.get(at, 3, cols, kind) == x).all()


def test_blocks_stand_below_each_other_and_nothing_else_changes():
    memories = LocalMemories(CONFIG, fill=FILL)
    memories.put(place(7, 3, 2), np.arange(10, dtype=np.int8).reshape(2, 5))
    rows = memories.scratchpad.view(np.uint8)
    assert (rows[8] == [5, 6, 7, 8]).all()
    assert (rows[10] == [4, FILL, FILL, FILL]).all()
    assert (rows[9] == FILL).all()


def test_of_rows_that_meet_the_last_one_stays():
    memories = LocalMemories(CONFIG, fill=FILL)
    x = np.arange(16, dtype=np.int8).reshape(2, 8)
    memories.put(place(0, 1, 2), x)
    # Row 0 is written to local rows 0 and 1, then row 1 to local rows 1 and 2.
    assert (memories.scratchpad[:3] == [x[0, :4], x[1, :4], x[1, 4:]]).all()


def test_parameters_are_a_vector():
    memories = LocalMemories(CONFIG, fill=FILL)
    memories.put_parameters(2, np.arange(6, dtype=np.int32))
    assert (memories.parameter_vector(2, 6) == range(6)).all()
    assert (memories.parameters[3] == [4, 5, -0x5A5A5A5B, -0x5A5A5A5B]).all()


@pytest.mark.parametrize("bits", [8, 24])
def test_they_know_what_operations_ask_of_the_configuration(bits):
    memories = LocalMemories(CONFIG.with_values({"scale_bits": bits}))
    assert (memories.dim, memories.scale_bits) == (4, bits)


def test_garbage_depends_on_the_seed_alone():
    first, same, other = (LocalMemories(CONFIG, seed=seed) for seed in (1, 1, 2))
    assert (first.scratchpad == same.scratchpad).all()
    assert (first.accumulator == same.accumulator).all()
    assert (first.scratchpad != other.scratchpad).any()
