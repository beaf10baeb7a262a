"""AutoTVM: the plan of a product by search, by the timeline, and then on the RTL."""

from contextlib import closing
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.product_workloads import Operator, device_bytes, matmul
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["AUTOTVM", "autotvm", "best_of_trials"]

AUTOTVM: Final = System(
    system="AutoTVM",
    mechanism="plans of a product by search: celosia tune",
    claim="1.2 to 3.8 x end to end over vendors' libraries, by a learned cost model",
    source="Chen et al., NeurIPS 2018",
)
SHAPE: Final = "20x40x72"
PRESET: Final = "tiny"
TRIALS: Final = 200


def autotvm(tell: Progress, simulator: str = "verilator") -> Row:
    """The compiler's plan and the best of random trials by the model, both on the RTL."""
    config, timing = resolve_config(PRESET), MemoryTiming()
    (operator,) = matmul(Matmul(shape=SHAPE), 0)
    graph = graph_of(operator.name, operator.operands.problem)
    space = PlanSpace(only_product(graph), graph, config)
    tell(f"{TRIALS} plans by the model", None)
    plans = {
        "the compiler's plan": find_plan(graph, config, timing),
        "the best of the trials": best_of_trials(space, timing, TRIALS),
    }
    found = {
        name: _measured(operator, plan, config, simulator, tell) for name, plan in plans.items()
    }
    before, after = (cycles for cycles, _ in found.values())
    return Row(
        about=AUTOTVM,
        work=f"matmul {SHAPE} on {PRESET}: {TRIALS} random plans of {space.size:,} by the model",
        gain=before / after if before and after else None,
        cycles={name: cycles for name, (cycles, _) in found.items()},
        right=all(right for _, right in found.values()),
    )


def best_of_trials(space: PlanSpace, timing: MemoryTiming, trials: int) -> Plan:
    """The plan of the fewest predicted cycles of random ones and the compiler's own."""
    random = np.random.default_rng(0)
    best = find_plan(space.graph, space.config, timing)
    least = predict(space.graph, space.config, best, timing).cycles
    for _ in range(trials):
        chosen = {name: each[random.integers(len(each))] for name, each in space.choices.items()}
        try:
            plan = space.plan(chosen)
            cycles = predict(space.graph, space.config, plan, timing).cycles
        except PlanError:
            continue
        if cycles < least:
            best, least = plan, cycles
    return best


def _measured(
    operator: Operator, plan: Plan, config: AcceleratorConfig, simulator: str, tell: Progress
) -> tuple[int, bool]:
    timing, size = MemoryTiming(), device_bytes([operator])
    with closing(open_device(simulator, config, timing, size, progress=tell)) as device:
        found, _ = checked_product(device, operator, timing, plan=plan)
    return found.cycles or 0, found.right
