"""Amaranth views of the command words that `celosia.isa.encoding` declares."""

from collections.abc import Mapping
from types import SimpleNamespace

from amaranth import Cat, Const, unsigned
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.isa.encoding import FUNCT_BITS, WORD_BITS, Instruction
from celosia.isa.registers.queues import QUEUES

__all__ = ["COMMAND", "Completed", "assembled", "operands"]

COMMAND = data.StructLayout({
    "funct": unsigned(FUNCT_BITS),
    "rs1": unsigned(WORD_BITS),
    "rs2": unsigned(WORD_BITS),
})
"""A command as it arrives."""


class Completed(data.StructLayout):
    """Commands that end in a cycle, at most one of each kind.

    `loop`: one that the loop engine took, and for which no other will end.
    """

    def __init__(self) -> None:
        kinds = (*QUEUES, "fence", "nothing", "loop")
        super().__init__(dict.fromkeys(kinds, 1))


def operands(instruction: Instruction, command: data.View) -> SimpleNamespace:
    """The operands of `command`, if it is `instruction`, as attributes."""
    words: dict[str, Value] = {"rs1": command.rs1, "rs2": command.rs2}
    return SimpleNamespace(**{
        field.name: words[field.register][field.low : field.low + field.bits]
        for field in instruction.operands
    })


def assembled(instruction: Instruction, values: Mapping[str, Value | int]) -> tuple[Value, Value]:
    """rs1 and rs2 of `instruction` with these operands; the others have their defaults."""
    words = []
    for register in ("rs1", "rs2"):
        fields = [field for field in instruction.fields if field.register == register]
        parts, end = [], 0
        for field in sorted(fields, key=lambda field: field.low):
            parts.append(Const(0, field.low - end))
            constant = field.default if field.fixed is None else field.fixed
            value = Value.cast(values.get(field.name, Const(constant, field.bits)))
            parts.append((value | Const(0, field.bits))[: field.bits])
            end = field.low + field.bits
        words.append(Cat(*parts, Const(0, WORD_BITS - end)))
    return words[0], words[1]
