"""The longest path of each unit of the figure, and the clock that all paths allow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from celosia.isa.config import AcceleratorConfig, did_you_mean
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.area.units import REST, UNITS, unit_of
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.modules import VerilogModule
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.between import Between, paths_between
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.scripts import netlist_product, netlist_script
from celosia.sim.export.silicon.timing.within import paths_within
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, share

__all__ = [
    "CELL",
    "DesignText",
    "Measured",
    "ModulePath",
    "by_unit",
    "design_text",
    "known_units",
    "measure",
]

_MAPPING: Final = 0.8
"""The share of a measurement that Yosys takes, about."""
CELL: Final = "mesh"
"""The unit whose longest path is that of a processing element: its multiply-add."""


@dataclass(frozen=True)
class DesignText:
    """Verilog of what is measured."""

    modules: str
    """What is mapped."""
    others: str
    """Interfaces of what that may instantiate beside."""
    memories: str
    """Models of the memories with a clocked read, which are black boxes."""


@dataclass(frozen=True)
class ModulePath:
    """The longest path of a module."""

    unit: str
    module: str
    """Its place below the top."""
    path: RegisterPath


@dataclass(frozen=True)
class Measured:
    """The paths of netlists that one script made."""

    script: str
    paths: Sequence[ModulePath]
    """The longest of each unit."""
    between: Sequence[Between] = ()
    """The longest between each two modules, the longest first; empty: not looked for."""

    def share(self, path: RegisterPath) -> float | None:
        """The length of `path`, in that of a processing element; None: there is none to compare."""
        cell = next((each.path for each in self.paths if each.unit == CELL), None)
        if cell is None:
            return None
        if path.ns is None or cell.ns is None:
            return path.levels / cell.levels
        return path.ns / cell.ns

    @property
    def longest(self) -> RegisterPath:
        """The path that asks most of a cycle, of all that were looked for."""
        paths = [each.path for each in (*self.paths, *self.between)]
        return max(paths, key=lambda path: path.period)


def measure(
    tools: tuple[Yosys, str],
    library: CellLibrary,
    design: DesignText,
    scripts: Sequence[str],
    whole: bool,
    at_once: int,
    tell: Progress,
) -> list[Measured]:
    """The paths of `design` (`design_text`) behind each of `scripts`; `whole`: also those between.

    `tools` are Yosys and OpenSTA's program.  Raises `EnvironmentProblem` if one of them fails.
    """
    yosys, sta = tools
    mapped = netlist_script(yosys, library, scripts, at_once)
    models = design.others + design.memories
    modules, kept = mapped.run(design.modules, models, share(tell, 0, _MAPPING))

    measured: list[Measured] = []
    for number, script in enumerate(scripts):
        begin, end = (_MAPPING + (1 - _MAPPING) * n / len(scripts) for n in (number, number + 1))
        timing = share(tell, begin, end)
        netlists = modules, kept[netlist_product(script)], design.memories
        found: dict[str, RegisterPath | None] = {}
        for name, path in paths_within(sta, library, *netlists, at_once):
            found[name] = path
            timing(f"timing what the script {script} made", len(found) / len(modules))
        units = by_unit({name: found[name] for name in modules})
        between: Sequence[Between] = ()
        if whole:
            timing(f"timing what is between modules, script {script}", None)
            between = paths_between(sta, library, *netlists)
        measured.append(Measured(script, units, between))
    return measured


def known_units(names: Sequence[str]) -> Sequence[str]:
    """`names`, if each is a unit; all units if there are none.  Raises `InputError`."""
    units = [*dict.fromkeys(UNITS.values()), REST]
    for name in names:
        if name not in units:
            raise InputError(
                f"--unit {name}: there is no such unit; there are {', '.join(units)}"
                f"{did_you_mean(name, units)}"
            )
    return list(dict.fromkeys([CELL, *names])) if names else units


def design_text(config: AcceleratorConfig, units: Sequence[str]) -> DesignText:
    """The modules of `config` that are in `units`, and what they instantiate."""
    # Loads Amaranth, which only who measures needs.
    exporter = import_module("celosia.sim.export.design")
    splitter = import_module("celosia.sim.export.silicon.synthesis.modules")
    design = exporter.export_design(config, TopChoice.CORE, Memories.BLACKBOX)
    modules: Mapping[str, VerilogModule] = splitter.split_modules(design.verilog)
    chosen = [name for name in modules if unit_of(place_of(name)) in units]
    others = [module.interface for name, module in modules.items() if name not in chosen]
    text = "".join(modules[name].text for name in chosen)
    return DesignText(text, "".join(others), design.models)


def place_of(module: str) -> str:
    """The place below the top of a module that is named after its place."""
    return module.partition(".")[2]


def by_unit(paths: Mapping[str, RegisterPath | None]) -> list[ModulePath]:
    """The longest path of each unit among `paths` of modules, in the order of the data path."""
    longest: dict[str, ModulePath] = {}
    for name, path in paths.items():
        if path is None:
            continue
        found = ModulePath(unit_of(place_of(name)), place_of(name), path)
        before = longest.get(found.unit)
        if before is None or _length(found.path) > _length(before.path):
            longest[found.unit] = found
    order = [*UNITS.values(), *longest]
    return [longest[unit] for unit in dict.fromkeys(order) if unit in longest]


def _length(path: RegisterPath) -> float:
    return path.levels if path.ns is None else path.ns
