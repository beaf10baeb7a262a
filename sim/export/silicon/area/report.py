"""The tables and the JSON document of `celosia area`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.sim.export.silicon.area.compared import Growth, growth, share_of_frozen
from celosia.sim.export.silicon.area.measure import Area, UnitArea
from celosia.sim.export.silicon.area.memories import (
    LATCH_GATES,
    MACRO_BITS,
    TRANSISTORS_PER_BIT,
    TRANSISTORS_PER_GATE,
    DesignMemory,
)
from celosia.sim.export.silicon.synthesis.mapping import Mapper

__all__ = ["AREA_SCHEMA", "AreaReport", "area_document", "print_area"]

AREA_SCHEMA: Final = "celosia.area/1"

_NOTE: Final = (
    "Cells only: no wires, no clock tree, no sizing. Good for shares, and for designs that are "
    "measured the same way."
)


@dataclass(frozen=True)
class AreaReport:
    """What was measured."""

    name: str
    area: Area
    mapper: Mapper
    unit: str = ""
    """The parameter that builds its unit for softmax and layer normalization, if it has one."""
    lean: Area | None = None
    """The same without that unit."""
    other_name: str = ""
    other: Area | None = None
    """What it is to be compared with."""


def area_document(report: AreaReport) -> dict[str, Any]:
    """A report for JSON."""
    document: dict[str, Any] = {
        "schema": AREA_SCHEMA,
        "preset": report.name,
        "tools": {"yosys": report.mapper.yosys.identity, "cells": report.mapper.library.identity},
        "gate_um2": report.mapper.library.gate_um2,
        "counting": {
            "macro_bits": MACRO_BITS,
            "latch_gates": LATCH_GATES,
            "transistors_per_bit": TRANSISTORS_PER_BIT,
            "transistors_per_gate": TRANSISTORS_PER_GATE,
        },
        **_area(report.area),
    }
    if report.lean is not None:
        share = share_of_frozen(report.area, report.lean)
        document[report.unit] = asdict(growth(report.area, report.lean))
        document["of_frozen"] = None if share is None else asdict(share)
        document[f"without_{report.unit}"] = _area(report.lean)
    if report.other is not None:
        document["against"] = {
            "preset": report.other_name,
            "growth": asdict(growth(report.area, report.other)),
            **_area(report.other),
        }
    return document


def _area(area: Area) -> dict[str, Any]:
    return {
        "config": asdict(area.config),
        "units": {name: _unit(unit) for name, unit in area.units.items()},
        "logic": _unit(area.logic),
        "memories": [_memory(memory) for memory in area.memories],
        "bits": area.bits,
        "small_memories_kge": area.latch_gates / 1000,
        "with_sram_kge": area.gates_with_sram() / 1000,
        "with_sram_copies_kge": area.gates_with_sram(copies=True) / 1000,
        "counted_kge": area.gates_counted() / 1000,
        "counted_copies_kge": area.gates_counted(copies=True) / 1000,
    }


def _unit(unit: UnitArea) -> dict[str, Any]:
    return {"kge": unit.gates / 1000, "um2": unit.um2, "flip_flops": unit.flip_flops}


def _memory(memory: DesignMemory) -> dict[str, Any]:
    return {
        "path": memory.path,
        "rows": memory.rows,
        "row_bits": memory.row_bits,
        "bits": memory.bits,
        "clocked_reads": memory.reads,
        "black_box": memory.box,
    }


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
    console.print(f"{yosys.identity}; {library.identity}, 1 GE = {library.gate_um2:g} um2. {_NOTE}")


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
