"""What a host-visible register is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from celosia.isa.config import DATAFLOWS

__all__ = [
    "REGISTER_BITS",
    "WINDOW_BYTES",
    "WORD_BYTES",
    "Access",
    "Register",
    "RegisterField",
    "number_of",
    "pair",
    "parameters",
]

REGISTER_BITS: Final = 32
WORD_BYTES: Final = REGISTER_BITS // 8
WINDOW_BYTES: Final = 4096

_ONES: Final = (1 << REGISTER_BITS) - 1


class Access(Enum):
    """What the host may do with a register."""

    RO = "read only"
    RW = "read, write"
    WO = "write only; reads as 0"
    W1C = "read; writing 1 clears a bit"


@dataclass(frozen=True)
class RegisterField:
    """Some bits of a register."""

    name: str
    low: int
    bits: int
    doc: str
    once: bool = False
    """Writing 1 acts, once; reads as 0."""

    @property
    def limit(self) -> int:
        """The smallest value that no longer fits."""
        return 1 << self.bits


@dataclass(frozen=True)
class Register:
    """One 32-bit register.  Bits outside of its fields read as 0 and ignore writes."""

    name: str
    offset: int
    access: Access
    doc: str
    fields: tuple[RegisterField, ...] = ()
    """The fields of the register; without any, it is one number."""
    reset: int | None = 0
    """Value after reset; None if the configuration gives it, see `configuration_words`."""
    constant: bool = False
    """Reads as its reset value for ever."""
    while_busy: bool = False
    """Writes are taken while the accelerator is busy; others are answered with SLVERR then."""

    def __post_init__(self) -> None:
        if self.offset % WORD_BYTES or not 0 <= self.offset < WINDOW_BYTES:
            raise ValueError(f"{self.name}: offset {self.offset:#x} is not a word of the window")
        end = 0
        for field in sorted(self.fields, key=lambda field: field.low):
            if field.low < end or field.low + field.bits > REGISTER_BITS:
                raise ValueError(f"{self.name}.{field.name}: overlaps, or leaves the register")
            end = field.low + field.bits

    @property
    def half(self) -> tuple[str, int]:
        """The 64-bit value that it is a half of, and its place in it; else its name, and 0."""
        for place, suffix in enumerate(("_LO", "_HI")):
            if self.name.endswith(suffix):
                return self.name.removesuffix(suffix), place * REGISTER_BITS
        return self.name, 0

    def pack(self, values: Mapping[str, int]) -> int:
        """The register's word with `values` in its fields; those left out are 0.

        Raises `ValueError` that names the field, its value and its range.
        """
        if unknown := values.keys() - {field.name for field in self.fields}:
            raise ValueError(f"{self.name}: there is no field {', '.join(sorted(unknown))}")
        word = 0
        for field in self.fields:
            value = values.get(field.name, 0)
            if not 0 <= value < field.limit:
                raise ValueError(
                    f"{self.name}.{field.name}: {value} is not in 0..{field.limit - 1}"
                )
            word |= value << field.low
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """The fields' values in `word`; the inverse of `pack`."""
        return {field.name: word >> field.low & (field.limit - 1) for field in self.fields}


def pair(register: Register) -> tuple[Register, Register]:
    """`register` as two: the low half at its offset, the high half behind it."""
    reset = register.reset
    assert reset is not None
    low = replace(register, name=f"{register.name}_LO", reset=reset & _ONES)
    high = replace(
        register,
        name=f"{register.name}_HI",
        offset=register.offset + WORD_BYTES,
        doc="Its high half.",
        reset=reset >> REGISTER_BITS,
    )
    return low, high


def parameters(*fields: tuple[str, int, int]) -> tuple[RegisterField, ...]:
    """Fields that hold parameters of the configuration: name, lowest bit, bits."""
    return tuple(
        RegisterField(name, low, bits, f"`{name}` of the configuration.")
        for name, low, bits in fields
    )


def number_of(parameter: int | str) -> int:
    """A parameter as its field holds it; a dataflow by its place in `DATAFLOWS`."""
    return DATAFLOWS.index(parameter) if isinstance(parameter, str) else int(parameter)
