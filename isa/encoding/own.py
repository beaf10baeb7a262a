"""Celosia's own instructions for memory: functs 32 to 34, and 37."""

from typing import Final

from celosia.isa.encoding.fields import Funct, Instruction, Kind, rs1, rs2
from celosia.isa.encoding.tokens import COUNT_BITS, TOKEN_BITS

__all__ = ["CONFIG_DRAIN", "CONFIG_TOKEN", "FENCE", "MVIN_PARAM"]

FENCE: Final = Instruction(
    "fence",
    Funct.FENCE,
    "Start no later command before every earlier one has finished and its writes are in memory.  "
    "All counters of tokens are 0 then.",
)

MVIN_PARAM: Final = Instruction(
    "mvin_param",
    Funct.MVIN_PARAM,
    "Copy consecutive int32 from memory into parameter rows (dim elements each, the last may be "
    "short; its rest keeps its contents).",
    (
        rs1("dram", 0, 64, "Byte address of the first element.", Kind.DRAM),
        rs2("row", 0, 32, "First parameter row."),
        rs2("count", 32, 32, "Elements to copy."),
    ),
)

CONFIG_DRAIN: Final = Instruction(
    "config_drain",
    Funct.CONFIG_DRAIN,
    "Set what MVOUT does beyond Gemmini's CONFIG_ST, from its next use on.  All zero (the state "
    "after reset) is Gemmini's behavior.",
    (
        rs1("bias", 0, 1, "Add the parameter row of each column block before scaling.", Kind.FLAG),
        rs1(
            "int16",
            1,
            1,
            "Accumulator rows that are scaled leave as int16, not int8.  A row spans half as many "
            "blocks then (one at least).  Not with pooling, and only where the normalization unit "
            "is built, and Gemmini's norms are not.",
            Kind.FLAG,
        ),
        rs1("bias_row", 16, 16, "Parameter row of the first column block; block b uses row + b."),
        rs1("block_stride", 32, 16, "Local rows from one column block to the next; 0: dim."),
    ),
)

CONFIG_TOKEN: Final = Instruction(
    "config_token",
    Funct.CONFIG_TOKEN,
    "Order loads after stores, from their next use on.  With `signal`, each MVOUT adds 1 to a "
    "counter as soon as memory has acknowledged all that it writes; with `wait`, each MVIN and "
    "MVIN_PARAM starts when a counter holds `count` or more.  MVOUTs end in program order: those "
    "before the one that was waited for have ended, too.  The counters are 0 after a FENCE.  "
    "Count only MVOUTs before the load: a count that these do not reach is an error (WATCHDOG).",
    (
        rs1("signal", 0, 1, "MVOUTs add to a counter.", Kind.FLAG),
        rs1("signal_id", 4, TOKEN_BITS, "To which."),
        rs1("wait", 16, 1, "MVINs and MVIN_PARAMs wait for a counter.", Kind.FLAG),
        rs1("wait_id", 20, TOKEN_BITS, "For which."),
        rs2("count", 0, COUNT_BITS, "What it must hold, at least."),
    ),
)
