"""The accelerator's registers by name, over whatever carries the accesses."""

from collections.abc import Mapping
from typing import Final, Protocol

from celosia.isa.registers.map import REGISTER_BITS, REGISTERS, Register

__all__ = ["RegisterError", "RegisterPort", "Registers"]

_ONES: Final = (1 << REGISTER_BITS) - 1


class RegisterError(RuntimeError):
    """A register access was answered with an error; the message names register and response."""


class RegisterPort(Protocol):
    """A way to the registers of one accelerator: a simulator, a mapping of physical memory, ..."""

    def read_word(self, offset: int) -> int:
        """The register at `offset` bytes.  Raises `RegisterError` unless the answer is OKAY."""
        ...

    def write_word(self, offset: int, word: int) -> None:
        """Write a register as a whole.  Raises `RegisterError` unless the answer is OKAY."""
        ...

    def wait(self, cycles: int) -> bool:
        """Sleep until the interrupt output is high, but at most about `cycles`; whether it is."""
        ...


class Registers:
    """Registers by the names of `celosia.isa.registers.map`.

    A pair of registers, ``NAME_LO`` and ``NAME_HI``, is also one of 64 bits called ``NAME``; it is
    read and written in two accesses, which is safe while the accelerator is idle.
    """

    def __init__(self, port: RegisterPort):
        self.port = port

    def read(self, name: str) -> int:
        """The value of a register or a pair.

        Raises `ValueError` if there is none called `name`, and `RegisterError`.
        """
        return sum(self.port.read_word(half.offset) << place for half, place in _halves(name))

    def write(self, name: str, value: int) -> None:
        """Give a register or a pair a value.

        Raises `ValueError` for an unknown name or a value that does not fit, and `RegisterError`.
        """
        halves = _halves(name)
        bits = REGISTER_BITS * len(halves)
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{name}: {value} is not in 0..{(1 << bits) - 1:#x}")
        for half, place in halves:
            self.port.write_word(half.offset, value >> place & _ONES)

    def read_fields(self, name: str) -> Mapping[str, int]:
        """The fields of a register."""
        return REGISTERS[name].unpack(self.read(name))

    def write_fields(self, name: str, **values: int) -> None:
        """Give the fields of a register values; those left out become 0."""
        self.write(name, REGISTERS[name].pack(values))


def _halves(name: str) -> list[tuple[Register, int]]:
    """The registers that `name` stands for, and the place of each in its value."""
    if name in REGISTERS:
        return [(REGISTERS[name], 0)]
    names = (f"{name}_LO", f"{name}_HI")
    if any(half not in REGISTERS for half in names):
        raise ValueError(f"there is no register {name!r}")
    return [(REGISTERS[half], place * REGISTER_BITS) for place, half in enumerate(names)]
