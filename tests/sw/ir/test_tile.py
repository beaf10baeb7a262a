"""Tile programs: what makes one well formed, and what it means."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.tile import Load, Multiply, Op, Piece, Store, TileProgram, interpret, verify

TINY = PRESETS["tiny"]
A0, A1 = Piece("a", 0, 0, 3, 4), Piece("a", 0, 4, 3, 2)
B0, B1 = Piece("b", 0, 0, 4, 5), Piece("b", 4, 0, 2, 5)
BIAS = Piece("bias", 0, 0, 1, 5)
OPS: tuple[Op, ...] = (
    Load(A0, 0),
    Load(B0, 100),
    Multiply(0, 3, 0, 4, 0, 4, A0, B0, 0),
    Multiply(0, 3, 4, 1, 0, 4, A0, B0, 3),
    Load(A1, 0),
    Load(B1, 108),
    Multiply(0, 3, 0, 4, 4, 2, A1, B1, 0),
    Multiply(0, 3, 4, 1, 4, 2, A1, B1, 3),
    Load(BIAS, 6),
    Store(0, 3, 0, 5, 0, BIAS),
)
"""3 x 5 x 6 on a 4 x 4 array."""
PROGRAM = TileProgram(MatMul(m=3, n=5, k=6, bias=True), TINY, OPS, {"a": 3, "b": 4, "c": 3})


def changed(index: int, *ops: Op) -> TileProgram:
    """The program with the operation at `index` replaced by `ops`."""
    return replace(PROGRAM, ops=(*OPS[:index], *ops, *OPS[index + 1 :]))


def test_a_well_formed_program_is_returned():
    assert verify(PROGRAM) is PROGRAM


def test_it_means_the_product():
    random = np.random.default_rng(0)
    tensors = {
        "a": random.integers(-128, 128, (3, 6), np.int8),
        "b": random.integers(-128, 128, (6, 5), np.int8),
        "bias": random.integers(-100, 100, (1, 5), np.int32),
    }
    expected = tensors["a"].astype(int) @ tensors["b"].astype(int) + tensors["bias"]
    assert np.array_equal(interpret(PROGRAM, tensors), expected)


def test_it_prints_line_by_line():
    assert str(PROGRAM).splitlines()[3:6] == [
        "c[0:3, 4:5]@3 = k 0:4 a[0:3, 0:4] b[0:4, 0:5]",
        "load a[0:3, 4:6] to 0",
        "load b[4:6, 0:5] to 108",
    ]
    assert str(PROGRAM).splitlines()[-1] == "store c[0:3, 0:5]@0 + bias[0:1, 0:5]"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (changed(0), "op 1: .*a.* has not been loaded"),
        (changed(0, Load(A0, TINY.scratchpad_rows - 2)), "op 0: .* are not in 0..4095"),
        (changed(1, Load(B0, 2)), "op 2: .*a.* has been overwritten"),
        (changed(5, Load(B1, 1)), "op 6: .*a.* has been overwritten"),
        (changed(8), "op 8: .*bias.* has not been loaded"),
        (changed(8, Load(BIAS, 127)), "op 8: .*rows 127..128 are not in 0..127"),
        (changed(2), "op 5: .*does not continue the sum"),
        (changed(2, *[OPS[2]] * 2), "op 3: .*overwrites a tile that has not been stored"),
        (changed(3, replace(OPS[3], at=2)), "op 3: .*overwrites a tile"),
        (changed(3, replace(OPS[3], at=511)), "op 3: .*rows 511..513 are not in the accumulator"),
        (changed(6), "op 8: .*accumulator row 0 does not hold the finished tile"),
        (changed(9), "0 elements of C are stored, not all of them"),
        (changed(9, Store(0, 3, 0, 4, 0)), "12 elements of C are stored"),
        (changed(3, replace(OPS[3], b=Piece("b", 0, 0, 4, 4))), "has not been loaded"),
        (changed(2, replace(OPS[2], a=A1)), "has not been loaded"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(program, message):
    with pytest.raises(ValueError, match=message):
        verify(program)


def test_a_product_outside_of_its_piece_is_wrong():
    narrow = Piece("b", 0, 0, 4, 4)
    ops = (*OPS[:1], Load(narrow, 100), OPS[2], replace(OPS[3], b=narrow))
    with pytest.raises(ValueError, match="does not hold its tile of B"):
        verify(
            replace(
                PROGRAM,
                ops=tuple(replace(op, b=narrow) if isinstance(op, Multiply) else op for op in ops),
            )
        )
    other = Piece("a", 1, 0, 3, 4)
    ops = (Load(other, 0), OPS[1], replace(OPS[2], a=other))
    with pytest.raises(ValueError, match="does not hold its tile of A"):
        verify(replace(PROGRAM, ops=ops))
