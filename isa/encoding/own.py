"""Celosia's own instructions for memory: functs 32 to 34."""

from typing import Final

from celosia.isa.encoding.fields import Funct, Instruction, Kind, rs1, rs2

__all__ = ["CONFIG_DRAIN", "FENCE", "MVIN_PARAM"]

FENCE: Final = Instruction(
    "fence",
    Funct.FENCE,
    "Start no later command before every earlier one has finished and its writes are in memory.",
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
        rs1("bias_row", 16, 16, "Parameter row of the first column block; block b uses row + b."),
        rs1("block_stride", 32, 16, "Local rows from one column block to the next; 0: dim."),
    ),
)
