"""The sweep over lanes of the normalization unit: what each number of lanes costs and takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.bench.encoders import ENCODERS, Encoder
from celosia.sim.export.silicon.area.compared import share_of_frozen
from celosia.sim.export.silicon.area.measure import Area, lean_parameter, measure_area
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.run.report import Report
from celosia.sim.run.run import Runner, RunOptions, run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.workload_options import WorkloadOptions

__all__ = ["LANES", "SILICON", "WORKLOADS", "SiliconLine", "SiliconRun", "run_silicon"]

SILICON: Final = "silicon"
"""The name of the benchmark."""
LANES: Final = (2, 4, 8, 16)
WORKLOADS: Final = (
    *(each for each in ENCODERS if each.preset == "base" and each.timing == MemoryTiming()),
    Encoder(workload="attention", details=WorkloadOptions(heads=1, seq=2048, dim=64), bound=0.0),
)
"""What runs on each: the table of encoders at the usual memory, and a long head without a bound."""

AreaOf = Callable[[AcceleratorConfig, Progress], Area]
"""Measures the area of a configuration."""


@dataclass(frozen=True)
class SiliconRun:
    """A workload on one number of lanes."""

    encoder: Encoder
    report: Report

    @property
    def reached(self) -> float | None:
        """MAC utilization; None if the run was stopped."""
        return self.report.total.utilization(self.report.setting.config)

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.reached is not None and self.reached >= self.encoder.bound


@dataclass(frozen=True)
class SiliconLine:
    """One number of lanes."""

    lanes: int
    area: Area
    lean: Area
    """The same without the unit."""
    runs: tuple[SiliconRun, ...]

    @property
    def added_gates(self) -> float:
        """Gate equivalents of the cells that the unit adds."""
        return self.area.logic.gates - self.lean.logic.gates

    @property
    def right(self) -> bool:
        """Whether every result is right; a bound that is not kept is an answer, not an error."""
        return all(run.report.right for run in self.runs)

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        share = share_of_frozen(self.area, self.lean)
        return {
            "lanes": self.lanes,
            "logic_kge": self.area.logic.gates / 1000,
            "added_kge": self.added_gates / 1000,
            "added_with_sram": None if share is None else share.with_sram,
            "right": self.right,
            "runs": [
                {
                    "name": run.encoder.name,
                    "cycles": run.report.total.cycles,
                    "bound": run.encoder.bound,
                    "reached": run.reached,
                    "kept": run.kept,
                }
                for run in self.runs
            ],
        }


def run_silicon(
    tell: Progress,
    runner: Runner = run_workload,
    area_of: AreaOf | None = None,
    lanes: Sequence[int] = LANES,
    workloads: Sequence[Encoder] = WORKLOADS,
) -> tuple[SiliconLine, ...]:
    """Measure area and cycles of preset `base` with so many lanes, one number after the other.

    Raises `ConfigError` for lanes that do not divide ``dim``, before anything is measured, and what
    `measure_area` raises.
    """
    overrides = [f"vector_lanes={number}" for number in lanes]
    configs = [resolve_config("base", [override]) for override in overrides]
    area_of = area_of or _mapped()
    steps, lines = Steps(tell, len(lanes) * (len(workloads) + 1)), []
    for number, override, config in zip(lanes, overrides, configs, strict=True):
        unit = lean_parameter(config)
        assert unit is not None, "base has the unit"
        steps.begin(f"area with {number} lanes")
        area, lean = (area_of(each, steps) for each in (config, config.with_values({unit: False})))
        runs = []
        for workload in workloads:
            steps.begin(f"{workload.name} with {number} lanes")
            report = runner(_options(workload, override), steps).report
            runs.append(SiliconRun(workload, report))
        lines.append(SiliconLine(number, area, lean, tuple(runs)))
    return tuple(lines)


def _options(workload: Encoder, override: str) -> RunOptions:
    return RunOptions(
        workload=workload.workload,
        preset=workload.preset,
        overrides=(override,),
        timing=workload.timing,
        details=workload.details,
    )


def _mapped() -> AreaOf:
    """By Yosys and the cells of sky130; modules that were mapped before are not mapped again."""
    mapper = Mapper(find_yosys(None), choose_library("sky130"), 1)
    return lambda config, tell: measure_area(config, mapper, tell)
