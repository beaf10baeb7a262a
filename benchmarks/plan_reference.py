"""How far the compiler's plans of products are from the best that are known.

``python benchmarks/plan_reference.py [FILE [SECONDS]]`` appends a line of JSON to
a file of its own name, or to FILE, for each of `CASES` that is not in it.  For shapes
of `EVERY`, on preset `base`, all plans of `celosia.lab.tune.spaces.plan_space` are followed by the
timeline, of more than 40,000 so many drawn ones; for those of `SEARCHED`, on `base` and on `tiny`,
1,000 drawn ones, and 500 of TPE.  The ten of each that are expected to be fastest run on the RTL,
with all results compared, and so does the compiler's plan.

Cases that are expected to take over SECONDS, 60 by default, are left for another time: of each, the
first plans that are drawn tell how long one takes.  At the end stands a table of all lines, and the
time that is left.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random
from statistics import mean
from time import process_time
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench.kept import KeptCase, Line, show_kept
from celosia.lab.mappings.samplers import Sampler, draws
from celosia.lab.tune.samplers import StudySampler
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.lab.tune.trial import Found
from celosia.lab.tune.work import Work, work_of
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.workloads.details import Matmul
from celosia.sw.compiler.descent import PlanCosts
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError

TIMING: Final = MemoryTiming()
MOST: Final = 40_000
"""Plans of a shape of `EVERY` that are followed."""
DRAWN: Final = 1_000
TPE: Final = 500
RUNS: Final = 10
"""Plans of each way to find them that run on the RTL."""
_TIMED: Final = 10
"""Plans that tell how long one takes to follow."""

EVERY: Final = (
    *("16x16x16", "16x64x64", "64x16x64", "64x64x16", "20x40x72", "33x100x70", "48x48x48"),
    *("64x64x64", "49x64x96", "1x256x256", "16x128x128", "128x16x128", "128x128x16"),
    *("80x48x112", "96x96x32", "100x30x100", "16x256x256", "128x64x64", "64x128x64", "128x128x64"),
)
"""M, N and K."""
SEARCHED: Final = (
    *("7x50x20", "8x8x128", "10x30x50", "12x96x24", "15x17x19", "16x40x80", "17x33x65", "20x20x20"),
    *("24x40x64", "25x75x50", "30x60x30", "32x32x32", "32x64x16", "36x24x60", "40x40x40"),
    *("40x72x20", "48x64x96", "50x50x50", "56x28x84", "60x20x100", "64x32x48", "64x48x32"),
    *("70x33x100", "72x20x40", "80x80x16", "90x45x60", "96x16x96", "100x10x100", "112x48x80"),
    *("120x40x40",),
)
"""Thirty shapes, none of which is in `EVERY`, on two presets."""


@dataclass(frozen=True, kw_only=True)
class ReferenceCase(KeptCase):
    """A product on a preset, and whether all of its plans are followed."""

    shape: str
    preset: str
    every: bool

    @property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return PRESETS[self.preset]

    @cached_property
    def work(self) -> Work:
        """The product, with operands."""
        target = Target(preset=self.preset, timing=TIMING)
        return work_of(
            RunOptions(workload="matmul", details=Matmul(shape=self.shape), target=target)
        )

    @cached_property
    def space(self) -> PlanSpace:
        """The plans."""
        return PlanSpace(only_product(self.work.graph), self.work.graph, self.config)

    @property
    def plans(self) -> int:
        """How many are tried."""
        return min(MOST, self.space.size) if self.every else DRAWN + TPE

    @property
    def effort(self) -> float:
        """Seconds of a core that it is expected to take to follow all plans that are tried."""
        return self._seconds

    @cached_property
    def _seconds(self) -> float:
        begin, cost = process_time(), self._cost()
        for _, plan in islice(self._drawn(), _TIMED):
            cost(plan)
        return (process_time() - begin) / _TIMED * self.plans

    def measured(self) -> dict[str, Any]:
        """The compiler's plan and the best ones that were found, by the timeline and on the RTL."""
        begin, cost, best = process_time(), self._cost(), dict[str, Any]()
        ways = {"every": self._every} if self.every else {"drawn": self._random, "tpe": self._tpe}
        own = find_plan(self.work.graph, self.config, TIMING)
        compiler = {"predicted": cost(own), "cycles": self._cycles(own)}
        legal = {name: way(cost) for name, way in ways.items()}
        for name, found in legal.items():
            alone = {_decisions(plan): (n, plan) for n, plan in found}
            fast = sorted(alone.values(), key=lambda each: each[0])[:RUNS]
            runs = [{"predicted": n, "cycles": self._cycles(plan)} for n, plan in fast]
            best[name] = {"legal": len(alone), "runs": runs}
        return {
            "plans": self.space.size,
            "seconds": round(process_time() - begin),
            "compiler": compiler,
            "best": best,
        }

    def _cost(self) -> PlanCosts:
        return PlanCosts(self.work.graph, self.config, TIMING, MOST)

    def _drawn(self) -> Iterator[tuple[object, Plan]]:
        return draws(self.space, Sampler.UNIFORM, Random(0))

    def _random(self, cost: PlanCosts) -> list[tuple[int, Plan]]:
        return list(_legal(cost, (plan for _, plan in islice(self._drawn(), DRAWN))))

    def _every(self, cost: PlanCosts) -> list[tuple[int, Plan]]:
        if self.space.size > MOST:
            return list(_legal(cost, (plan for _, plan in islice(self._drawn(), MOST))))
        return list(_legal(cost, self._all()))

    def _all(self) -> Iterator[Plan]:
        for chosen in self.space.all():
            with suppress(PlanError):
                yield self.space.plan(chosen)

    def _tpe(self, cost: PlanCosts) -> list[tuple[int, Plan]]:
        sampler, found = StudySampler("tpe", self.space.choices, 0), list[tuple[int, Plan]]()
        for number in range(TPE):
            chosen, cycles = sampler.ask(number), None
            with suppress(PlanError):
                for cycles, plan in _legal(cost, [self.space.plan(chosen)]):
                    found.append((cycles, plan))
            sampler.tell(chosen, Found(cycles))
        return found

    def _cycles(self, plan: Plan) -> int:
        """The cycles on the RTL.  Raises `ValueError` if a result is wrong."""
        found = self.work.measured(plan, self.config, TIMING)
        if not found.right or found.cycles is None:
            raise ValueError(f"{self}: {found.failure or found.mismatches}")
        return found.cycles


def _decisions(plan: Plan) -> Hashable:
    """What plans differ in: combinations of choices may come to the same."""
    return plan.stages, *(ring.spans for ring in plan.rings.values())


def _legal(cost: PlanCosts, plans: Iterable[Plan]) -> Iterator[tuple[int, Plan]]:
    """The legal ones of `plans`, each behind the cycles that it is expected to take."""
    for plan in plans:
        if (cycles := cost(plan)) is not None:
            yield cycles, plan


CASES: Final = (
    *(ReferenceCase(shape=shape, preset="base", every=True) for shape in EVERY),
    *(
        ReferenceCase(shape=shape, preset=preset, every=False)
        for preset in ("base", "tiny")
        for shape in SEARCHED
    ),
)


def ratio(line: Line) -> float:
    """The cycles of the compiler's plan over the fewest that are known, on the RTL."""
    own = line["compiler"]["cycles"]
    runs = (run["cycles"] for found in line["best"].values() for run in found["runs"])
    return own / min(own, *runs)


def row(line: Line) -> str:
    """The compiler's plan of a case, over the best of each way that plans were found in."""
    known = ", ".join(
        f"{name} {min(run['cycles'] for run in found['runs']):,} of {found['legal']:,} plans"
        for name, found in line["best"].items()
    )
    own = line["compiler"]["cycles"]
    return (
        f"{line['preset']} {line['shape']:11} {own:8,} {ratio(line):6.3f}  {known}; "
        f"{line['seconds']:,} s"
    )


def table(lines: Sequence[Line]) -> Iterator[str]:
    """A row for each case, and the mean and the worst of all."""
    yield from map(row, lines)
    if lines:
        ratios = [ratio(line) for line in lines]
        yield (
            f"{len(lines)} of {len(CASES)} cases: the compiler's plan takes {mean(ratios) - 1:.2%} "
            f"more than the best known on average, {max(ratios) - 1:.2%} at most"
        )


if __name__ == "__main__":
    show_kept(__file__, CASES, row, table, 60, "seconds of a core")
