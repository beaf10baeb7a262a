"""AutoTVM: the plan of a product by search, by the timeline, and then on the RTL."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from celosia.sim.bench.compilers.row import Row, System
from celosia.sim.bench.sweep.words import options_of
from celosia.sim.bench.tune.search import SearchPlan, search
from celosia.sim.bench.tune.trial import Trial, product_of, space_of, try_plan
from celosia.sim.run.tuning_log import DEFAULT, open_log, tuning_key
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import lanes_of

__all__ = ["AUTOTVM", "autotvm"]

AUTOTVM: Final = System(
    system="AutoTVM",
    mechanism="plans of a product by search, with a log that compilation picks up",
    claim="1.2 to 3.8 x end to end over vendors' libraries, by a learned cost model",
    source="Chen et al., NeurIPS 2018",
)
WORDS: Final = ("matmul", "--shape", "20x40x72", "--preset", "tiny")
TRIALS: Final = 200


def autotvm(tell: Progress) -> Row:
    """The compiler's plan and the best of random trials by the model, both on the RTL."""
    options, config = options_of(WORDS)
    space = space_of(product_of(options), config)
    first = Trial(options=options, config=config, oracle="model", strategy=DEFAULT, number=0)
    plan = SearchPlan(space=space, first=first, strategy="random", trials=TRIALS, seed=0)
    key = tuning_key(space.graph, config, options.timing)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_log(Path(folder) / "log", key, "model", space) as log,
        lanes_of("local:1") as lanes,
    ):
        search(plan, log, lanes, tell)
        best = min(
            (entry for entry in log.entries if "cycles" in entry), key=lambda each: each["cycles"]
        )
    tell("the best plan on the RTL", None)
    rtl = replace(first, oracle="rtl")
    cycles = {"the compiler's plan": try_plan(rtl).cycles or 0}
    tuned = replace(rtl, strategy=best["strategy"], chosen=best["chosen"])
    cycles["the best of the trials"] = try_plan(tuned).cycles or 0
    return Row(
        about=AUTOTVM,
        work=f"{' '.join(WORDS)}: {TRIALS} random plans of {space.size:,} by the model",
        gain=cycles["the compiler's plan"] / cycles["the best of the trials"],
        cycles=cycles,
    )
