"""Section 3.4.4: what normalization adds in area and power."""

from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.survey.parts.values import PERCENT, Evidence, Item, Study, Value
from celosia.sim.export.silicon.area.measure import lean_parameter, measure_area
from celosia.sim.export.silicon.area.report import AreaReport
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent

__all__ = ["STUDIES"]

_PRESET: Final = "base"
_KEYS: Final = {
    "area added, percent": ("with_sram", "cells, and every bit of memory at six transistors"),
    "area added with copies, percent": (
        "with_sram_copies",
        "the same, a memory of n clocked read ports being n memories",
    ),
    "area added with latches, percent": (
        "counted",
        "cells, small memories as latches, and only large ones at six transistors a bit",
    ),
    "area added with latches and copies, percent": ("counted_copies", "both"),
    "logic added, percent": ("logic", "cells alone, over the cells of the design without"),
}
"""What is counted as area: the survey does not say what its number is of."""


def _measured(evidence: Evidence) -> tuple[Value, ...]:
    """What `celosia area` says of `base`; modules that it mapped before are not mapped again."""
    config = resolve_config(_PRESET)
    mapper = Mapper(find_yosys(None), choose_library("sky130"), 1)
    unit = lean_parameter(config)
    assert unit is not None, "base has the unit"
    area = measure_area(config, mapper, silent)
    lean = measure_area(config.with_values({unit: False}), mapper, silent)
    document = AreaReport(_PRESET, area, mapper, unit, lean).document()
    settings = {"preset": _PRESET, **document["tools"]}
    return tuple(
        evidence.value(
            "area",
            name,
            100 * document[unit][key],
            "arithmetic",
            settings=settings,
            unit=PERCENT,
            note=note,
        )
        for name, (key, note) in _KEYS.items()
    )


def _make(evidence: Evidence) -> Item:
    values: tuple[Value, ...] = ()
    missing = "--quick leaves it out: celosia area takes minutes where it was not run before"
    if not evidence.scope.quick:
        try:
            values, missing = _measured(evidence), ""
        except EnvironmentProblem as problem:
            missing = str(problem)
    power = "nobody has published the energy of a step of the lanes (docs/silicon.md)"
    return Item(
        id="area",
        title="Section 3.4.4: area and power that normalization adds",
        where=evidence.paper.where("area"),
        values=(
            *values,
            evidence.value("area", "power added, percent", None, "model", note=power),
        ),
        notes=(
            "Cells of sky130, against a placed design with its SRAM in ASAP7: a share beside a "
            "share, of another way to count. Beside the survey's number stands the count that has "
            "every bit of memory at six transistors; the others count more for small memories, and "
            "for those that are read at several ports.",
        ),
        missing=missing,
    )


STUDIES: Final = (Study(id="area", jobs=lambda _scope: (), make=_make),)
