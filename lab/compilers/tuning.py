"""AutoTVM: what a learned search gains, on the RTL, when it begins at the compiler's plan."""

from collections.abc import Sequence
from math import prod
from typing import Final

from celosia.lab.compilers.row import Row, System
from celosia.lab.compilers.workload import Workload
from celosia.lab.tune.learned import FIRST, LOOKS
from celosia.lab.tune.race.race import TUNED, Runs, tuned_cycles
from celosia.lab.tune.race.workloads import WORKLOADS, Racetrack
from celosia.lab.tune.work import Work
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.probe import product_tiles

__all__ = ["AUTOTVM", "autotvm", "autotvm_of"]

AUTOTVM: Final = System(
    system="AutoTVM",
    mechanism="plans by search, by a cost model that learns from runs: celosia tune",
    claim="1.2 to 3.8 x end to end over vendors' libraries",
    source="Chen et al., NeurIPS 2018",
)

_OF_A_MODEL: Final = 5
"""Runs of a search for a model's plan."""
_FOLLOWED: Final = 100_000
"""Products of tiles in all programs that are predicted for it, about: a few minutes of a core."""


def autotvm(
    tell: Progress,
    tracks: Sequence[Racetrack] = WORKLOADS,
    trials: int = TUNED,
    what: str = "the five workloads of bench tuning",
    looks: int = LOOKS,
) -> Row:
    """The compiler's plan and the best of a few runs, for each workload of `bench tuning`."""
    cycles, gains = dict[str, int](), list[float]()
    for done, track in enumerate(tracks):
        tell(f"{track.name}: {trials} runs", done / len(tracks))
        before, after = Runs(track).own_cycles, tuned_cycles(track, trials, looks)
        cycles |= {f"{track.name}, the compiler's plan": before, f"{track.name}, tuned": after}
        gains.append(before / after)
    return Row(
        about=AUTOTVM,
        work=f"{what}, {trials} runs each from the compiler's plan; geometric mean",
        gain=prod(gains) ** (1 / len(gains)),
        cycles=cycles,
    )


def autotvm_of(tell: Progress, workload: Workload, trials: int = _OF_A_MODEL) -> Row:
    """As `autotvm`, of the graph with the most products: the larger it is, the less is tried."""
    case = max(workload.cases, key=lambda case: case.graph.macs)
    name = f"{workload.name}, {case.graph.name}"
    track = Racetrack(name, lambda: Work(case.graph, case), 0, timing=workload.timing)
    turns = FIRST + trials - 1
    programs = _FOLLOWED // max(1, product_tiles(case.graph, track.config))
    looks = min(LOOKS, max(1, programs // turns))
    what = f"{workload.name}, its graph with the most products, up to {turns * looks} predictions"
    return autotvm(tell, [track], trials, what, looks)
