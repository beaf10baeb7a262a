"""Section 3.4.4: what normalization adds in area and power."""

from typing import Final

from celosia.isa.presets import resolve_config
from celosia.sim.bench.survey.parts.values import Evidence, Item, Study, Value
from celosia.sim.export.silicon.area.measure import lean_parameter, measure_area
from celosia.sim.export.silicon.area.report import AreaReport, area_document
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent

__all__ = ["STUDIES"]

_PRESET: Final = "base"
_KEYS: Final = {"area added, percent": "with_sram", "logic added, percent": "logic"}


def _measured(evidence: Evidence) -> tuple[Value, ...]:
    """What `celosia area` says of `base`; modules that it mapped before are not mapped again."""
    config = resolve_config(_PRESET)
    mapper = Mapper(find_yosys(None), choose_library("sky130"), 1)
    unit = lean_parameter(config)
    assert unit is not None, "base has the unit"
    area = measure_area(config, mapper, silent)
    lean = measure_area(config.with_values({unit: False}), mapper, silent)
    document = area_document(AreaReport(_PRESET, area, mapper, unit, lean))
    settings = {"preset": _PRESET, **document["tools"]}
    return tuple(
        evidence.value("area", name, 100 * document[unit][key], "arithmetic", settings=settings)
        for name, key in _KEYS.items()
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
            "Cells of sky130 and memories at six transistors a bit, against a placed design with "
            "its SRAM in ASAP7: a share beside a share, of another way to count.",
        ),
        missing=missing,
    )


STUDIES: Final = (Study(id="area", jobs=lambda _scope: (), make=_make),)
