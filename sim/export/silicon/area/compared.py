"""What one design has more than another."""

from dataclasses import dataclass

from celosia.sim.export.silicon.area.measure import Area

__all__ = ["Growth", "growth"]


@dataclass(frozen=True)
class Growth:
    """How much larger a design is than another; shares are of the other, negative if smaller."""

    logic_gates: float
    """Gate equivalents of cells."""
    logic: float
    """The same as a share of the other's cells."""
    with_sram: float
    """A share: cells, and every bit of memory as one of a RAM."""
    with_sram_copies: float
    """The same, with a memory of n read ports as n memories."""
    counted_gates: float
    """Gate equivalents of cells and of small memories as latches."""
    counted: float
    """A share: cells, small memories as latches, and black boxes as RAM."""
    counted_copies: float
    """The same, with a memory of n read ports as n memories."""


def growth(larger: Area, smaller: Area) -> Growth:
    """What `larger` has that `smaller` has not."""
    logic = larger.logic.gates - smaller.logic.gates
    return Growth(
        logic_gates=logic,
        logic=logic / smaller.logic.gates,
        with_sram=larger.gates_with_sram() / smaller.gates_with_sram() - 1,
        with_sram_copies=larger.gates_with_sram(copies=True) / smaller.gates_with_sram(copies=True)
        - 1,
        counted_gates=logic + larger.latch_gates - smaller.latch_gates,
        counted=larger.gates_counted() / smaller.gates_counted() - 1,
        counted_copies=larger.gates_counted(copies=True) / smaller.gates_counted(copies=True) - 1,
    )
