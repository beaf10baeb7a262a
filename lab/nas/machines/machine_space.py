"""The machines that a search may choose from: values of parameters, and what bounds them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from celosia.isa.config import AcceleratorConfig, ConfigError, did_you_mean
from celosia.isa.foreign_file import MIB, parse_toml
from celosia.lab.nas.machines.area import GROWING, AreaModel
from celosia.lab.nas.models.costs import SCENARIOS
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["Bounds", "MachineSpace", "read_machines"]

_RATES: Final = "rates"
_AREA: Final = "area_kge"
_ENERGIES: Final = {f"{scenario}_uj": scenario for scenario in SCENARIOS}
_DEFAULT_RATES: Final = (8, 16)
_MOST_RATE: Final = 64
_MOST_MACHINES: Final = 10_000

Random = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a machine, and a model on it, may take at most."""

    area_kge: float | None
    """Thousands of gate equivalents; None: only energy is bounded."""
    uj: Mapping[str, float]
    """By scenario; those that are not there are not bounded."""


@dataclass(frozen=True, eq=False)
class MachineSpace:
    """Machines that can be built and are small enough."""

    fixed: AcceleratorConfig
    """The machine that others are compared with; it need not be in `legal`."""
    legal: Sequence[AcceleratorConfig]
    """Each once, in the order of their sizes."""
    rates: Sequence[int]
    """Bytes per cycle of the memory: each is a comparison of its own."""
    bounds: Bounds
    areas: Mapping[AcceleratorConfig, float]
    """Predicted thousands of gate equivalents, of `legal` and of `fixed`."""
    axes: Mapping[str, Sequence[int]]

    @property
    def largest(self) -> AcceleratorConfig:
        """The last one."""
        return self.legal[-1]

    @property
    def smallest(self) -> AcceleratorConfig:
        """The first one."""
        return self.legal[0]

    def drawn(self, random: Random) -> AcceleratorConfig:
        """A machine at random: each is as probable as any other."""
        return self.legal[int(random.integers(len(self.legal)))]

    def changed(self, machine: AcceleratorConfig, random: Random, rate: float) -> AcceleratorConfig:
        """`machine` with each parameter drawn anew with the probability `rate`.

        It stays as it is where that would not be legal.
        """
        values = {
            name: values[int(random.integers(len(values)))]
            for name, values in self.axes.items()
            if random.random() < rate
        }
        return self._made(machine, values)

    def crossed(
        self, one: AcceleratorConfig, other: AcceleratorConfig, random: Random
    ) -> AcceleratorConfig:
        """A machine whose parameters are each those of `one` or of the `other`.

        It is `one` where that would not be legal.
        """
        values = {name: getattr((one, other)[random.integers(2)], name) for name in self.axes}
        return self._made(one, values)

    def _made(self, machine: AcceleratorConfig, values: dict[str, int]) -> AcceleratorConfig:
        try:
            found = machine.with_values(values)
        except ConfigError:
            return machine
        return found if found in self._set else machine

    @cached_property
    def _set(self) -> frozenset[AcceleratorConfig]:
        return frozenset(self.legal)


def read_machines(path: str, fixed: AcceleratorConfig, model: AreaModel) -> MachineSpace:
    """The machines of a TOML file; what it does not name is as `fixed` has it.

    Without a bound, machines have at most the area of `fixed`.  Raises `InputError` that names the
    place and the rule, and what is nearest where nothing meets a bound.
    """
    text = read_text(path, MIB)
    try:
        found = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    names = (*GROWING, _RATES, _AREA, *_ENERGIES)
    for name in found:
        if name not in names:
            raise InputError(
                f"{path}: {name}: there are {', '.join(names)}{did_you_mean(name, names)}"
            )
    axes = {name: _whole(found[name], f"{path}: {name}") for name in GROWING if name in found}
    if not axes:
        raise InputError(f"{path}: there is none of {', '.join(GROWING)}, so nothing moves")
    rates = _whole(found.get(_RATES, list(_DEFAULT_RATES)), f"{path}: {_RATES}")
    if wrong := [rate for rate in rates if not 1 <= rate <= _MOST_RATE]:
        raise InputError(f"{path}: {_RATES}: {wrong[0]} is not in 1..{_MOST_RATE}")
    bounds = _bounds(found, path, model.kge(fixed))
    machines = _machines(fixed, axes, path)
    areas = {machine: model.kge(machine) for machine in (*machines, fixed)}
    legal = [m for m in machines if bounds.area_kge is None or areas[m] <= bounds.area_kge]
    if not legal:
        least = min(machines, key=lambda machine: areas[machine])
        values = ", ".join(f"{name} {getattr(least, name)}" for name in axes)
        raise InputError(
            f"{path}: no machine has at most {bounds.area_kge:,.0f} kGE; the nearest has "
            f"{areas[least]:,.0f}: {values}"
        )
    return MachineSpace(fixed, legal, rates, bounds, areas, axes)


def _whole(value: object, place: str) -> list[int]:
    """A list of whole numbers."""
    if not isinstance(value, list) or any(type(each) is not int for each in value):
        raise InputError(f"{place}: {value!r} is not a list of whole numbers")
    if not value:
        raise InputError(f"{place}: there are none, so no machine is legal")
    return sorted(set(value))


def _bounds(found: Mapping[str, Any], path: str, area: float) -> Bounds:
    """The bounds of a file; `area` where it has none."""
    for name in (_AREA, *_ENERGIES):
        value = found.get(name, 1)
        if type(value) not in (int, float) or not 0 < value < float("inf"):
            raise InputError(f"{path}: {name}: {value!r} is not a number above 0")
    uj = {scenario: float(found[name]) for name, scenario in _ENERGIES.items() if name in found}
    usual = None if uj else area
    return Bounds(area_kge=found.get(_AREA, usual), uj=uj)


def _machines(
    fixed: AcceleratorConfig, axes: Mapping[str, Sequence[int]], path: str
) -> list[AcceleratorConfig]:
    """All that can be built."""
    if (count := prod(map(len, axes.values()))) > _MOST_MACHINES:
        raise InputError(f"{path}: {count:,} machines, more than {_MOST_MACHINES:,}")
    machines: dict[AcceleratorConfig, None] = {}
    refused = ""
    for values in product(*axes.values()):
        try:
            machines[fixed.with_values(dict(zip(axes, values, strict=True)))] = None
        except ConfigError as error:
            refused = refused or str(error)
    if not machines:
        raise InputError(f"{path}: no machine is legal; the first: {refused}")
    return list(machines)
