"""What one design has more than another."""

from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS
from celosia.sim.export.silicon.area.measure import Area
from celosia.sim.export.silicon.area.memories import ram_gates

__all__ = ["FROZEN", "Frozen", "FrozenShare", "Growth", "growth", "share_of_frozen"]


@dataclass(frozen=True)
class Frozen:
    """A design that was measured once, so that shares of it do not move when designs do."""

    name: str
    source: str
    config: AcceleratorConfig
    gates: float
    """Gate equivalents of its cells."""
    bits: int
    """What its memories store."""


FROZEN: Final = Frozen(
    name="lean base of a61ea25",
    source="base without normalization at a61ea25; Yosys 0.23, sky130_fd_sc_hd, 2026-11-22",
    config=PRESETS["base"].with_values({"normalization": False}),
    gates=799_700.0,
    bits=2_766_800,
)
"""What the normalization unit of `base` is compared with, however lean the rest becomes."""


@dataclass(frozen=True)
class FrozenShare:
    """What a design has more than another, as shares of a frozen one."""

    of: str
    """The design."""
    source: str
    """How it was measured."""
    logic: float
    """Cells."""
    with_sram: float
    """Cells, and every bit of memory as one of a RAM."""


def share_of_frozen(larger: Area, smaller: Area) -> FrozenShare | None:
    """What `larger` has that `smaller` has not, as shares of `FROZEN`.

    None, unless `smaller` is the configuration of `FROZEN`; lanes and a queue of transforms, which
    a design without the unit does not have, may differ, and the length of scales.
    """
    varying = ("transform_queue", "scale_bits")
    alike = {name: getattr(FROZEN.config, name) for name in varying} | {"vector_lanes": 0}
    if replace(smaller.config, **alike) != replace(FROZEN.config, **alike):
        return None
    logic = larger.logic.gates - smaller.logic.gates
    whole = larger.gates_with_sram() - smaller.gates_with_sram()
    return FrozenShare(
        of=FROZEN.name,
        source=FROZEN.source,
        logic=logic / FROZEN.gates,
        with_sram=whole / (FROZEN.gates + ram_gates(FROZEN.bits)),
    )


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
