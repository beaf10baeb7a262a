"""AutoTVM: what a learned search gains, on the RTL, when it begins at the compiler's plan."""

from collections.abc import Sequence
from math import prod
from typing import Final

from celosia.lab.compilers.row import Row, System
from celosia.lab.tune.race.race import TUNED, Runs, tuned_cycles
from celosia.lab.tune.race.workloads import WORKLOADS, Racetrack
from celosia.sim.support.progress import Progress

__all__ = ["AUTOTVM", "autotvm"]

AUTOTVM: Final = System(
    system="AutoTVM",
    mechanism="plans by search, by a cost model that learns from runs: celosia tune",
    claim="1.2 to 3.8 x end to end over vendors' libraries",
    source="Chen et al., NeurIPS 2018",
)


def autotvm(tell: Progress, tracks: Sequence[Racetrack] = WORKLOADS, trials: int = TUNED) -> Row:
    """The compiler's plan and the best of a few runs, for each workload of `bench tuning`."""
    cycles, gains = dict[str, int](), list[float]()
    for done, track in enumerate(tracks):
        tell(f"{track.name}: {trials} runs", done / len(tracks))
        before, after = Runs(track).own_cycles, tuned_cycles(track, trials)
        cycles |= {f"{track.name}, the compiler's plan": before, f"{track.name}, tuned": after}
        gains.append(before / after)
    return Row(
        about=AUTOTVM,
        work=f"the {len(tracks)} workloads of bench tuning, {trials} runs each from the compiler's "
        "plan; geometric mean",
        gain=prod(gains) ** (1 / len(gains)),
        cycles=cycles,
    )
