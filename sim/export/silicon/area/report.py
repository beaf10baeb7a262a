"""The tables and the JSON document of `celosia area`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.documents.record import As, Hidden, Inline, Key, Named, Record, Sparse
from celosia.sim.export.silicon.area.compared import FrozenShare, Growth, growth, share_of_frozen
from celosia.sim.export.silicon.area.measure import Area, UnitArea
from celosia.sim.export.silicon.area.memories import (
    LATCH_GATES,
    MACRO_BITS,
    TRANSISTORS_PER_BIT,
    TRANSISTORS_PER_GATE,
    DesignMemory,
)
from celosia.sim.export.silicon.synthesis.mapping import Mapper

__all__ = ["AreaReport", "AreaTools", "ComparedArea", "Counting", "print_area"]

_NOTE: Final = (
    "Cells only: no wires, no clock tree, no sizing. Good for shares, and for designs that are "
    "measured the same way."
)


@dataclass(frozen=True)
class AreaTools:
    """What mapped a design."""

    yosys: str
    """Its version."""
    cells: str
    """The library."""


@dataclass(frozen=True)
class Counting:
    """How memories are counted."""

    macro_bits: int = MACRO_BITS
    """A memory with clocked reads and fewer bits is one of latches."""
    latch_gates: float = LATCH_GATES
    """Gate equivalents of a bit of these."""
    transistors_per_bit: float = TRANSISTORS_PER_BIT
    """Transistors of a bit of RAM."""
    transistors_per_gate: float = TRANSISTORS_PER_GATE
    """Transistors of a gate equivalent."""


@dataclass(frozen=True)
class ComparedArea:
    """Another design."""

    preset: str
    """The configuration."""
    growth: Growth
    """What the first design has more."""
    area: Inline[Area]


def _tools(mapper: Mapper) -> AreaTools:
    return AreaTools(mapper.yosys.identity, mapper.library.identity)


@dataclass(frozen=True)
class AreaReport(Record):
    """What was measured."""

    name: Annotated[str, Named("preset")]
    """The configuration."""
    area: Inline[Area]
    mapper: Annotated[Mapper, Named("tools"), As(_tools)]
    """What mapped to cells, and the cells."""
    unit: Hidden[str] = ""
    """The parameter that builds its unit for softmax and layer normalization, if it has one."""
    lean: Hidden[Area | None] = None
    """The same without that unit."""
    other_name: Hidden[str] = ""
    other: Hidden[Area | None] = None
    """What it is to be compared with."""
    schema: Literal["celosia.area/1"] = "celosia.area/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    counting: Counting = field(default_factory=Counting)
    """How memories are counted."""

    @Key
    def gate_um2(self) -> float:
        """Area of a gate equivalent."""
        return self.mapper.library.gate_um2

    @Key
    def normalization(self) -> Sparse[Growth | None]:
        """What this unit adds, if there is one."""
        return self._gain("normalization")

    @Key
    def bert(self) -> Sparse[Growth | None]:
        """What this unit adds, if there is one."""
        return self._gain("bert")

    @Key
    def without_normalization(self) -> Sparse[Area | None]:
        """The same without that unit."""
        return self.lean if self.unit == "normalization" else None

    @Key
    def without_bert(self) -> Sparse[Area | None]:
        """The same without that unit."""
        return self.lean if self.unit == "bert" else None

    @Key
    def of_frozen(self) -> FrozenShare | None:
        """What the unit adds, as shares of a design that stays; null for other configurations."""
        return share_of_frozen(self.area, self.lean) if self.lean else None

    @Key
    def against(self) -> Sparse[ComparedArea | None]:
        """What it is compared with."""
        if self.other is None:
            return None
        return ComparedArea(self.other_name, growth(self.area, self.other), self.other)

    def _gain(self, unit: str) -> Growth | None:
        return growth(self.area, self.lean) if self.lean and self.unit == unit else None


def print_area(console: Console, report: AreaReport) -> None:
    """What was measured, as tables."""
    console.print(_units_table(report))
    console.print(_boxes_table(report.area))
    console.print(_small_table(report.area.small))
    console.print(_sums_table(report))
    share = None if report.lean is None else share_of_frozen(report.area, report.lean)
    if share is not None:
        console.print(
            f"{report.unit} adds {share.logic:.1%} of the cells of the {share.of}, "
            f"{share.with_sram:.1%} with memories at {TRANSISTORS_PER_BIT} transistors a bit "
            f"({share.source}).",
            markup=False,
        )
    library, yosys = report.mapper.library, report.mapper.yosys
    tools = f"{yosys.identity}; {library.identity}"
    console.print(f"{tools}, 1 GE = {library.gate_um2:g} um2. {_NOTE}", markup=False)


def _units_table(report: AreaReport) -> Table:
    table = Table(title=escape(f"{report.name}: cells"), title_justify="left")
    table.add_column("unit")
    others = [
        (title, area)
        for title, area in (
            (f"without {report.unit}", report.lean),
            (report.other_name, report.other),
        )
        if area is not None
    ]
    heads = ["kGE", "um2", "flip-flops", "share"]
    for head in [*heads, *(f"{escape(title)}: kGE" for title, _ in others)]:
        table.add_column(head, justify="right")
    total = report.area.logic
    names = dict.fromkeys([
        *report.area.units,
        *(name for _, area in others for name in area.units),
    ])
    for name in names:
        unit = report.area.units.get(name, UnitArea())
        rest = (_kge(area.units.get(name, UnitArea()).gates) for _, area in others)
        table.add_row(name, *_cells(unit, total), *rest)
    table.add_section()
    table.add_row("logic", *_cells(total, total), *(_kge(area.logic.gates) for _, area in others))
    return table


def _cells(unit: UnitArea, total: UnitArea) -> Iterator[str]:
    yield _kge(unit.gates)
    yield f"{unit.um2:,.0f}"
    yield f"{unit.flip_flops:,}"
    yield f"{unit.gates / total.gates:.1%}"


def _boxes_table(area: Area) -> Table:
    table = Table(title="Memories that are black boxes", title_justify="left")
    table.add_column("memory")
    for head in ("number", "rows", "bits of a row", "clocked reads", "bits"):
        table.add_column(head, justify="right")
    alike: dict[tuple[str, int, int, int], int] = defaultdict(int)
    for memory in area.memories:
        if memory.box is not None:
            alike[memory.box, memory.rows, memory.row_bits, memory.reads] += 1
    for (box, rows, bits, reads), number in alike.items():
        numbers = (number, rows, bits, reads, number * rows * bits)
        table.add_row(box, *(f"{n:,}" for n in numbers))
    return table


def _small_table(memories: Sequence[DesignMemory]) -> Table:
    title = f"Memories that are none: latches at {LATCH_GATES:g} GE a bit"
    table = Table(title=title, title_justify="left")
    table.add_column("place")
    for head in ("rows", "bits of a row", "bits", "kGE"):
        table.add_column(head, justify="right")
    table.add_column("read")
    for memory in memories:
        numbers = (f"{n:,}" for n in (memory.rows, memory.row_bits, memory.bits))
        read = "clocked" if memory.reads else "combinationally"
        place = escape(memory.path.removeprefix("accelerator."))
        table.add_row(place, *numbers, _kge(LATCH_GATES * memory.bits), read)
    table.add_section()
    bits = sum(memory.bits for memory in memories)
    table.add_row("all", "", "", f"{bits:,}", _kge(LATCH_GATES * bits), "")
    return table


def _sums_table(report: AreaReport) -> Table:
    table = Table(title="Sums", title_justify="left")
    table.add_column("")
    table.add_column("kGE", justify="right")
    grown: list[Growth] = []
    for title, area in (
        (f"{report.unit} adds", report.lean),
        (f"against {report.other_name}", report.other),
    ):
        if area is not None:
            grown.append(growth(report.area, area))
            table.add_column(escape(title), justify="right")
    area = report.area
    rows = (
        ("cells", area.logic.gates, lambda more: (more.logic_gates, more.logic)),
        (
            "cells and small memories as latches",
            area.logic.gates + area.latch_gates,
            lambda more: (more.counted_gates, None),
        ),
        (
            f"cells, all memories at {TRANSISTORS_PER_BIT} transistors a bit",
            area.gates_with_sram(),
            lambda more: (None, more.with_sram),
        ),
        (
            "the same, n read ports as n copies",
            area.gates_with_sram(copies=True),
            lambda more: (None, more.with_sram_copies),
        ),
        (
            "cells, latches, black boxes at 6 transistors a bit",
            area.gates_counted(),
            lambda more: (None, more.counted),
        ),
        (
            "the same, n read ports as n copies",
            area.gates_counted(copies=True),
            lambda more: (None, more.counted_copies),
        ),
    )
    for name, gates, more_of in rows:
        table.add_row(name, _kge(gates), *(_more(*more_of(more)) for more in grown))
    return table


def _more(gates: float | None, share: float | None) -> str:
    texts = []
    if gates is not None:
        texts.append(f"{gates / 1000:+,.1f} kGE")
    if share is not None:
        texts.append(f"{share:+.1%}")
    return ", ".join(texts)


def _kge(gates: float) -> str:
    return f"{gates / 1000:,.1f}"
