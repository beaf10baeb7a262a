"""What an instruction is: a funct, and named bit fields of its two operands."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import cached_property
from typing import Final, NamedTuple

__all__ = [
    "FUNCT_BITS",
    "ONE",
    "WORD_BITS",
    "Command",
    "Field",
    "Funct",
    "Instruction",
    "Kind",
    "choice",
    "float_bits",
    "rs1",
    "rs2",
    "tile",
]

FUNCT_BITS: Final = 7
WORD_BITS: Final = 64


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
    CONFIG_TRANSFORM = 35
    TRANSFORM = 36
    CONFIG_TOKEN = 37
    CONFIG_PRODUCTS = 38
    PRODUCTS = 39
    REPEAT = 40
    STRIDE = 41


class Kind(Enum):
    """How a field is written in assembly."""

    INT = "an unsigned number"
    SIGNED = "a number of either sign"
    FLAG = "0 or 1"
    FLOAT = "the bits of a float32"
    DRAM = "a byte address in memory"
    LOCAL = "a local address"
    CHOICE = "one of a few names"


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
    choices: type[IntEnum] | None = None
    """The names of the values of a `Kind.CHOICE`; other values are no instruction's."""

    @property
    def limit(self) -> int:
        """The smallest value that no longer fits."""
        return 1 << self.bits

    def get(self, command: Command) -> int:
        """The field's value in `command`."""
        return getattr(command, self.register) >> self.low & (self.limit - 1)


class _Place(NamedTuple):
    """Where a field that a program chooses stands."""

    field: Field
    word: int
    """The operand that holds the field: 0 for rs1, 1 for rs2."""
    low: int
    limit: int
    default: int


@dataclass(frozen=True, eq=False)
class Instruction:
    """One instruction: its funct and the fields of its two operands."""

    name: str
    funct: IntEnum
    doc: str
    fields: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        for register in ("rs1", "rs2"):
            end = 0
            for field in sorted(self._in(register), key=lambda field: field.low):
                if field.low < end or field.low + field.bits > WORD_BITS:
                    raise ValueError(f"{self.name}.{field.name}: overlaps, or leaves {register}")
                end = field.low + field.bits
        for field in self.fields:
            self._check(field, field.default if field.fixed is None else field.fixed)

    def _in(self, register: str) -> Iterable[Field]:
        return (field for field in self.fields if field.register == register)

    @cached_property
    def operands(self) -> tuple[Field, ...]:
        """The fields that a program chooses."""
        return tuple(field for field in self.fields if field.fixed is None)

    @cached_property
    def _selector(self) -> tuple[int, int, int, int]:
        """What tells it from others of the same funct: masks of rs1 and rs2, and what is there."""
        masks, values = [0, 0], [0, 0]
        for field in self.fields:
            if field.fixed is not None:
                masks[field.register == "rs2"] |= field.limit - 1 << field.low
                values[field.register == "rs2"] |= field.fixed << field.low
        return masks[0], masks[1], values[0], values[1]

    @cached_property
    def _places(self) -> dict[str, _Place]:
        """The operands by name."""
        return {
            field.name: _Place(
                field, int(field.register == "rs2"), field.low, field.limit, field.default
            )
            for field in self.operands
        }

    @cached_property
    def _reads(self) -> tuple[tuple[str, int, int, int], ...]:
        """The name, word, lowest bit and mask of each operand."""
        return tuple(
            (name, place.word, place.low, place.limit - 1) for name, place in self._places.items()
        )

    @cached_property
    def _default_words(self) -> tuple[int, int]:
        """rs1 and rs2 where every operand is left out."""
        words = [0, 0]
        for field in self.fields:
            value = field.default if field.fixed is None else field.fixed
            words[field.register == "rs2"] |= int(value) << field.low
        return words[0], words[1]

    def _check(self, field: Field, value: int) -> None:
        if not 0 <= value < field.limit:
            raise ValueError(f"{self.name}.{field.name}: {value} is not in 0..{field.limit - 1}")

    def encode(self, **values: int) -> Command:
        """Pack `values` into a command; fields left out take their defaults.

        Raises `ValueError` that names the field, its value and its range.
        """
        # Programs have a hundred thousand commands: what does not depend on values is kept.
        places, words = self._places, list(self._default_words)
        for name, value in values.items():
            place = places.get(name)
            if place is None:
                unknown = ", ".join(sorted(values.keys() - places.keys()))
                raise ValueError(f"{self.name}: there is no field {unknown}")
            field, word, low, limit, default = place
            if not 0 <= value < limit:
                self._check(field, value)
            words[word] += int(value) - default << low
        return Command(self.funct, words[0], words[1])

    def decode(self, command: Command) -> dict[str, int]:
        """The values of the operands of `command`; the inverse of `encode`."""
        words = command.rs1, command.rs2
        return {name: words[word] >> low & mask for name, word, low, mask in self._reads}

    def matches(self, command: Command) -> bool:
        """Whether `command` is this instruction."""
        if command.funct != self.funct:
            return False
        mask1, mask2, fixed1, fixed2 = self._selector
        return command.rs1 & mask1 == fixed1 and command.rs2 & mask2 == fixed2


def float_bits(value: float) -> int:
    """The bits of the float32 nearest to `value`."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


ONE: Final = float_bits(1.0)


def rs1(name: str, low: int, bits: int, doc: str, kind: Kind = Kind.INT, default: int = 0) -> Field:
    """A field of rs1."""
    return Field(name, "rs1", low, bits, doc, kind, None, default)


def rs2(name: str, low: int, bits: int, doc: str, kind: Kind = Kind.INT, default: int = 0) -> Field:
    """A field of rs2."""
    return Field(name, "rs2", low, bits, doc, kind, None, default)


def choice(
    make: Callable[..., Field], name: str, low: int, bits: int, doc: str, choices: type[IntEnum]
) -> Field:
    """A field, made by `rs1` or `rs2`, whose values have names; the default is 0."""
    return replace(make(name, low, bits, doc, Kind.CHOICE), choices=choices)


def tile(register: str, name: str, what: str) -> tuple[Field, ...]:
    """A local address with its columns and rows, which fill a register."""
    make = rs1 if register == "rs1" else rs2
    return (
        make(name, 0, 32, f"Local address of {what}.", Kind.LOCAL),
        make(f"{name}_cols", 32, 16, f"Columns of {what}."),
        make(f"{name}_rows", 48, 16, f"Rows of {what}."),
    )
