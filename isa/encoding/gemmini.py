"""Gemmini's instructions: functs 0 to 31."""

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
from celosia.isa.encoding.weights import WeightType

__all__ = [
    "COMPUTE_ACCUMULATED",
    "COMPUTE_PRELOADED",
    "CONFIG_BERT",
    "CONFIG_EX",
    "CONFIG_LD",
    "CONFIG_ST",
    "FLUSH",
    "KEEP_SCALE",
    "LOADS",
    "MVIN",
    "MVIN2",
    "MVIN3",
    "MVOUT",
    "PRELOAD",
    "SHIFT_BITS",
]

SHIFT_BITS: Final = 5
"""Bits of CONFIG_EX's shift that count."""

KEEP_SCALE: Final = 0xFFFF_FFFF
"""The scale with which CONFIG_ST keeps the previous one."""


def _select(value: int) -> Field:
    return Field("select", "rs1", 0, 2, "Which CONFIG.", Kind.INT, value)


CONFIG_EX: Final = Instruction(
    "config_ex",
    Funct.CONFIG,
    "Set how products are computed, from the next COMPUTE on.  With `strides_only`, only a_stride "
    "and c_stride change.",
    (
        _select(0),
        rs1("weight_stationary", 2, 1, "1: weight-, 0: output-stationary.", Kind.FLAG, 1),
        rs1("activation", 3, 2, "Of results written to the scratchpad: 0 none, 1 ReLU."),
        rs1("strides_only", 7, 1, "Change nothing but the strides.", Kind.FLAG),
        rs1("a_transpose", 8, 1, "A is stored transposed.", Kind.FLAG),
        rs1("b_transpose", 9, 1, "The weights are stored transposed.", Kind.FLAG),
        rs1("a_unsigned", 10, 1, "Elements of A are uint8, not int8 (Celosia's own).", Kind.FLAG),
        choice(
            rs1,
            "b_type",
            11,
            1,
            "Of the weights; int4: two lines in a scratchpad row (Celosia's own).",
            WeightType,
        ),
        rs1("a_stride", 16, 16, "Local rows from one row of A to the next.", Kind.INT, 1),
        rs1(
            "acc_scale",
            32,
            32,
            "Scale of operands from the accumulator (ignored).",
            Kind.FLOAT,
        ),
        rs2(
            "shift",
            0,
            32,
            "Right shift of output-stationary results, to nearest, ties to even; its low "
            f"{SHIFT_BITS} bits count (ignored by WS).",
        ),
        rs2("c_stride", 48, 16, "Local rows from one row of C to the next.", Kind.INT, 1),
    ),
)

CONFIG_LD: Final = Instruction(
    "config_ld",
    Funct.CONFIG,
    "Set how one of the three MVINs moves, from its next use on.",
    (
        _select(1),
        rs1("shrunk", 2, 1, "Accumulator rows are int8 in memory, and scaled.", Kind.FLAG),
        rs1("set", 3, 2, "0: MVIN, 1: MVIN2, 2: MVIN3."),
        rs1(
            "pixel_repeats",
            8,
            8,
            "Copies of each scratchpad row, copy q at q rows less and q*cols columns further; "
            "0 means 1.",
            Kind.INT,
            1,
        ),
        rs1("block_stride", 16, 16, "Local rows from one block of dim columns to the next."),
        rs1("scale", 32, 32, "Scale of int8 elements (scratchpad, or shrunk).", Kind.FLOAT, ONE),
        rs2("stride", 0, 64, "Bytes from one row in memory to the next."),
    ),
)

CONFIG_ST: Final = Instruction(
    "config_st",
    Funct.CONFIG,
    "Set how MVOUT moves, from its next use on.",
    (
        _select(2),
        rs1("activation", 2, 2, "0 none, 1 ReLU, 2 LayerNorm, 3 I-GELU."),
        rs1("pool_stride", 4, 2, "Stride of the pooling window; 0: no pooling."),
        rs1("pool_size", 6, 2, "Rows and columns of the pooling window."),
        rs1("pool_top_pad", 8, 2, "Rows of zeros above the image."),
        rs1("pool_left_pad", 10, 2, "Columns of zeros left of the image."),
        rs1("pool_pitch", 24, 8, "Pixels from one pooled row in memory to the next."),
        rs1("pool_rows", 32, 8, "Rows of the pooled image."),
        rs1("pool_cols", 40, 8, "Columns of the pooled image."),
        rs1("image_rows", 48, 8, "Rows of the image before pooling."),
        rs1("image_cols", 56, 8, "Columns of the image before pooling."),
        rs2("stride", 0, 32, "Bytes from one row in memory to the next."),
        rs2("scale", 32, 32, "Scale of accumulator elements; all ones: keep.", Kind.FLOAT, ONE),
    ),
)


CONFIG_BERT: Final = Instruction(
    "config_bert",
    Funct.CONFIG,
    "Set what I-GELU, LayerNorm and softmax compute with, from the next MVOUT on.",
    (
        _select(3),
        rs1("statistics", 8, 8, "The record of statistics that rows use."),
        rs1("softmax", 16, 1, "Without an activation in CONFIG_ST: softmax.", Kind.FLAG),
        rs1("statistics_only", 17, 1, "Change nothing but `statistics`.", Kind.FLAG),
        rs1("second_constant", 18, 1, "`constant` is 1/ln 2, not ln 2.", Kind.FLAG),
        rs1("constant", 32, 32, "A constant of the exponential: qln2 or qln2_inv."),
        rs2("qb", 0, 32, "Of the polynomials of I-GELU and of the exponential."),
        rs2("qc", 32, 32, "Of the same."),
    ),
)


def _mvin(name: str, funct: Funct, number: int) -> Instruction:
    return Instruction(
        name,
        funct,
        f"Copy rows from memory into the scratchpad or the accumulator, as CONFIG_LD set {number} "
        "says.  Columns beyond `local_cols` keep their contents.  Memory address 0: zeros.",
        (
            rs1("dram", 0, 64, "Byte address of the first row.", Kind.DRAM),
            *tile("rs2", "local", "the destination"),
        ),
    )


MVIN: Final = _mvin("mvin", Funct.MVIN, 0)
MVIN2: Final = _mvin("mvin2", Funct.MVIN2, 1)
MVIN3: Final = _mvin("mvin3", Funct.MVIN3, 2)
LOADS: Final = (MVIN, MVIN2, MVIN3)
"""The load instructions, in the order of their CONFIG_LD sets."""

MVOUT: Final = Instruction(
    "mvout",
    Funct.MVOUT,
    "Copy rows from the scratchpad (as they are) or from the accumulator (bias added, scaled to "
    "int8, or int16 if CONFIG_DRAIN says so, and activated; or raw int32 when the address says "
    "`full`) to memory.",
    (
        rs1("dram", 0, 64, "Byte address of the first row.", Kind.DRAM),
        *tile("rs2", "local", "the source"),
    ),
)

PRELOAD: Final = Instruction(
    "preload",
    Funct.PRELOAD,
    "Name the weights (output-stationary: D) and the destination of the COMPUTEs that follow, "
    "until the next PRELOAD.  Garbage weights are zeros for COMPUTE_PRELOADED; a garbage "
    "destination is not written.",
    (*tile("rs1", "b", "the weights (or D)"), *tile("rs2", "c", "the result")),
)

_COMPUTE = (*tile("rs1", "a", "A"), *tile("rs2", "d", "D, which is added (or B)"))

COMPUTE_PRELOADED: Final = Instruction(
    "compute_preloaded",
    Funct.COMPUTE_PRELOADED,
    "Put the PRELOADed weights W into the array, then C = A*W + D.  Garbage D is zero.  "
    "Output-stationary: the array's sums S = D + A*B with the PRELOADed D, and C = S.",
    _COMPUTE,
)

COMPUTE_ACCUMULATED: Final = Instruction(
    "compute_accumulated",
    Funct.COMPUTE_ACCUMULATED,
    "C = A*W + D with the weights that are in the array.  Output-stationary: S = S + A*B, and "
    "C = S.",
    _COMPUTE,
)

FLUSH: Final = Instruction(
    "flush",
    Funct.FLUSH,
    "Gemmini's TLB flush: no effect, there is no virtual memory.",
    (rs1("skip", 0, 1, "Skip the faulting access.", Kind.FLAG),),
)
