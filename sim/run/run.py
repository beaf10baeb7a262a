"""The run of a workload: products, a graph, or a program file."""

from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import run_graph
from celosia.sim.run.opening import Opener, watching_opener
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.product_run import run_products
from celosia.sim.run.program_run import run_program
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, WORKLOADS, checked_details

__all__ = ["run_workload"]


def run_workload(
    options: RunOptions, tell: Progress = silent, opener: Opener = open_device
) -> Outcome:
    """Run a workload and compare every result.

    Raises `InputError`, `ConfigError` or `ProgramError` for what cannot be run, and
    `EnvironmentProblem` where a tool is missing; wrong results and an accelerator that stops are
    part of the report.
    """
    details = checked_details(options.workload, options.details)
    options.compiling.given.check()
    opener = watching_opener(options.target, options.watching, opener)
    if options.workload.endswith(PROGRAM_SUFFIX):
        return run_program(options, tell, opener)
    match WORKLOADS[options.workload]:
        case ProductWorkload() as workload:
            return run_products(workload, details, options, tell, opener)
        case GraphWorkload() as workload:
            return run_graph(workload, details, options, tell, opener)
