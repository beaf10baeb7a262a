"""What a board's design is made for, besides the accelerator's configuration."""

from dataclasses import dataclass
from typing import Final

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.registers.serial import Greeting

__all__ = ["BoardSetup"]

FEWEST_CYCLES: Final = 8
"""Cycles of a bit on the wire, at least: the bridge needs a few for each byte, and the middle of a
bit is found to a cycle."""
MOST_ERROR: Final = 0.02
"""How far the rate on the wire may be from what was asked for: ten bits later, a fifth of one."""


@dataclass(frozen=True, kw_only=True)
class BoardSetup:
    """The clock, the rate of the serial link and the memory of a board.

    Raises `ValueError` for a clock that does not make the rate, or a memory that cannot be.
    """

    clock_hz: int
    baud: int
    """Bits per second on the wire."""
    memory_bytes: int
    """Bytes of block RAM, a power of two, from `MEMORY_BASE` on."""

    def __post_init__(self) -> None:
        size = self.memory_bytes
        if size < 1024 or size & (size - 1) or MEMORY_BASE % size:
            raise ValueError(f"memory: {size} bytes are not a power of two from 1024 on")
        if self.baud < 1 or self.clock_hz < FEWEST_CYCLES * self.baud:
            raise ValueError(
                f"baud: {self.baud} is not in 1..{self.clock_hz // FEWEST_CYCLES}, an eighth of "
                f"the clock of {self.clock_hz / 1e6:g} MHz"
            )
        made = self.clock_hz / self.divisor
        if abs(made / self.baud - 1) > MOST_ERROR:
            raise ValueError(
                f"baud: {self.baud} cannot be made of {self.clock_hz / 1e6:g} MHz: the nearest is "
                f"{made:.0f}"
            )

    @property
    def divisor(self) -> int:
        """Cycles of a bit on the wire."""
        return round(self.clock_hz / self.baud)

    @property
    def greeting(self) -> Greeting:
        """What the board says of itself."""
        return Greeting(self.clock_hz, self.memory_bytes)
