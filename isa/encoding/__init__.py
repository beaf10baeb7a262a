"""The instruction set: every encoding, declared once.

A command is (funct, rs1, rs2), as Gemmini's RoCC interface carries it.  The tables of this package
are the only place where a funct, a field position or a field width is written: the decoder's views,
the assembler, the disassembler, the functional model and `docs/isa.md` are all derived from them.
Functs 0..31 and 126 are Gemmini's; 32..63 are Celosia's own.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Final

from celosia.isa.encoding.fields import (
    FUNCT_BITS,
    ONE,
    WORD_BITS,
    Command,
    Field,
    Funct,
    Instruction,
    Kind,
    float_bits,
)
from celosia.isa.encoding.gemmini import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_BERT,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FLUSH,
    KEEP_SCALE,
    LOADS,
    MVIN,
    MVIN2,
    MVIN3,
    MVOUT,
    PRELOAD,
    SHIFT_BITS,
)
from celosia.isa.encoding.loops import CONFIG_PRODUCTS, PRODUCTS, REPEAT, STRIDE
from celosia.isa.encoding.own import CONFIG_DRAIN, CONFIG_TOKEN, FENCE, MVIN_PARAM
from celosia.isa.encoding.scales import SCALES
from celosia.isa.encoding.transform import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_TRANSFORM,
    NO_KEY_LIMIT,
    TRANSFORM,
    WINDOW_BITS,
    ElementType,
    Function,
)
from celosia.isa.encoding.weights import WeightType

__all__ = [
    "COMPUTE_ACCUMULATED",
    "COMPUTE_PRELOADED",
    "CONFIG_BERT",
    "CONFIG_DRAIN",
    "CONFIG_EX",
    "CONFIG_EXPONENT",
    "CONFIG_GELU",
    "CONFIG_LD",
    "CONFIG_MASK",
    "CONFIG_NORM",
    "CONFIG_PRODUCTS",
    "CONFIG_ROWS",
    "CONFIG_ST",
    "CONFIG_TOKEN",
    "CONFIG_TRANSFORM",
    "FENCE",
    "FLUSH",
    "FUNCT_BITS",
    "INSTRUCTIONS",
    "KEEP_SCALE",
    "LOADS",
    "MVIN",
    "MVIN2",
    "MVIN3",
    "MVIN_PARAM",
    "MVOUT",
    "NO_KEY_LIMIT",
    "ONE",
    "PRELOAD",
    "PRODUCTS",
    "REPEAT",
    "RING_ENTRY",
    "SCALES",
    "SHIFT_BITS",
    "STRIDE",
    "TRANSFORM",
    "WINDOW_BITS",
    "WORD_BITS",
    "Command",
    "ElementType",
    "Field",
    "Funct",
    "Function",
    "Instruction",
    "Kind",
    "WeightType",
    "float_bits",
    "identify",
    "pack_ring",
    "unpack_ring",
]

RING_ENTRY: Final = struct.Struct("<IIQQ")
"""A command in memory: u32 funct, u32 zero, u64 rs1, u64 rs2, little-endian (24 bytes)."""

INSTRUCTIONS: Final[Mapping[str, Instruction]] = {
    instruction.name: instruction
    for instruction in (
        CONFIG_EX,
        CONFIG_LD,
        CONFIG_ST,
        CONFIG_BERT,
        *LOADS,
        MVOUT,
        PRELOAD,
        COMPUTE_PRELOADED,
        COMPUTE_ACCUMULATED,
        FLUSH,
        FENCE,
        MVIN_PARAM,
        CONFIG_DRAIN,
        CONFIG_TOKEN,
        CONFIG_TRANSFORM,
        CONFIG_ROWS,
        CONFIG_NORM,
        CONFIG_MASK,
        CONFIG_EXPONENT,
        CONFIG_GELU,
        TRANSFORM,
        CONFIG_PRODUCTS,
        PRODUCTS,
        REPEAT,
        STRIDE,
    )
}
"""All instructions by name, in the order of the documentation."""


def identify(command: Command) -> Instruction | None:
    """The instruction that `command` encodes, or None if there is none."""
    return next((known for known in INSTRUCTIONS.values() if known.matches(command)), None)


def pack_ring(commands: Iterable[Command]) -> bytes:
    """`commands` as they stand in a command ring in memory."""
    return b"".join(RING_ENTRY.pack(c.funct, 0, c.rs1, c.rs2) for c in commands)


def unpack_ring(image: bytes) -> list[Command]:
    """The inverse of `pack_ring`.  Raises `ValueError` for a torn or malformed image."""
    if len(image) % RING_ENTRY.size:
        raise ValueError(
            f"{len(image)} bytes are not a whole number of {RING_ENTRY.size}-byte entries"
        )
    commands = []
    for index, (funct, zero, rs1, rs2) in enumerate(RING_ENTRY.iter_unpack(image)):
        if zero or funct >= 1 << FUNCT_BITS:
            raise ValueError(f"entry {index}: funct {funct:#x}, reserved {zero:#x} is no command")
        commands.append(Command(funct, rs1, rs2))
    return commands
