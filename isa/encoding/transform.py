"""Celosia's own instructions for what is not a product: functs 35 and 36.

A TRANSFORM walks the rows of a matrix in the accumulator (int32) or the scratchpad (int16), applies
one function to it, and writes what comes out into the scratchpad.  Functions that need a fact of
the whole row (its maximum, its sum) keep it in the statistics memory, a slot for each row, from one
TRANSFORM to the next: so a row may be worked on in several pieces.  `celosia.isa.numerics` defines
the arithmetic.
"""

from typing import Final

from celosia.isa.encoding.fields import (
    ONE,
    Field,
    Funct,
    Instruction,
    Kind,
    choice,
    rs1,
    rs2,
    tile,
)
from celosia.isa.functions.table import Function
from celosia.isa.functions.types import ElementType
from celosia.isa.numerics import EXPONENT, GELU, MAX_COLUMNS
from celosia.isa.numerics.normalization import EPSILON_BITS

__all__ = [
    "CONFIG_EXPONENT",
    "CONFIG_GELU",
    "CONFIG_MASK",
    "CONFIG_NORM",
    "CONFIG_ROWS",
    "CONFIG_TRANSFORM",
    "NO_KEY_LIMIT",
    "TRANSFORM",
    "WINDOW_BITS",
    "ElementType",
    "Function",
]

NO_KEY_LIMIT: Final = 0xFFFF
"""The keys with which CONFIG_MASK masks no column by its number."""
WINDOW_BITS: Final = MAX_COLUMNS.bit_length()
"""Bits of the sizes of CONFIG_MASK's window and ring: up to `MAX_COLUMNS` keys."""


def _select(value: int) -> Field:
    return Field("select", "rs1", 0, 3, "Which CONFIG_TRANSFORM.", Kind.INT, value)


CONFIG_TRANSFORM: Final = Instruction(
    "config_transform",
    Funct.CONFIG_TRANSFORM,
    "Set what TRANSFORM computes, from its next use on.",
    (
        _select(0),
        choice(rs1, "function", 3, 4, "What is computed.", Function),
        choice(rs1, "type", 7, 2, "Elements of the result.", ElementType),
        rs1("bias", 12, 1, "Add parameter rows to the accumulator's first.", Kind.FLAG),
        rs1(
            "column_scale",
            13,
            1,
            "`scale` is per column, in parameter rows (the field keeps the rules of a scale).",
            Kind.FLAG,
        ),
        rs1("relu", 14, 1, "Negative results become 0 (requantize, context).", Kind.FLAG),
        rs1("start", 15, 1, "The rows' statistics start afresh.", Kind.FLAG),
        rs1("finish", 16, 1, "The rows' statistics are complete: derive from them.", Kind.FLAG),
        rs1("moments", 17, 1, "A residual also counts as moments.", Kind.FLAG),
        rs1(
            "stored",
            18,
            1,
            "Scores saturate to int16, as those that wait in memory (int16 rows always do).",
            Kind.FLAG,
        ),
        rs1("zero_point", 24, 8, "Added to a rounded uint8 result."),
        rs1("statistics", 32, 16, "Statistics slot of the first row."),
        rs2(
            "scale",
            0,
            32,
            "Of what is read from the accumulator, and of the maximum of rows.",
            Kind.FLOAT,
            ONE,
        ),
        rs2(
            "scale2",
            32,
            32,
            "Of what leaves (activations, multiply, rotate), or of the second term (residual).",
            Kind.FLOAT,
            ONE,
        ),
    ),
)

CONFIG_ROWS: Final = Instruction(
    "config_rows",
    Funct.CONFIG_TRANSFORM,
    "Set where TRANSFORM finds its rows and parameters, and puts its results.",
    (
        _select(1),
        rs1("source_stride", 16, 16, "Local rows from one source block to the next."),
        rs1("target_stride", 32, 16, "Local rows from one result block to the next."),
        rs1(
            "residual_stride",
            48,
            16,
            "Local rows from one block of the residual, or factor, to the next.",
        ),
        rs2("bias_row", 0, 16, "Parameter row of the bias of the first block; block b: + b."),
        rs2("scale_row", 16, 16, "Parameter row of the scales of the first block; block b: + b."),
        rs2(
            "residual",
            32,
            32,
            "Local address of the residual, or of the factor (int16).",
            Kind.LOCAL,
        ),
    ),
)

CONFIG_NORM: Final = Instruction(
    "config_norm",
    Funct.CONFIG_TRANSFORM,
    "Set how rows are normalized by `layernorm`, and what complete `moments` are derived with: how "
    "many channels they are of, an epsilon, and whether the mean counts.",
    (
        _select(2),
        rs1("two", 3, 1, "There is a second result.", Kind.FLAG),
        choice(rs1, "type2", 4, 2, "Elements of the second result.", ElementType),
        rs1("shift", 6, 5, "Right shift of the first result."),
        rs1("shift2", 11, 5, "Right shift of the second result."),
        rs1("target2_stride", 16, 16, "Local rows from one block of it to the next."),
        rs1("parameter_row", 32, 16, "Of the first block's gamma; its beta is in the row behind."),
        rs1("channels", 48, 16, "Elements of a whole row."),
        rs2("epsilon", 0, EPSILON_BITS, "Added to the sum of squared distances."),
        rs2("rms", 40, 1, "Rows keep their mean: distances are from 0 (RMSNorm).", Kind.FLAG),
    ),
)

CONFIG_MASK: Final = Instruction(
    "config_mask",
    Funct.CONFIG_TRANSFORM,
    "Set which columns softmax functions leave out: column c of row r is key first_key + c, and "
    "counts if that is below `keys` and, when `causal`, at most first_row + r; a `window` that is "
    "not 0 hides keys up to first_row + r - window. With a `ring`, too, all behind first_row + r - "
    "window + ring count: keys are the places of a ring, which holds the last ones of a text.",
    (
        _select(3),
        rs1("causal", 3, 1, "Rows do not see later keys.", Kind.FLAG),
        rs1("keys", 16, 16, "Number of keys; all ones: no limit.", Kind.INT, NO_KEY_LIMIT),
        rs1("first_key", 32, 16, "Key of column 0."),
        rs1("first_row", 48, 16, "Position of row 0."),
        rs2("window", 0, WINDOW_BITS, "Keys that a row sees, its own the last; 0: all before it."),
        rs2("ring", 16, WINDOW_BITS, "Keys after which their places begin again; 0: never."),
    ),
)

CONFIG_EXPONENT: Final = Instruction(
    "config_exponent",
    Funct.CONFIG_TRANSFORM,
    "Set the constants of the exponential.",
    (
        _select(4),
        rs1("ln2", 4, 12, "ln 2.", Kind.INT, EXPONENT.ln2),
        rs1("inverse_ln2", 16, 15, "1 / ln 2, 24 fraction bits.", Kind.INT, EXPONENT.inverse_ln2),
        rs1("b", 32, 16, "Added to r before it is multiplied by r.", Kind.INT, EXPONENT.b),
        rs1(
            "lowest", 48, 16, "Distances below minus this count as it.", Kind.INT, -EXPONENT.lowest
        ),
        rs2("c", 0, 24, "Added to the product.", Kind.INT, EXPONENT.c),
        rs2("shift", 24, 5, "Right shift of the sum.", Kind.INT, EXPONENT.shift),
        rs2("unit", 32, 24, "exp(0) times this is 255, 24 fraction bits.", Kind.INT, EXPONENT.unit),
    ),
)

CONFIG_GELU: Final = Instruction(
    "config_gelu",
    Funct.CONFIG_TRANSFORM,
    "Set the constants of GELU.",
    (
        _select(5),
        rs1("b", 16, 15, "Where the error function becomes flat.", Kind.INT, GELU.b),
        rs1("shift", 32, 5, "Right shift of the error function.", Kind.INT, GELU.shift),
        rs2("c", 0, 24, "The error function's highest value.", Kind.INT, GELU.c),
    ),
)

TRANSFORM: Final = Instruction(
    "transform",
    Funct.TRANSFORM,
    "Apply CONFIG_TRANSFORM's function to rows of the accumulator (int32) or of the scratchpad "
    "(int16, where its function takes them), and put the results into the scratchpad.",
    (
        rs1("target", 0, 32, "Local address of the result.", Kind.LOCAL),
        rs1("target2", 32, 32, "Local address of the second result.", Kind.LOCAL),
        *tile("rs2", "local", "the source"),
    ),
)
