"""What becomes of memories when area is counted.

A memory that a macro can be is a black box: one with clocked reads, of `MACRO_BITS` at least, in
one of the `BOXES`.  All others are *small*: queues, tables and rings, whose bits are flip-flops or
latches in silicon.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from celosia.isa.documents.record import Key, Named
from celosia.sim.export.inventory import FoundMemory

if TYPE_CHECKING:
    from celosia.sim.export.rams import Ram

__all__ = [
    "BOXES",
    "LATCH_GATES",
    "MACRO_BITS",
    "TRANSISTORS_PER_BIT",
    "TRANSISTORS_PER_GATE",
    "DesignMemory",
    "memories_of",
    "ram_gates",
]

MACRO_BITS: Final = 4096
"""Below it, a memory is no macro."""
LATCH_GATES: Final = 4.0
"""Gate equivalents of a bit of a small memory: a latch, without what addresses it."""
TRANSISTORS_PER_BIT: Final = 6
TRANSISTORS_PER_GATE: Final = 4

BOXES: Final = {
    "accelerator.scratchpad": "scratchpad",
    "accelerator.accumulator": "accumulator",
    "accelerator.parameters": "parameters",
    "accelerator.transform.unit.statistics": "statistics",
    "accelerator.loops": "loop body",
}
"""Where memories may be macros, and what they are called."""


@dataclass(frozen=True)
class DesignMemory:
    """A memory at one place of a design."""

    path: str
    """Its place below the top."""
    rows: int
    """Its rows."""
    row_bits: int
    """Bits of a row."""
    reads: Annotated[int, Named("clocked_reads")]
    """Clocked read ports; 0: it is read combinationally."""

    @Key
    def bits(self) -> int:
        """What it stores."""
        return self.rows * self.row_bits

    @Key
    def box(self) -> Annotated[str | None, Named("black_box")]:
        """The black box that it is part of; null: it is small."""
        if not self.reads or self.bits < MACRO_BITS:
            return None
        return next((box for place, box in BOXES.items() if self.path.startswith(place)), None)

    @property
    def copies(self) -> int:
        """How many memories with one read port it is."""
        return max(self.reads, 1)


def memories_of(found: Iterable[FoundMemory], shapes: Iterable["Ram"]) -> Sequence[DesignMemory]:
    """The memories of a design that was exported with black boxes of `shapes`, the largest first.

    One with a single row is a register, and not among them.
    """
    rams = {ram.name: ram for ram in shapes}
    memories = [
        DesignMemory(memory.path, memory.rows, memory.bits, 0)
        if memory.module is None
        else _black_box(memory.path, rams[memory.module])
        for memory in found
    ]
    several = (memory for memory in memories if memory.rows > 1)
    return sorted(several, key=lambda memory: (-memory.bits, memory.path))


def _black_box(path: str, ram: "Ram") -> DesignMemory:
    return DesignMemory(path, ram.rows, ram.bits, ram.reads)


def ram_gates(bits: int) -> float:
    """Gate equivalents of the transistors of `bits` in a RAM, without what addresses them."""
    return bits * TRANSISTORS_PER_BIT / TRANSISTORS_PER_GATE
