"""Amaranth views of the command words that `celosia.isa.encoding` declares."""

from types import SimpleNamespace

from amaranth import unsigned
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.isa.encoding import FUNCT_BITS, WORD_BITS, Instruction

__all__ = ["COMMAND", "Completed", "operands"]

COMMAND = data.StructLayout({
    "funct": unsigned(FUNCT_BITS),
    "rs1": unsigned(WORD_BITS),
    "rs2": unsigned(WORD_BITS),
})
"""A command as it arrives."""


class Completed(data.StructLayout):
    """Commands that end in a cycle, at most one of each kind."""

    def __init__(self) -> None:
        super().__init__(
            dict.fromkeys(("load", "execute", "store", "transform", "fence", "nothing"), 1)
        )


def operands(instruction: Instruction, command: data.View) -> SimpleNamespace:
    """The operands of `command`, if it is `instruction`, as attributes."""
    words: dict[str, Value] = {"rs1": command.rs1, "rs2": command.rs2}
    return SimpleNamespace(**{
        field.name: words[field.register][field.low : field.low + field.bits]
        for field in instruction.operands
    })
