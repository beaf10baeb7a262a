"""The run of products: each is a program, and all use one device."""

import time
from contextlib import closing

from celosia.sim.run.checks import checked_product
from celosia.sim.run.estimate import announce_products
from celosia.sim.run.measure import measure_product
from celosia.sim.run.opening import Opener, open_for, prepare_run
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome, setting_of
from celosia.sim.run.report import Measurement, Report
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.jobs import ProductJob
from celosia.sim.workloads.product_workloads import device_bytes
from celosia.sw.passes.rounded_scales import rounded_scales

__all__ = ["run_products"]


def run_products(
    job: ProductJob, options: RunOptions, tell: Progress, opener: Opener, start: float
) -> Outcome:
    """Run the products of `job`, which was begun at `start`, one after the other.

    Raises what `run_workload` raises.
    """
    target, operators, graphs = options.target, job.operators, job.graphs
    config = target.config
    problems = [operator.operands.problem for operator in operators]
    plans = options.plans(job)
    say = options.told.announce
    cycles = announce_products(say, target.simulator, problems, config, target.timing)
    prepare_run(target, opener, cycles, tell)
    steps = Steps(tell, len(operators))
    measure = measure_product if options.watching.check == "none" else checked_product
    measured: list[Measurement] = []
    result = None
    with closing(open_for(opener, target, config, device_bytes(operators), steps)) as device:
        for operator, plan in zip(operators, plans, strict=True):
            steps.begin(operator.name)
            steps("compiling", None)
            one, result = measure(device, operator, target.timing, target.issue, plan)
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
