"""The instruction set: every encoding, declared once.

A command is (funct, rs1, rs2), as Gemmini's RoCC interface carries it.  The tables below are the
only place where a funct, a field position or a field width is written: the decoder's views, the
assembler, the disassembler, the functional model and `docs/isa.md` are all derived from them.
Functs 0..31 and 126 are Gemmini's; 32..63 are Celosia's own.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, NamedTuple

__all__ = [
    "COMPUTE_ACCUMULATED",
    "COMPUTE_PRELOADED",
    "CONFIG_DRAIN",
    "CONFIG_EX",
    "CONFIG_LD",
    "CONFIG_ST",
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
    "PRELOAD",
    "RING_ENTRY",
    "WORD_BITS",
    "Command",
    "Field",
    "Funct",
    "Instruction",
    "Kind",
    "float_bits",
    "identify",
    "pack_ring",
    "unpack_ring",
]

FUNCT_BITS: Final = 7
WORD_BITS: Final = 64

RING_ENTRY: Final = struct.Struct("<IIQQ")
"""A command in memory: u32 funct, u32 zero, u64 rs1, u64 rs2, little-endian (24 bytes)."""

KEEP_SCALE: Final = 0xFFFF_FFFF
"""As the scale of CONFIG_ST: keep the previous one."""


class Command(NamedTuple):
    """One command as the accelerator receives it."""

    funct: int
    rs1: int = 0
    rs2: int = 0


class Funct(IntEnum):
    """The first part of every command."""

    CONFIG = 0
    MVIN2 = 1
    MVIN = 2
    MVOUT = 3
    COMPUTE_PRELOADED = 4
    COMPUTE_ACCUMULATED = 5
    PRELOAD = 6
    FLUSH = 7
    MVIN3 = 14
    FENCE = 32
    MVIN_PARAM = 33
    CONFIG_DRAIN = 34


class Kind(Enum):
    """How a field is written in assembly."""

    INT = "an unsigned number"
    FLAG = "0 or 1"
    FLOAT = "the bits of a float32"
    DRAM = "a byte address in memory"
    LOCAL = "a local address"


@dataclass(frozen=True)
class Field:
    """A bit field of ``rs1`` or ``rs2``."""

    name: str
    register: str
    low: int
    bits: int
    doc: str
    kind: Kind = Kind.INT
    fixed: int | None = None
    """The value that the field must have (it then selects the instruction)."""
    default: int = 0
    """What the assembler takes when the field is left out."""

    @property
    def limit(self) -> int:
        """The smallest value that no longer fits."""
        return 1 << self.bits

    def get(self, command: Command) -> int:
        """The field's value in `command`."""
        return getattr(command, self.register) >> self.low & (self.limit - 1)


@dataclass(frozen=True)
class Instruction:
    """One instruction: its funct and the fields of its two operands."""

    name: str
    funct: Funct
    doc: str
    fields: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        for register in ("rs1", "rs2"):
            end = 0
            for field in sorted(self._in(register), key=lambda field: field.low):
                if field.low < end or field.low + field.bits > WORD_BITS:
                    raise ValueError(f"{self.name}.{field.name}: overlaps, or leaves {register}")
                end = field.low + field.bits

    def _in(self, register: str) -> Iterable[Field]:
        return (field for field in self.fields if field.register == register)

    @property
    def operands(self) -> tuple[Field, ...]:
        """The fields that a program chooses."""
        return tuple(field for field in self.fields if field.fixed is None)

    def encode(self, **values: int) -> Command:
        """Pack `values` into a command; fields left out take their defaults.

        Raises `ValueError` that names the field, its value and its range.
        """
        if unknown := values.keys() - {field.name for field in self.operands}:
            raise ValueError(f"{self.name}: there is no field {', '.join(sorted(unknown))}")
        words = {"rs1": 0, "rs2": 0}
        for field in self.fields:
            value = values.get(field.name, field.default) if field.fixed is None else field.fixed
            if not 0 <= value < field.limit:
                raise ValueError(
                    f"{self.name}.{field.name}: {value} is not in 0..{field.limit - 1}"
                )
            words[field.register] |= int(value) << field.low
        return Command(self.funct, words["rs1"], words["rs2"])

    def decode(self, command: Command) -> dict[str, int]:
        """The values of the operands of `command`; the inverse of `encode`."""
        return {field.name: field.get(command) for field in self.operands}

    def matches(self, command: Command) -> bool:
        """Whether `command` is this instruction."""
        return command.funct == self.funct and all(
            field.get(command) == field.fixed for field in self.fields if field.fixed is not None
        )


def float_bits(value: float) -> int:
    """The bits of the float32 nearest to `value`."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


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


ONE: Final = float_bits(1.0)


def _rs1(
    name: str, low: int, bits: int, doc: str, kind: Kind = Kind.INT, default: int = 0
) -> Field:
    return Field(name, "rs1", low, bits, doc, kind, None, default)


def _rs2(
    name: str, low: int, bits: int, doc: str, kind: Kind = Kind.INT, default: int = 0
) -> Field:
    return Field(name, "rs2", low, bits, doc, kind, None, default)


def _select(value: int) -> Field:
    return Field("select", "rs1", 0, 2, "Which CONFIG.", Kind.INT, value)


def _tile(register: str, name: str, what: str) -> tuple[Field, ...]:
    make = _rs1 if register == "rs1" else _rs2
    return (
        make(name, 0, 32, f"Local address of {what}.", Kind.LOCAL),
        make(f"{name}_cols", 32, 16, f"Columns of {what}."),
        make(f"{name}_rows", 48, 16, f"Rows of {what}."),
    )


CONFIG_EX: Final = Instruction(
    "config_ex",
    Funct.CONFIG,
    "Set how products are computed, from the next COMPUTE on.  With `strides_only`, only a_stride "
    "and c_stride change.",
    (
        _select(0),
        _rs1("weight_stationary", 2, 1, "1: weight-, 0: output-stationary.", Kind.FLAG, 1),
        _rs1("activation", 3, 2, "Of results written to the scratchpad: 0 none, 1 ReLU."),
        _rs1("strides_only", 7, 1, "Change nothing but the strides.", Kind.FLAG),
        _rs1("a_transpose", 8, 1, "A is stored transposed.", Kind.FLAG),
        _rs1("b_transpose", 9, 1, "The weights are stored transposed.", Kind.FLAG),
        _rs1("a_unsigned", 10, 1, "Elements of A are uint8, not int8 (Celosia's own).", Kind.FLAG),
        _rs1("a_stride", 16, 16, "Local rows from one row of A to the next.", Kind.INT, 1),
        _rs1(
            "acc_scale",
            32,
            32,
            "Scale of operands from the accumulator (ignored).",
            Kind.FLOAT,
        ),
        _rs2("shift", 0, 32, "Right shift of output-stationary results (ignored by WS)."),
        _rs2("c_stride", 48, 16, "Local rows from one row of C to the next.", Kind.INT, 1),
    ),
)

CONFIG_LD: Final = Instruction(
    "config_ld",
    Funct.CONFIG,
    "Set how one of the three MVINs moves, from its next use on.",
    (
        _select(1),
        _rs1("shrunk", 2, 1, "Accumulator rows are int8 in memory, and scaled.", Kind.FLAG),
        _rs1("set", 3, 2, "0: MVIN, 1: MVIN2, 2: MVIN3."),
        _rs1("pixel_repeats", 8, 8, "Copies of each row at falling rows; 0 means 1.", Kind.INT, 1),
        _rs1("block_stride", 16, 16, "Local rows from one block of dim columns to the next."),
        _rs1("scale", 32, 32, "Scale of int8 elements (scratchpad, or shrunk).", Kind.FLOAT, ONE),
        _rs2("stride", 0, 64, "Bytes from one row in memory to the next."),
    ),
)

CONFIG_ST: Final = Instruction(
    "config_st",
    Funct.CONFIG,
    "Set how MVOUT moves, from its next use on.",
    (
        _select(2),
        _rs1("activation", 2, 2, "0 none, 1 ReLU, 2 LayerNorm, 3 I-GELU."),
        _rs1("pool_stride", 4, 2, "Stride of the pooling window; 0: no pooling."),
        _rs1("pool_size", 6, 2, "Rows and columns of the pooling window."),
        _rs1("pool_top_pad", 8, 2, "Rows of zeros above the image."),
        _rs1("pool_left_pad", 10, 2, "Columns of zeros left of the image."),
        _rs1("pool_pitch", 24, 8, "Pixels from one pooled row in memory to the next."),
        _rs1("pool_rows", 32, 8, "Rows of the pooled image."),
        _rs1("pool_cols", 40, 8, "Columns of the pooled image."),
        _rs1("image_rows", 48, 8, "Rows of the image before pooling."),
        _rs1("image_cols", 56, 8, "Columns of the image before pooling."),
        _rs2("stride", 0, 32, "Bytes from one row in memory to the next."),
        _rs2("scale", 32, 32, "Scale of accumulator elements; all ones: keep.", Kind.FLOAT, ONE),
    ),
)


def _mvin(name: str, funct: Funct, number: int) -> Instruction:
    return Instruction(
        name,
        funct,
        f"Copy rows from memory into the scratchpad or the accumulator, as CONFIG_LD set {number} "
        "says.  Columns beyond `local_cols` keep their contents.  Memory address 0: zeros.",
        (
            _rs1("dram", 0, 64, "Byte address of the first row.", Kind.DRAM),
            *_tile("rs2", "local", "the destination"),
        ),
    )


MVIN: Final = _mvin("mvin", Funct.MVIN, 0)
MVIN2: Final = _mvin("mvin2", Funct.MVIN2, 1)
MVIN3: Final = _mvin("mvin3", Funct.MVIN3, 2)
LOADS: Final = (MVIN, MVIN2, MVIN3)
"""In the order of their CONFIG_LD sets."""

MVOUT: Final = Instruction(
    "mvout",
    Funct.MVOUT,
    "Copy rows from the scratchpad (as they are) or from the accumulator (bias added, scaled to "
    "int8 and activated, or raw int32 when the address says `full`) to memory.",
    (
        _rs1("dram", 0, 64, "Byte address of the first row.", Kind.DRAM),
        *_tile("rs2", "local", "the source"),
    ),
)

PRELOAD: Final = Instruction(
    "preload",
    Funct.PRELOAD,
    "Name the weights and the destination of the COMPUTEs that follow, until the next PRELOAD.  "
    "Garbage weights are zeros for COMPUTE_PRELOADED; a garbage destination is not written.",
    (*_tile("rs1", "b", "the weights"), *_tile("rs2", "c", "the result")),
)

_COMPUTE = (*_tile("rs1", "a", "A"), *_tile("rs2", "d", "D, added to the product"))

COMPUTE_PRELOADED: Final = Instruction(
    "compute_preloaded",
    Funct.COMPUTE_PRELOADED,
    "Put the PRELOADed weights W into the array, then C = A*W + D.  Garbage D is zero.",
    _COMPUTE,
)

COMPUTE_ACCUMULATED: Final = Instruction(
    "compute_accumulated",
    Funct.COMPUTE_ACCUMULATED,
    "C = A*W + D with the weights that are in the array.",
    _COMPUTE,
)

FLUSH: Final = Instruction(
    "flush",
    Funct.FLUSH,
    "Gemmini's TLB flush: no effect, there is no virtual memory.",
    (_rs1("skip", 0, 1, "Skip the faulting access.", Kind.FLAG),),
)

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
        _rs1("dram", 0, 64, "Byte address of the first element.", Kind.DRAM),
        _rs2("row", 0, 32, "First parameter row."),
        _rs2("count", 32, 32, "Elements to copy."),
    ),
)

CONFIG_DRAIN: Final = Instruction(
    "config_drain",
    Funct.CONFIG_DRAIN,
    "Set what MVOUT does beyond Gemmini's CONFIG_ST, from its next use on.  All zero (the state "
    "after reset) is Gemmini's behavior.",
    (
        _rs1("bias", 0, 1, "Add the parameter row of each column block before scaling.", Kind.FLAG),
        _rs1("bias_row", 16, 16, "Parameter row of the first column block; block b uses row + b."),
        _rs1("block_stride", 32, 16, "Accumulator rows from one column block to the next; 0: dim."),
    ),
)

INSTRUCTIONS: Final[Mapping[str, Instruction]] = {
    instruction.name: instruction
    for instruction in (
        CONFIG_EX,
        CONFIG_LD,
        CONFIG_ST,
        *LOADS,
        MVOUT,
        PRELOAD,
        COMPUTE_PRELOADED,
        COMPUTE_ACCUMULATED,
        FLUSH,
        FENCE,
        MVIN_PARAM,
        CONFIG_DRAIN,
    )
}
"""By name, in the order of the documentation."""
