"""Celosia's loops, functs 38 to 41: commands for many (`celosia.isa.operations.loops`)."""

from collections.abc import Callable
from typing import Final

from celosia.isa.encoding.fields import Field, Funct, Instruction, Kind, rs1, rs2

__all__ = [
    "ADDEND_BITS",
    "CONFIG_PRODUCTS",
    "LANES",
    "LANE_BITS",
    "PRODUCTS",
    "REPEAT",
    "STRIDE",
    "WRAP_BITS",
]

LANE_BITS: Final = 16
"""Width of a part of an operand that STRIDE can wrap, in bits."""

LANES: Final = 3
"""Parts of an operand that STRIDE can wrap, from bit 0 on."""

ADDEND_BITS: Final = LANE_BITS * LANES
"""Width of what STRIDE adds to an operand, in bits."""

WRAP_BITS: Final = 4
"""Width of what STRIDE says of how a part wraps, in bits."""


def _advance(operand: Callable[..., Field], number: str) -> tuple[Field, ...]:
    """What a STRIDE says of an operand."""
    return (
        operand(f"addend{number}", 0, ADDEND_BITS, f"Added to rs{number}.", Kind.SIGNED),
        *(
            operand(
                f"wrap{number}_{lane}",
                ADDEND_BITS + WRAP_BITS * lane,
                WRAP_BITS,
                f"Lane {lane} of rs{number}.",
            )
            for lane in range(LANES)
        ),
    )


CONFIG_PRODUCTS: Final = Instruction(
    "config_products",
    Funct.CONFIG_PRODUCTS,
    "Set where the tiles of PRODUCTS stand, from its next use on: local rows from one to the next, "
    "modulo 2^16.",
    (
        rs1("a_k", 0, 16, "A, one tile further along K."),
        rs1("a_piece", 16, 16, "A, from the first tile of a piece to that of the next one."),
        rs1("w_k", 32, 16, "The weights, one tile further along K."),
        rs1("w_piece", 48, 16, "The weights, from the first tile of a piece to that of the next."),
        rs2("w_column", 0, 16, "The weights, one tile of columns further."),
        rs2("c_column", 16, 16, "C, one tile of columns further."),
    ),
)

PRODUCTS: Final = Instruction(
    "products",
    Funct.PRODUCTS,
    "C = A*W for tiles in the scratchpad and sums in the accumulator: for each tile of columns, "
    "for each piece of K, for each tile of K in it, a PRELOAD and a COMPUTE_PRELOADED.  Each "
    "count is at least 1; tiles of K are dim deep and tiles of columns dim wide, but for the last.",
    (
        rs1("a", 0, 16, "First row of the first tile of A."),
        rs1("w", 16, 16, "First row of the first tile of the weights."),
        rs1("c", 32, 16, "First accumulator row of the first tile of C."),
        rs1("overwrite", 48, 1, "The first product of each C overwrites it.", Kind.FLAG),
        rs2("rows", 0, 16, "Rows of A and C."),
        rs2("k", 16, 8, "Tiles of K in a piece."),
        rs2("pieces", 24, 8, "Pieces of K."),
        rs2("columns", 32, 8, "Tiles of columns."),
        rs2("last_depth", 40, 8, "Depth of the last tile of the last piece."),
        rs2("last_cols", 48, 8, "Columns of the last tile of columns."),
    ),
)

REPEAT: Final = Instruction(
    "repeat",
    Funct.REPEAT,
    "Issue the next `length` commands `count` times.  They may hold other REPEATs, which end "
    "within; STRIDEs count as commands here, but only change the command before them.  The last "
    "iteration may end early: then the commands that it leaves out are a part of their own, in "
    "which inner REPEATs and STRIDEs of what is before it do not end.",
    (
        rs1("count", 0, 32, "Iterations, at least 1; at least 2 if the last one ends early."),
        rs2("length", 0, 16, "Commands, at least 1."),
        rs2(
            "left_out",
            16,
            16,
            "Commands at the end of the body that the last iteration leaves "
            "out: fewer than `length`.",
        ),
    ),
)

STRIDE: Final = Instruction(
    "stride",
    Funct.STRIDE,
    "Let the command before (other than REPEAT) advance between iterations.  The first STRIDE "
    "behind a command is for the innermost loop around it, the next one for the loop around that, "
    "and so on.  Each time the command has been issued, the addends of the innermost loop with "
    "iterations left are added to its operands, sign-extended from 48 bits.  A lane is 16 bits of "
    "an operand: if its wrap n is not 0, only its low n bits advance, modulo 2^n, and nothing is "
    "carried out of it.",
    (
        *_advance(rs1, "1"),
        *_advance(rs2, "2"),
    ),
)
