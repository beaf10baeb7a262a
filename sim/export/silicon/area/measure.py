"""The area of a configuration, by unit."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import As, Key, Named
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.area.memories import (
    LATCH_GATES,
    DesignMemory,
    memories_of,
    ram_gates,
)
from celosia.sim.export.silicon.area.units import REST, UNITS, unit_of
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.mapping import Mapper, Netlist
from celosia.sim.export.silicon.synthesis.modules import VerilogModule, places
from celosia.sim.support.progress import Progress

__all__ = ["Area", "UnitArea", "lean_parameter", "measure_area", "sum_up"]

_VECTOR_UNITS: Final = ("normalization", "bert")
"""Parameters that build a unit for softmax and layer normalization: ours, and Gemmini's."""


def _kge(gates: float) -> float:
    return gates / 1000


@dataclass(frozen=True)
class UnitArea:
    """What one unit of the figure takes."""

    um2: float = 0.0
    """Area of cells, flip-flops among them, memories not."""
    gates: Annotated[float, Named("kge"), As(_kge)] = 0.0
    """The same in gate equivalents; in documents in thousands of them."""
    flip_flops: int = 0
    """Flip-flops among the cells."""

    def __add__(self, other: "UnitArea") -> "UnitArea":
        return UnitArea(
            self.um2 + other.um2,
            self.gates + other.gates,
            self.flip_flops + other.flip_flops,
        )


@dataclass(frozen=True)
class Area:
    """What a configuration takes."""

    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    units: Mapping[str, UnitArea]
    """In the order of the data path; those that are not built are not there."""
    memories: Sequence[DesignMemory]
    """All memories, the largest first."""

    @Key
    def logic(self) -> UnitArea:
        """All cells."""
        return sum(self.units.values(), UnitArea())

    @property
    def small(self) -> Sequence[DesignMemory]:
        """Memories that are no macros."""
        return [memory for memory in self.memories if memory.box is None]

    @property
    def latch_gates(self) -> float:
        """Gate equivalents of the small memories, as latches."""
        return LATCH_GATES * sum(memory.bits for memory in self.small)

    @Key
    def bits(self) -> int:
        """What all memories store."""
        return sum(memory.bits for memory in self.memories)

    @Key
    def small_memories_kge(self) -> float:
        """Small memories as latches, in thousands of gate equivalents."""
        return self.latch_gates / 1000

    @Key
    def with_sram_kge(self) -> float:
        """Cells, and every bit of memory as one of a RAM, in thousands of gate equivalents."""
        return self.gates_with_sram() / 1000

    @Key
    def with_sram_copies_kge(self) -> float:
        """The same, with a memory of n read ports as n memories."""
        return self.gates_with_sram(copies=True) / 1000

    @Key
    def counted_kge(self) -> float:
        """Cells, small memories as latches, black boxes as RAM: thousands of gate equivalents."""
        return self.gates_counted() / 1000

    @Key
    def counted_copies_kge(self) -> float:
        """The same, with a memory of n read ports as n memories."""
        return self.gates_counted(copies=True) / 1000

    def gates_with_sram(self, *, copies: bool = False) -> float:
        """Cells, and every bit of every memory as one of a RAM: how Gemmini's area is counted.

        With `copies`, a memory with n clocked read ports counts n times.
        """
        return self.logic.gates + sum(
            ram_gates(memory.bits * (memory.copies if copies else 1)) for memory in self.memories
        )

    def gates_counted(self, *, copies: bool = False) -> float:
        """Cells, small memories as latches, and the bits of black boxes as those of a RAM."""
        boxes = [memory for memory in self.memories if memory.box is not None]
        return (
            self.logic.gates
            + self.latch_gates
            + sum(ram_gates(memory.bits * (memory.copies if copies else 1)) for memory in boxes)
        )


def lean_parameter(config: AcceleratorConfig) -> str | None:
    """The parameter without which `config` has no unit for softmax and layer normalization."""
    return next((name for name in _VECTOR_UNITS if getattr(config, name)), None)


def measure_area(config: AcceleratorConfig, mapper: Mapper, tell: Progress) -> Area:
    """Export `config`, map what is not mapped yet, and add up.

    Raises what `Mapper.map_design` raises.
    """
    tell("writing the Verilog", None)
    # Loads Amaranth, which only who measures needs.
    exporter = import_module("celosia.sim.export.design")
    design = exporter.export_design(config, TopChoice.CORE, Memories.BLACKBOX)
    modules, netlists = mapper.map_design(design.verilog, design.models, tell)
    units = sum_up(design.top.module, modules, netlists, mapper.library)
    return Area(config, units, memories_of(design.memories, design.rams))


def sum_up(
    top: str,
    modules: Mapping[str, VerilogModule],
    netlists: Mapping[str, Netlist],
    library: CellLibrary,
) -> dict[str, UnitArea]:
    """The area of each unit of the design below the module `top`."""
    units: dict[str, UnitArea] = defaultdict(UnitArea)
    for path, name in places(top, modules):
        units[unit_of(path)] += _area(netlists[name], library)
    order = list(dict.fromkeys([*UNITS.values(), REST]))
    return {unit: units[unit] for unit in order if unit in units}


def _area(netlist: Netlist, library: CellLibrary) -> UnitArea:
    um2 = sum(library.cells[cell].area * count for cell, count in netlist.cells.items())
    flip_flops = sum(
        count for cell, count in netlist.cells.items() if library.cells[cell].flip_flop
    )
    return UnitArea(um2, um2 / library.gate_um2, flip_flops)
