"""The random mappings of one operator, as a task."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.lab.mappings.measured import MOST_CYCLES, measure_picks
from celosia.lab.mappings.sample import COLUMNS, Drawn, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.lab.mappings.statistics import spread_of, spread_picks
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import silent
from celosia.sim.support.version import source_version
from celosia.sim.verilator.build import rtl_key
from celosia.sim.workloads.details import Matmul

__all__ = ["MappingJob", "MappingRun"]

_CYCLES_PER_PLAN = 1000
"""Cycles that the RTL is simulated for while one plan is drawn and followed, roughly."""


@dataclass(frozen=True, kw_only=True)
class MappingJob:
    """Mappings to draw of a product on `base`, and how many of them to run on the RTL."""

    shape: str
    sampler: Sampler
    count: int
    picks: int
    """Plans that run on the RTL, spread evenly over all by cycles x bytes."""
    exhaust: bool
    """Find the best of all plans as well."""

    @cached_property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return resolve_config("base", ())

    @cached_property
    def netlist(self) -> str:
        """The hash of all that the netlist is made from."""
        return rtl_key(self.config)

    @property
    def key(self) -> str:
        """Names the job, the RTL and the sources that draw and predict."""
        return digest([repr(self), self.netlist, source_version()])

    @property
    def array_cycles(self) -> int:
        """How long it takes, in cycles that the RTL is simulated for."""
        m, n, k = map(int, self.shape.split("x"))
        every = self._combinations // 2 if self.exhaust else 0
        ideal = m * n * k // self.config.macs_per_cycle
        return (self.count + every) * _CYCLES_PER_PLAN + 2 * self.picks * ideal

    @cached_property
    def _combinations(self) -> int:
        return self._request(self.sampler).space.size

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again."""
        return {
            "workload": "matmul",
            "shape": self.shape,
            "sampler": self.sampler.value,
            "count": self.count,
            "preset": "base",
        }

    def run(self) -> "MappingRun":
        """Draw, follow and run them."""
        request = self._request(self.sampler)
        drawn = _drawn(request)
        spread = {
            name: asdict(spread_of(values))
            for name, values in zip(COLUMNS, drawn.values.T, strict=True)
        }
        least: dict[str, float] = {}
        if self.exhaust:
            every = _drawn(self._request(Sampler.EVERY))
            least = dict(zip(COLUMNS, every.values.min(axis=0).tolist(), strict=True))
        return MappingRun(spread, least, self._measured(request, drawn) if self.picks else {})

    def kept(self, document: Mapping[str, Any]) -> "MappingRun":
        """The inverse of a run's document.  Raises `TypeError` for other keys."""
        return MappingRun(**document)

    def _request(self, sampler: Sampler) -> Request:
        options = RunOptions(workload="matmul", details=Matmul(shape=self.shape))
        request = Request(options=options, config=self.config, sampler=sampler, count=self.count)
        if sampler is Sampler.EVERY:
            request = replace(request, count=request.space.size)
        return request

    def _measured(self, request: Request, drawn: Drawn) -> dict[str, float]:
        product = drawn.values[:, COLUMNS.index("cycles x bytes")]
        picks = spread_picks(product, self.picks, drawn.values[:, 0] <= MOST_CYCLES)
        measured = measure_picks(request, drawn, picks, silent)
        return {
            f"mean error of {len(picks)} predictions, percent": 100 * measured.mean_error,
            "rank correlation": measured.order(),
            "rank correlation up to twice the best": measured.order(2),
            "cycles of the best that was run": min(measured.cycles),
            "cycles of the worst that was run": max(measured.cycles),
        }


@dataclass(frozen=True)
class MappingRun:
    """What the mappings of an operator have shown."""

    spread: Mapping[str, Mapping[str, float]]
    """By the names of columns."""
    least: Mapping[str, float]
    """The least of all plans that there are."""
    rtl: Mapping[str, float]

    def document(self) -> dict[str, Any]:
        """The run as an object for JSON."""
        return asdict(self)


def _drawn(request: Request) -> Drawn:
    return joined({batch.first: draw_batch(batch) for batch in request.batches()})
