"""The longest path of each unit of the figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from celosia.isa.config import AcceleratorConfig, did_you_mean
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.area.units import REST, UNITS, unit_of
from celosia.sim.export.silicon.synthesis.modules import VerilogModule
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.problems import InputError

__all__ = ["CELL", "ModulePath", "by_unit", "design_text", "known_units"]

CELL: Final = "mesh"
"""The unit whose longest path is that of a processing element: its multiply-add."""


@dataclass(frozen=True)
class ModulePath:
    """The longest path of a module."""

    unit: str
    module: str
    """Its place below the top."""
    path: RegisterPath


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


def design_text(config: AcceleratorConfig, units: Sequence[str]) -> tuple[str, str]:
    """The modules of `config` that are in `units`, and those that all of them instantiate."""
    # Loads Amaranth, which only who measures needs.
    exporter = import_module("celosia.sim.export.design")
    splitter = import_module("celosia.sim.export.silicon.synthesis.modules")
    design = exporter.export_design(config, TopChoice.CORE, Memories.BLACKBOX)
    modules: Mapping[str, VerilogModule] = splitter.split_modules(design.verilog)
    chosen = [name for name in modules if unit_of(place_of(name)) in units]
    others = [module.interface for name, module in modules.items() if name not in chosen]
    return "".join(modules[name].text for name in chosen), "".join(others) + design.models


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
