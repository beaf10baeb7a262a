"""The run of products: each is a program, and all use one device."""

import time
from contextlib import closing
from typing import Any

from celosia.sim.run.estimate import announce_products
from celosia.sim.run.measure import measure_product
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome, setting_of
from celosia.sim.run.report import Measurement, Report
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.product_workloads import device_bytes
from celosia.sim.workloads.workload_kinds import ProductWorkload
from celosia.sw.passes.short_scales import rounded_scales
from celosia.sw.planning.problems import graph_of

__all__ = ["run_products"]


def run_products(
    workload: ProductWorkload, details: Any, options: RunOptions, tell: Progress, opener: Opener
) -> Outcome:
    """Run the products one after the other; `details` are the workload's record.

    Raises what `run_workload` raises.
    """
    start = time.perf_counter()
    target, compiling = options.target, options.compiling
    compiling.check_no_graph(options.workload)
    config = target.config
    tell("preparing the operands", None)
    operators = workload.make(details, target.timing.seed)
    graphs = [graph_of(operator.name, operator.operands.problem) for operator in operators]
    problems = [operator.operands.problem for operator in operators]
    plan = compiling.given.of(graphs, config, target.timing)
    announce_products(options.told.announce, target.simulator, problems, config, target.timing)
    steps = Steps(tell, len(operators))
    measured: list[Measurement] = []
    result = None
    with closing(open_for(opener, target, config, device_bytes(operators), steps)) as device:
        for operator in operators:
            steps.begin(operator.name)
            steps("compiling", None)
            one, result = measure_product(device, operator, target.timing, target.issue, plan)
            measured.append(one)
    return Outcome(
        Report(
            setting=setting_of(options, target.preset_name, config),
            operators=tuple(measured),
            rounded_scales=rounded_scales(graphs, config),
            elapsed_seconds=time.perf_counter() - start,
        ),
        result,
    )
