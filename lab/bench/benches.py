"""The table of benchmarks: how each is measured, and shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.table import Table

from celosia.lab.accuracy.cost import (
    TABLE,
    CostSet,
    cost_line,
    run_operators,
    run_random,
)
from celosia.lab.bench import tables
from celosia.lab.bench.advice import run_advice
from celosia.lab.bench.cases import DECODERS, ENCODERS, PEERS, PRODUCTS
from celosia.lab.bench.line import BenchCase, Cases, Lines, Part, run_cases
from celosia.lab.bench.silicon import SILICON, Sweep, run_silicon
from celosia.lab.bench.speed import array_loop, measure_speed
from celosia.lab.bench.trace import run_traces
from celosia.lab.bench.weights import run_weights
from celosia.lab.compilers.nonlinear import run_nonlinear
from celosia.lab.compilers.passes import run_passes_bench
from celosia.lab.compilers.table import run_compilers
from celosia.lab.compilers.workload import ModelFiles
from celosia.lab.tune.race.race import run_race
from celosia.sim.support.extras import check_extra
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.toolchain import find_compiler
from celosia.sw.driver.device import Issue

__all__ = ["BENCHES", "COMPILERS", "NONLINEAR", "PASSES", "Asked", "Benchmark"]

NONLINEAR: Final = "nonlinear"
"""The benchmark with an option of its own, `--seq`."""
PASSES: Final = "passes"
"""The benchmark that predicts models, also of a user's own, and may simulate them."""
COMPILERS: Final = "compilers"
"""The other one with models of a user's own."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line says, and what was measured before."""

    issue: Issue = "stream"
    """How commands of products, encoders and decoders come."""
    seq: int | None = None
    """Tokens of `nonlinear`; None: those of the survey."""
    sweep: Sweep = field(default_factory=Sweep)
    """The lanes and scale bits of `silicon`."""
    models: ModelFiles = field(default_factory=ModelFiles)
    """The models of `passes` and `compilers`."""
    measured: Mapping[str, Part] = field(default_factory=dict)
    """The parts of benchmarks that ran before, by their names."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark."""

    run: Callable[[Asked, Progress], Part]
    show: Callable[[Any], Iterable[Table]]
    """The tables of what `run` has left."""
    on_request: bool = True
    """It only runs when it is asked for."""
    ready: Callable[[], object] = lambda: None
    """Raises what would stop it, at once and not after minutes."""


def _of_cases(cases: Sequence[BenchCase], title: str, caption: str = "") -> Benchmark:
    return Benchmark(
        run=lambda asked, tell: run_cases(cases, tell, asked.issue),
        show=lambda part: [tables.cases_table(part.lines, title, caption)],
        on_request=False,
    )


def _cost(asked: Asked, tell: Progress) -> Lines[CostSet]:
    """The errors over the tables, measured if they were not, and over work of its own."""
    cases = [
        asked.measured.get(name) or run_cases(cases, tell)
        for name, cases in (("products", PRODUCTS), ("encoders", ENCODERS))
    ]
    lines = tuple(
        cost_line(line.case.name, line.report.total)
        for each in cases
        if isinstance(each, Cases)
        for line in each.lines
    )
    known = CostSet("the tables of products and encoders", TABLE, lines)
    return Lines((known, run_random(tell), run_operators(tell)))


BENCHES: Final[Mapping[str, Benchmark]] = {
    "products": _of_cases(PRODUCTS, "Products"),
    "encoders": _of_cases(ENCODERS, "Attention, layers and encoders"),
    "decoders": _of_cases(
        DECODERS,
        "Steps of decoders",
        "memory: weights, keys and values over its rate; array: products of tiles that somebody "
        f"sees; {PEERS}",
    ),
    "cost": Benchmark(
        run=_cost,
        show=lambda part: map(tables.cost_table, part.lines),
        on_request=False,
    ),
    NONLINEAR: Benchmark(
        run=lambda asked, tell: run_nonlinear(tell, asked.seq),
        show=lambda part: [tables.nonlinear_table(part)],
    ),
    "trace": Benchmark(
        run=lambda _, tell: run_traces(tell),
        show=lambda part: [tables.trace_table(part.lines)],
    ),
    "advice": Benchmark(
        run=lambda _, tell: run_advice(tell),
        show=lambda part: [tables.advice_table(part.lines)],
    ),
    SILICON: Benchmark(
        run=lambda asked, tell: run_silicon(tell, asked.sweep),
        show=lambda part: [tables.silicon_table(part.lines)],
    ),
    "weights": Benchmark(
        run=lambda asked, tell: run_weights(tell, asked.issue),
        show=lambda part: [tables.weights_table(part.lines)],
    ),
    COMPILERS: Benchmark(
        run=lambda asked, tell: Lines(run_compilers(tell, asked.models)),
        show=lambda part: [tables.compilers_table(part.lines)],
    ),
    PASSES: Benchmark(
        run=lambda asked, tell: Lines(run_passes_bench(tell, asked.models)),
        show=lambda part: tables.passes_tables(part.lines),
    ),
    "tuning": Benchmark(
        run=lambda _, tell: Lines(run_race(tell)),
        show=lambda part: [tables.tuning_table(part.lines)],
        ready=lambda: check_extra("optuna", "tune"),
    ),
    "speed": Benchmark(
        run=lambda _, tell: measure_speed(tell),
        show=lambda part: [tables.speed_table(part)],
        on_request=False,
        ready=lambda: array_loop(find_compiler()),
    ),
}
"""All benchmarks by their names, in the order in which they run."""
