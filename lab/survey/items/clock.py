"""Time: cycles, and what one takes with the cells of a public library."""

from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.survey.parts.values import Evidence, Item, Study, Value
from celosia.sim.command.hardware.standard import predict_standard
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.export.silicon.timing.measure import Measured, design_text, known_units, measure
from celosia.sim.export.silicon.timing.scripts import SCRIPTS
from celosia.sim.export.silicon.timing.sta import find_sta
from celosia.sim.export.silicon.timing.times import Workload, time_us, us_for_the_clock
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent

__all__ = ["STUDIES"]

_PRESET: Final = "base"
_CELLS: Final = "osu018"


def _measured() -> tuple[list[Measured], list[Workload], dict[str, str]]:
    """What `celosia timing` says of `base`; modules that it mapped before are not mapped again."""
    config = resolve_config(_PRESET)
    yosys, sta, library = find_yosys(None), find_sta(), choose_library(_CELLS)
    design = design_text(config, known_units(()))
    found = measure((yosys, sta), library, design, list(SCRIPTS), True, 1, silent)
    settings = {"preset": _PRESET, "yosys": yosys.identity, "library": library.identity}
    return found, predict_standard(config, silent), settings


def _values(evidence: Evidence) -> list[Value]:
    measured, workloads, settings = _measured()
    values = []

    def add(name: str, ours: float | None, kind: str, unit: str, note: str) -> None:
        more = {"settings": settings, "unit": unit, "note": note}
        values.append(evidence.value("time", name, ours, kind, **more))

    for each in measured:
        note = f"the longest of all paths, with set-up; {each.script} script of ABC"
        add(f"a cycle, {each.script}", each.longest.period, "arithmetic", "ns", note)
        for work in workloads:
            name = f"{work.name}, {each.script}"
            add(name, time_us(work, each), "model", "us", f"{work.cycles:,} cycles of that length")
            note = "what a cycle is longer than a multiply-add, times cycles"
            add(f"{name}, for the clock", us_for_the_clock(work, each), "model", "us", note)
    return values


def _make(evidence: Evidence) -> Item:
    values: list[Value] = []
    missing = "--quick leaves it out: celosia timing takes minutes where it was not run before"
    if not evidence.scope.quick:
        try:
            values, missing = _values(evidence), ""
        except EnvironmentProblem as problem:
            missing = str(problem)
    return Item(
        id="time",
        title="Time: cycles, and what a cycle takes",
        where="the survey's latencies are cycles",
        values=tuple(values),
        notes=(
            "Cells of OSU018 at their typical corner, without wires and clock tree: compare, and "
            "quote no frequency. The default script of ABC makes chains of carries, prefix keeps "
            "Yosys's prefix adders.",
        ),
        missing=missing,
    )


STUDIES: Final = (Study(id="time", jobs=lambda _scope: (), make=_make),)
