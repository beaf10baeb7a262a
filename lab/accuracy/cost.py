"""The benchmark of the cost model: what it predicts beside what the RTL takes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

from celosia.isa.documents.record import Count, Inline, Key, Named, Rule
from celosia.lab.accuracy.cost_cases import CostCase, operator_cases, random_cases
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.run.report import Measurement
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sw.compiler.verified import compile_graph

__all__ = [
    "OPERATORS",
    "RANDOM",
    "TABLE",
    "CostLine",
    "CostSet",
    "ErrorBounds",
    "cost_line",
    "measure_case",
    "run_operators",
    "run_random",
]

_COUNT: Final = 40
_FIRST: Final = 1000
"""Seeds of random cases: the model was fitted on smaller ones."""


@dataclass(frozen=True)
class ErrorBounds:
    """How far predictions may be from measurements, as shares of these."""

    mean: Annotated[float, Named("mean_bound"), Rule(minimum=0)]
    """The most of the mean."""
    worst: Annotated[float, Named("worst_bound"), Rule(minimum=0)]
    """The most of the largest."""


TABLE: Final = ErrorBounds(0.02, 0.05)
RANDOM: Final = ErrorBounds(0.03, 0.10)
OPERATORS: Final = ErrorBounds(0.02, 0.10)


@dataclass(frozen=True)
class CostLine:
    """One piece of work."""

    name: str
    """The work."""
    predicted: Annotated[Count | None, Named("predicted_cycles")]
    """What the cost model expects."""
    measured: Annotated[Count | None, Named("cycles")]
    """What the RTL takes."""
    right: bool
    """Whether the results of the work are right."""

    @Key
    def error(self) -> float | None:
        """What is predicted too much, as a share of `cycles`."""
        if self.predicted is None or not self.measured:
            return None
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class CostSet:
    """Pieces of work that are judged together."""

    name: str
    """The set."""
    bounds: Inline[ErrorBounds]
    lines: tuple[CostLine, ...]
    """Its work."""

    @Key
    def mean(self) -> Annotated[float | None, Named("mean_error")]:
        """The mean size of the errors; null if one is not known."""
        sizes = self._sizes()
        return sum(sizes) / len(sizes) if sizes else None

    @Key
    def worst(self) -> Annotated[float | None, Named("worst_error")]:
        """The largest of the errors' sizes."""
        return max(self._sizes(), default=None)

    @Key
    def right(self) -> bool:
        """All results are right, and the errors within their bounds."""
        mean, worst = self.mean, self.worst
        if mean is None or worst is None or not all(line.right for line in self.lines):
            return False
        return mean <= self.bounds.mean and worst <= self.bounds.worst

    def _sizes(self) -> list[float]:
        errors = [line.error for line in self.lines]
        known = [abs(error) for error in errors if error is not None]
        return known if len(known) == len(errors) else []


def cost_line(name: str, measured: Measurement) -> CostLine:
    """What a run has shown of its prediction."""
    return CostLine(name, measured.predicted_cycles, measured.cycles, measured.right)


def measure_case(case: CostCase, tell: Progress, simulator: str = "verilator") -> Measurement:
    """Run one case, and compare its results."""
    config, timing = case.config, case.timing
    if (problem := case.product) is not None:
        operator = Operator("matmul", random_operands(problem, timing.seed))
        size = device_bytes([operator])
        with closing(open_device(simulator, config, timing, size, tell)) as device:
            return checked_product(device, operator, timing)[0]
    work = case.graph()
    compiled = compile_graph(work.graph, config)
    opened = partial(open_device, simulator, config, timing, progress=tell)
    return measure_compiled(case.kind, compiled, work, opened, timing).whole


Measure = Callable[[CostCase, Progress], Measurement]
"""`measure_case`, or what takes its place in a test."""


def run_random(
    tell: Progress,
    measure: Measure = measure_case,
    cases: Sequence[CostCase] | None = None,
) -> CostSet:
    """Measure the random cases, one after the other."""
    cases = random_cases(_COUNT, _FIRST) if cases is None else cases
    name = "random work, which the model was not fitted to"
    return CostSet(name, RANDOM, _lines(tell, measure, cases))


def run_operators(
    tell: Progress,
    measure: Measure = measure_case,
    cases: Sequence[CostCase] | None = None,
) -> CostSet:
    """Measure single operators, one after the other."""
    cases = operator_cases() if cases is None else cases
    name = "single operators, with results of each type"
    return CostSet(name, OPERATORS, _lines(tell, measure, cases))


def _lines(tell: Progress, measure: Measure, cases: Sequence[CostCase]) -> tuple[CostLine, ...]:
    steps = Steps(tell, len(cases))
    lines = []
    for case in cases:
        steps.begin(case.name)
        lines.append(cost_line(case.name, measure(case, steps)))
    return tuple(lines)
