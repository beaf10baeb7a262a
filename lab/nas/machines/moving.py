"""The options of `celosia nas` that let the machine move, too, and what they show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.lab.nas.machines.area import AreaModel, read_designs, shipped_designs
from celosia.lab.nas.machines.machine_space import MachineSpace, read_machines
from celosia.lab.nas.machines.tables import (
    area_lines,
    together_lines,
    together_table,
    winners_table,
)
from celosia.lab.nas.machines.together import Comparison, compare
from celosia.lab.nas.models.search import Asked, Found
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import Lines
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.support.display import table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = ["Machines", "Moving", "moving"]

_USUAL: Final = 24
"""Machines that each search looks at."""


@dataclass(frozen=True, eq=False)
class Machines:
    """A space of machines, with a model of areas."""

    space: MachineSpace
    areas: AreaModel
    most: int
    """Machines that a search looks at."""

    def compared(
        self,
        asked: Asked,
        found: Found,
        machine: Machine,
        table: EnergyTable,
        lines: Lines,
        tell: Progress,
    ) -> list[Comparison]:
        """What each way has found.  Raises what `compare` raises."""
        return compare(asked, found, self.space, machine, table, self.most, lines=lines, tell=tell)

    def show(self, comparisons: Sequence[Comparison]) -> None:
        """Print who wins."""
        for line in (*area_lines(self.areas, self.space), *together_lines(comparisons)):
            typer.echo(line)
        table_console().print(together_table(comparisons), winners_table(comparisons, self.space))


@dataclass(frozen=True)
class Moving:
    """What was asked for."""

    machine: str | None
    most: int | None
    areas: Sequence[str]

    def read(self, fixed: AcceleratorConfig) -> Machines | None:
        """The machines, in place of which others are as `fixed`; None: only models move.

        Raises `InputError`.
        """
        if self.machine is None:
            for name, value in (("--machines", self.most), ("--area", self.areas)):
                if value:
                    raise InputError(f"{name}: only with --machine, which has the machines")
            return None
        areas = AreaModel(read_designs(self.areas) or shipped_designs())
        areas.check(fixed)
        space = read_machines(self.machine, fixed, areas)
        return Machines(space, areas, self.most or _USUAL)


def moving(
    *,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="SPACE.toml",
            help="The machine moves, too: array, memories, lanes and bus, under a bound of area.",
        ),
    ] = None,
    machines: Annotated[
        int | None,
        typer.Option(
            "--machines", min=1, metavar="N", help=f"Machines each search looks at: {_USUAL}."
        ),
    ] = None,
    area: Annotated[
        list[str] | None,
        typer.Option(
            "--area",
            metavar="AREA.json",
            help="What areas are predicted from, of `celosia area --json`; several.",
        ),
    ] = None,
) -> Moving:
    """Whether the machine moves."""
    return Moving(machine, machines, tuple(area or ()))
