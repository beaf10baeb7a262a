"""The run of a workload: products, a graph, a model or a program file."""

import time
from contextlib import AbstractContextManager, nullcontext

from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import run_graph
from celosia.sim.run.models.model_checks import run_model_job
from celosia.sim.run.opening import Opener, watching_opener
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.product_run import run_products
from celosia.sim.run.program_run import run_program
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.ahead import built_ahead
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.jobs import ProductJob
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.workload_kinds import ProductWorkload
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, WORKLOADS, checked_details

__all__ = ["run_workload"]


def run_workload(
    options: RunOptions, tell: Progress = silent, opener: Opener = open_device
) -> Outcome:
    """Run a workload, and compare what `options` say.

    Raises `InputError`, `ConfigError` or `ProgramError` for what cannot be run, and
    `EnvironmentProblem` where a tool is missing; wrong results and an accelerator that stops are
    part of the report.
    """
    start = time.perf_counter()
    checked_details(options.workload, options.details)
    options.compiling.given.check()
    opened = watching_opener(options.target, options.watching, opener)
    if options.workload.endswith(PROGRAM_SUFFIX):
        return run_program(options, tell, opened)
    if isinstance(WORKLOADS.get(options.workload), ProductWorkload):
        options.compiling.check_no_graph(options.workload)
    with _building(options, opened):
        match options.job(tell):
            case ProductJob() as job:
                return run_products(job, options, tell, opened, start)
            case GraphJob() as job:
                return run_graph(job, options, tell, opened, start)
            case ModelJob() as job:
                return run_model_job(job, options, tell, opened, start)


def _building(options: RunOptions, opener: Opener) -> AbstractContextManager[None]:
    """Builds the simulator meanwhile: quantizing a model takes as long as that."""
    products = isinstance(WORKLOADS.get(options.workload), ProductWorkload)
    if options.target.simulator == "verilator" and opener is open_device and not products:
        return built_ahead(options.target.config, BuildOptions())
    return nullcontext()
