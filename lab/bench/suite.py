"""The benchmarks: what must be reached, and what is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from celosia.isa.config import did_you_mean
from celosia.isa.memory import MemoryTiming
from celosia.lab.accuracy.cost import TABLE, CostSet, cost_line, run_operators, run_random
from celosia.lab.bench.advice import ADVICE, AdviceLine, kept, run_advice
from celosia.lab.bench.baseline import Key, load_baseline, regressed
from celosia.lab.bench.decoders import DECODERS, DecoderLine, run_decoders
from celosia.lab.bench.encoders import EncoderLine, run_encoders
from celosia.lab.bench.silicon import SILICON, SiliconLine, Sweep, run_silicon
from celosia.lab.bench.speed import Speed, array_loop, measure_speed
from celosia.lab.bench.trace import TRACE, TraceLine, run_traces
from celosia.lab.compilers.nonlinear import Nonlinear, run_nonlinear
from celosia.lab.compilers.row import Row
from celosia.lab.compilers.table import COMPILERS, run_compilers
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Report, commit, versions
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.toolchain import find_compiler
from celosia.sim.workloads.details import Matmul, ProductForm
from celosia.sw.driver.device import Issue

__all__ = [
    "BENCHMARKS",
    "BENCH_SCHEMA",
    "NONLINEAR",
    "ON_REQUEST",
    "PRODUCTS",
    "Bench",
    "Product",
    "ProductLine",
    "baseline_path",
    "run_bench",
    "run_products",
]

BENCH_SCHEMA: Final = "celosia.bench/2"

BENCHMARKS: Final = ("products", "encoders", DECODERS, "cost", "speed")

NONLINEAR: Final = "nonlinear"
"""A benchmark that only runs when it is asked for: it compares, and bounds nothing."""

ON_REQUEST: Final = (NONLINEAR, TRACE, ADVICE, SILICON, COMPILERS)
"""Benchmarks that only run when they are asked for."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """A matrix product, and what must be reached on preset `base`."""

    shape: str
    bound: float
    """The least MAC utilization; or with `least_cycles`, the least share of that limit."""
    transpose_b: bool = False
    latency: int = 40
    gemmini: float | None = None
    """What Gemmini's RTL reaches on the same memory model, in the unit of `bound`."""
    least_cycles: int | None = None
    """The least cycles of a product that memory bounds: its bytes over the bandwidth."""

    @property
    def name(self) -> str:
        """The product in words, for people."""
        notes = (" B^T" if self.transpose_b else "", f" latency {self.latency}")
        return self.shape + notes[0] + (notes[1] if self.latency != MemoryTiming.latency else "")

    def options(self, issue: Issue = "stream") -> RunOptions:
        """The options of the run that measures the product."""
        return RunOptions(
            workload="matmul",
            details=Matmul(shape=self.shape, form=ProductForm(transpose_b=self.transpose_b)),
            target=Target(
                preset="base",
                timing=MemoryTiming(latency=self.latency, bytes_per_cycle=16),
                issue=issue,
            ),
        )


PRODUCTS: Final = (
    Product(shape="64x64x64", bound=0.70, gemmini=0.489),
    Product(shape="128x128x128", bound=0.95, gemmini=0.863),
    Product(shape="512x768x768", bound=0.997, gemmini=0.994),
    Product(shape="128x128x64", bound=0.88, gemmini=0.666, transpose_b=True),
    Product(shape="128x64x128", bound=0.88, gemmini=0.623),
    Product(shape="512x512x64", bound=0.98, gemmini=0.781, transpose_b=True),
    Product(shape="512x64x512", bound=0.98, gemmini=0.903),
    Product(shape="128x768x768", bound=0.99, gemmini=0.980),
    Product(shape="128x3072x768", bound=0.99),
    Product(shape="128x768x3072", bound=0.99),
    Product(shape="512x768x768", bound=0.99, gemmini=0.894, latency=100),
    Product(shape="1x768x768", bound=0.90, gemmini=0.63, least_cycles=36_864),
)
"""The performance table; Gemmini's figures were measured on its generated RTL."""


@dataclass(frozen=True)
class ProductLine:
    """A product and its run."""

    product: Product
    report: Report

    @property
    def reached(self) -> float | None:
        """What `Product.bound` bounds; None if the run was stopped."""
        total = self.report.total
        if self.least_cycles is None or not total.cycles:
            return total.utilization(self.report.setting.config)
        return self.least_cycles / total.cycles

    @property
    def limit(self) -> float | None:
        """What is possible, in the same unit."""
        total = self.report.total
        if self.least_cycles is None or total.limit is None:
            return total.limit_utilization(self.report.setting.config)
        more = self._command_cycles
        return self.least_cycles / (total.limit.cycles + more)

    @property
    def least_cycles(self) -> float | None:
        """`Product.least_cycles`; a ring's commands share the bandwidth."""
        least = self.product.least_cycles
        return None if least is None else least + self._command_cycles

    @property
    def _command_cycles(self) -> float:
        setting = self.report.setting
        if setting.issue != "ring":
            return 0
        return (self.report.total.program_bytes or 0) / setting.timing.bytes_per_cycle

    @property
    def right(self) -> bool:
        """Every element is right, and the bound is kept."""
        return self.report.right and self.reached is not None and self.reached >= self.product.bound

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "bound": self.product.bound,
            "reached": self.reached,
            "limit": self.limit,
            "gemmini": self.product.gemmini,
            "right": self.right,
            "run": self.report.document(),
        }


def run_products(
    tell: Progress,
    runner: Runner = run_workload,
    products: Sequence[Product] = PRODUCTS,
    issue: Issue = "stream",
) -> tuple[ProductLine, ...]:
    """Measure `products`, one after the other."""
    steps = Steps(tell, len(products))
    lines = []
    for product in products:
        steps.begin(product.name)
        lines.append(ProductLine(product, runner(product.options(issue), steps).report))
    return tuple(lines)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What was measured; None: not asked for."""

    products: tuple[ProductLine, ...] | None = None
    encoders: tuple[EncoderLine, ...] | None = None
    decoders: tuple[DecoderLine, ...] | None = None
    cost: tuple[CostSet, ...] | None = None
    nonlinear: Nonlinear | None = None
    trace: tuple[TraceLine, ...] | None = None
    advice: tuple[AdviceLine, ...] | None = None
    compilers: tuple[Row, ...] | None = None
    silicon: tuple[SiliconLine, ...] | None = None
    baseline: Mapping[Key, int] = field(default_factory=dict)
    """Cycles of the committed baseline, by their keys."""
    speed: Speed | None = None
    command_line: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """No result is wrong, no number below its bound, and none worse than the baseline."""
        lines = (*(self.products or ()), *(self.encoders or ()), *(self.decoders or ()))
        right = all(line.right for line in lines) and not any(self.regressions)
        right = right and all(each.right for each in self.cost or ())
        right = right and (self.nonlinear is None or self.nonlinear.right)
        right = right and all(line.right for line in (*(self.trace or ()), *(self.silicon or ())))
        right = right and (self.advice is None or kept(self.advice))
        right = right and all(row.right for row in self.compilers or ())
        return right and (self.speed is None or self.speed.right)

    @property
    def cycles(self) -> Iterator[tuple[Key, int]]:
        """What was measured, for a baseline."""
        for product in self.products or ():
            yield from _cycles(f"matmul {product.product.name}", product.report)
        for encoder in self.encoders or ():
            yield from _cycles(encoder.encoder.name, encoder.report)
        for decoder in self.decoders or ():
            yield from _cycles(decoder.decoder.name, decoder.report)

    @property
    def regressions(self) -> Iterator[str]:
        """What takes longer than the baseline allows, in words."""
        for key, cycles in self.cycles:
            known = self.baseline.get(key)
            if known is not None and regressed(cycles, known):
                name, issue = key
                yield f"{name} ({issue}): {cycles:,} cycles, {known:,} in the baseline"

    def document(self) -> dict[str, Any]:
        """The whole benchmark as an object for JSON."""
        products = self.products
        return {
            "schema": BENCH_SCHEMA,
            "right": self.right,
            "products": None if products is None else [line.document() for line in products],
            "encoders": None
            if self.encoders is None
            else [line.document() for line in self.encoders],
            "decoders": None
            if self.decoders is None
            else [line.document() for line in self.decoders],
            "cost": None if self.cost is None else [each.document() for each in self.cost],
            "nonlinear": self.nonlinear.document() if self.nonlinear else None,
            "trace": None if self.trace is None else [line.document() for line in self.trace],
            "advice": None if self.advice is None else [line.document() for line in self.advice],
            "rows": None if self.compilers is None else [row.document() for row in self.compilers],
            "silicon": None if self.silicon is None else [each.document() for each in self.silicon],
            "regressions": list(self.regressions),
            "speed": self.speed.document() if self.speed else None,
            "versions": versions(),
            "commit": commit(),
            "command_line": list(self.command_line),
        }


def _cycles(name: str, report: Report) -> Iterator[tuple[Key, int]]:
    if report.right and report.total.cycles is not None:
        yield (name, report.setting.issue), report.total.cycles


def baseline_path() -> Path:
    """The committed baseline.  Raises `InputError` outside of a checkout."""
    return checkout_root() / "benchmarks" / "baseline.jsonl"


def _check_name(name: str) -> None:
    """Raise `InputError` if there is no benchmark of this name."""
    known = (*BENCHMARKS, *ON_REQUEST)
    if name not in known:
        near = did_you_mean(name, known)
        raise InputError(f"there is no benchmark {name!r}; there are {', '.join(known)}{near}")


def run_bench(
    names: Sequence[str],
    tell: Progress,
    command_line: Sequence[str] = (),
    issue: Issue = "stream",
    seq: int | None = None,
    sweep: Sweep | None = None,
) -> Bench:
    """Measure the benchmarks called `names`.  Raises `InputError` for a name that is none.

    `issue` is for products, encoders and decoders, `seq` for nonlinear ones, `sweep` for silicon.
    """
    for name in names:
        _check_name(name)
    if issue == "ring":
        if list(names) == ["cost"]:
            raise InputError("bench cost: predictions are for commands that stream")
        names = [name for name in names if name != "cost"]
    if "speed" in names:
        array_loop(find_compiler())  # What is missing is said at once, not after minutes.
    products = run_products(tell, issue=issue) if "products" in names else None
    encoders = run_encoders(tell, issue=issue) if "encoders" in names else None
    return Bench(
        products=products,
        encoders=encoders,
        decoders=run_decoders(tell, issue=issue) if DECODERS in names else None,
        nonlinear=run_nonlinear(tell, seq) if NONLINEAR in names else None,
        trace=run_traces(tell) if TRACE in names else None,
        advice=run_advice(tell) if ADVICE in names else None,
        compilers=run_compilers(tell) if COMPILERS in names else None,
        silicon=run_silicon(tell, sweep or Sweep()) if SILICON in names else None,
        cost=_run_cost(tell, products, encoders) if "cost" in names else None,
        baseline=load_baseline(baseline_path()),
        speed=measure_speed(tell) if "speed" in names else None,
        command_line=tuple(command_line),
    )


def _run_cost(
    tell: Progress,
    products: Sequence[ProductLine] | None,
    encoders: Sequence[EncoderLine] | None,
) -> tuple[CostSet, ...]:
    """The errors over the tables, measured if they were not, and over work of its own."""
    lines = [
        *(
            cost_line(line.product.name, line.report.total)
            for line in products or run_products(tell)
        ),
        *(
            cost_line(line.encoder.name, line.report.total)
            for line in encoders or run_encoders(tell)
        ),
    ]
    tables = CostSet("the tables of products and encoders", TABLE, tuple(lines))
    return tables, run_random(tell), run_operators(tell)
