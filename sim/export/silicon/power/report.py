"""The table of `celosia power`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.export.silicon.power.measure import Sample

__all__ = ["AGREE", "CellCheck", "PowerReport", "print_power"]

AGREE: Final = 0.05
"""How far sets of windows may be apart."""


@dataclass(frozen=True)
class CellCheck:
    """What a cell of the array takes for a product, in pJ."""

    zero: float
    """With activations that are zeros."""
    real: float
    """In the layers that were recorded."""
    random: float

    @property
    def ordered(self) -> bool:
        """Whether zeros take the least, and random numbers the most."""
        return self.zero < self.real < self.random


@dataclass(frozen=True)
class PowerReport:
    """What was measured."""

    table: EnergyTable
    cell: CellCheck
    samples: Sequence[Sample]
    outputs: int
    """Outputs of modules that were compared with what was recorded, in all windows."""


def print_power(console: Console, report: PowerReport) -> None:
    """The entries, and what was checked."""
    table = Table(title=escape(report.table.name), title_justify="left")
    table.add_column("event")
    for head in ("pJ", "and clock pins, gated"):
        table.add_column(head, justify="right")
    table.add_column("source")
    for name, entry in report.table.entries.items():
        clock = f"{entry.clock_pj:.4g}" if entry.clock_pj else ""
        pj = "unknown" if entry.pj is None else f"{entry.pj:.4g}"
        table.add_row(name, pj, clock, escape(entry.source))
    console.print(table)
    cell, wrong = report.cell, sum(len(sample.wrong) for sample in report.samples)
    console.print(
        f"A cell of the array: {cell.zero:.2f} pJ with zeros, {cell.real:.2f} in layers, "
        f"{cell.random:.2f} with random numbers: {'' if cell.ordered else 'not '}ordered. "
        f"{report.outputs - wrong:,} of {report.outputs:,} outputs of modules are in all cycles "
        "what was recorded; the others are of modules with small memories, whose contents at the "
        "beginning of a window are not known.",
        markup=False,
    )
