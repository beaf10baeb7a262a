"""The area of a machine, predicted from units that `celosia area` measured.

Each unit grows with few numbers of a configuration, by what it is built from: the mesh with its
cells, a lane's parts with the lanes.  How much, is fitted to the measured designs by least squares
of relative errors.  The bits of scratchpad and accumulator are known.  All is in thousands of gate
equivalents: cells, small memories as latches, black boxes at six transistors a bit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.resources import files
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.foreign_file import ForeignFileError, parse_json, read_text
from celosia.sim.export.silicon.area.memories import ram_gates
from celosia.sim.export.silicon.area.units import REST, UNITS
from celosia.sim.support.problems import InputError

__all__ = ["GROWING", "AreaModel", "MeasuredDesign", "read_designs", "shipped_designs"]

GROWING: Final = ("dim", "scratchpad_kib", "accumulator_kib", "vector_lanes", "bus_bits")
"""The parameters that areas are predicted for; in all others a machine is as the measured ones."""

_FITTED: Final[Mapping[str, Callable[[AcceleratorConfig], int]]] = {
    "dim": lambda config: config.dim,
    "vector_lanes": lambda config: config.lanes,
    "bus_bits": lambda config: config.bus_bits,
}
"""What units grow with, which is fitted; bits of memories are counted."""

_MOST_BYTES: Final = 1 << 24
_SMALL: Final = "small memories"
_BOXES: Final = "other black boxes"

_TERMS: Final[Mapping[str, Callable[[AcceleratorConfig], float]]] = {
    "one": lambda _: 1.0,
    "dim": lambda config: config.dim / 16,
    "cells": lambda config: (config.dim / 16) ** 2,
    "lanes": lambda config: config.lanes / 8,
    "bus": lambda config: config.bus_bits / 128,
}
"""What units grow with; each is 1 for `base`."""

_GROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "mesh": ("cells",),
    "transposer and skew": ("cells",),
    "execute control": ("one", "dim"),
    "DMA reader": ("one", "bus"),
    "DMA writer": ("one", "bus"),
    "load scaler": ("dim",),
    "load control and unpacking": ("one", "dim", "bus"),
    "requantizer": ("dim",),
    "store control and drain": ("one", "dim"),
    "issue and hazards": ("one",),
    "tokens": ("one",),
    "decoder": ("one",),
    "loops": ("one",),
    "counters": ("one",),
    "accumulator": ("dim",),
    "parameters": ("dim",),
    "scratchpad": ("dim",),
    "lanes: polynomial": ("lanes",),
    "lanes: scaler": ("lanes",),
    "lanes: sums": ("lanes",),
    "lanes: maximum": ("lanes",),
    "lanes: control": ("lanes", "dim"),
    "statistics and background": ("one",),
    "transform control, reader, writer": ("one", "dim", "lanes"),
    REST: ("one",),
    _SMALL: ("one", "dim", "bus"),
    _BOXES: ("one", "dim"),
}
"""By the units of `celosia area`, its small memories and the black boxes that are no `GROWING`."""


@dataclass(frozen=True, eq=False)
class MeasuredDesign:
    """What `celosia area` measured of a configuration."""

    config: AcceleratorConfig
    kge: Mapping[str, float]
    """By what `_GROWS` names."""

    @property
    def total(self) -> float:
        """All of it, scratchpad and accumulator as well."""
        return sum(self.kge.values()) + _memories(self.config)


@dataclass(frozen=True, eq=False)
class AreaModel:
    """Areas of machines, after designs that were measured."""

    designs: Sequence[MeasuredDesign]

    @cached_property
    def _weights(self) -> Mapping[str, NDArray[np.float64]]:
        """By unit, what one of each of its terms takes."""
        return {unit: self._fitted(unit, terms) for unit, terms in _GROWS.items()}

    def _fitted(self, unit: str, terms: Sequence[str]) -> NDArray[np.float64]:
        measured = np.array([design.kge[unit] for design in self.designs])
        columns = np.array([_values(terms, design.config) for design in self.designs])
        relative = columns / measured[:, None]
        return np.linalg.lstsq(relative, np.ones(len(measured)), rcond=None)[0].astype(np.float64)

    def unit(self, unit: str, config: AcceleratorConfig) -> float:
        """What one unit takes."""
        return float(_values(_GROWS[unit], config) @ self._weights[unit])

    def kge(self, config: AcceleratorConfig) -> float:
        """What a machine takes."""
        return sum(self.unit(unit, config) for unit in _GROWS) + _memories(config)

    def check(self, config: AcceleratorConfig) -> None:
        """Raise `InputError` for a machine of which areas are not known.

        It is one that differs from a measured design in something that no area is fitted for.
        """
        for design, each in product(self.designs, fields(config)):
            ours, measured = getattr(config, each.name), getattr(design.config, each.name)
            if each.name not in GROWING and ours != measured:
                raise InputError(
                    f"{each.name}: {ours}, but a design whose area was measured has {measured}; "
                    "measure yours: celosia area --json, and give them with --area"
                )

    def beyond(self, machines: Iterable[AcceleratorConfig]) -> list[str]:
        """Values of `machines` that are beyond those of all measured designs: ``dim 32``."""
        found = list(machines)
        return [
            f"{name} {value}"
            for name, read in _FITTED.items()
            for measured in [{read(design.config) for design in self.designs}]
            for value in sorted({read(config) for config in found})
            if not min(measured) <= value <= max(measured)
        ]

    def errors(self) -> list[tuple[MeasuredDesign, float, float]]:
        """Each design, how far the prediction is from it, and that of a model without it.

        They are shares of what was measured: 0.01 where 1 % too much is predicted.
        """
        return [
            (
                design,
                self.kge(design.config) / design.total - 1,
                AreaModel([each for each in self.designs if each is not design]).kge(design.config)
                / design.total
                - 1,
            )
            for design in self.designs
        ]

    def worst_units(self) -> list[tuple[str, float]]:
        """The worst error of each unit over the designs, the largest kGE first."""
        errors = {
            unit: max(
                (self.unit(unit, design.config) - design.kge[unit] for design in self.designs),
                key=abs,
            )
            for unit in _GROWS
        }
        return sorted(errors.items(), key=lambda item: -abs(item[1]))


def _values(terms: Sequence[str], config: AcceleratorConfig) -> NDArray[np.float64]:
    return np.array([_TERMS[term](config) for term in terms])


def _memories(config: AcceleratorConfig) -> float:
    """Scratchpad and accumulator."""
    return ram_gates((config.scratchpad_kib + config.accumulator_kib) * 1024 * 8) / 1000


def shipped_designs() -> list[MeasuredDesign]:
    """The designs that are measured already (docs/nas.md)."""
    text = files("celosia.lab.nas.machines").joinpath("measured.json").read_text()
    return [_design(document, "measured.json") for document in parse_json(text)]


def read_designs(paths: Sequence[str]) -> list[MeasuredDesign]:
    """Designs in documents of `celosia area --json`.  Raises `InputError`."""
    found = []
    for path in paths:
        try:
            document = parse_json(read_text(path, _MOST_BYTES))
        except (ForeignFileError, ValueError) as error:
            raise InputError(f"{path}: {error}") from None
        found.append(_design(document, path))
    return found


def _design(document: Any, place: str) -> MeasuredDesign:
    """The design in a document of `celosia area --json`."""
    try:
        config = AcceleratorConfig().with_values(document["config"])
        units = {name: float(document["units"][name]["kge"]) for name in {*UNITS.values(), REST}}
        small = float(document["small_memories_kge"])
        logic = float(document["logic"]["kge"])
        boxes = float(document["counted_kge"]) - logic - small - _memories(config)
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"{place}: no document of celosia area --json, of a design with every unit: {reason}"
        ) from None
    return MeasuredDesign(config, {**units, _SMALL: small, _BOXES: boxes})
