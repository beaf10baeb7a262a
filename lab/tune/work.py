"""What is tuned: a product, or a graph with its inputs."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.report import Measurement
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.support.words import counted
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.jobs import ProductJob
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import Plan

__all__ = ["Work", "product_space", "work_of", "works_of"]

_SIMULATOR = "verilator"


@dataclass(frozen=True, eq=False)
class Work:
    """A graph of a workload, and how it runs."""

    graph: Graph
    what: Operator | Case
    """A product with its operands, or a graph with its inputs."""

    def measured(self, plan: Plan, config: AcceleratorConfig, timing: MemoryTiming) -> Measurement:
        """A run by a legal plan on the RTL, every element of whose results is compared."""
        if isinstance(self.what, Operator):
            size = device_bytes([self.what])
            with closing(open_device(_SIMULATOR, config, timing, size)) as device:
                return checked_product(device, self.what, timing, plan=plan)[0]
        compiled = compile_graph(self.graph, config, Decide(plan))
        opened = partial(open_device, _SIMULATOR, config, timing)
        return measure_compiled(self.graph.name, compiled, self.what, opened, timing).whole


@lru_cache(maxsize=2)
def works_of(options: RunOptions) -> tuple[Work, ...]:
    """What a workload computes, graph by graph.  Raises `InputError` for bad options."""
    job = options.job(silent)
    match job:
        case ProductJob():
            found = job.operators
        case GraphJob():
            found = (job.case,)
        case ModelJob():
            found = job.cases
    return tuple(Work(*each) for each in zip(job.graphs, found, strict=True))


def work_of(options: RunOptions, name: str | None = None) -> Work:
    """The graph of this name of a workload, or the only one.

    Raises `InputError` where there is no such graph, or several and no name.
    """
    works = works_of(options)
    graph = _named(options, [each.graph for each in works], name)
    return next(each for each in works if each.graph is graph)


def product_space(
    options: RunOptions, config: AcceleratorConfig, name: str | None = None
) -> PlanSpace:
    """The plans of a workload's graph of this name, or its only one: a product that MVOUT finishes.

    Raises `InputError` as `work_of` does, and for another graph, with the reason.
    """
    graph = _named(options, options.job(silent).graphs, name)
    try:
        decide(graph, config, options.target.timing)
    except ValueError as error:
        raise InputError(f"{options.workload}: it is no product such as matmul: {error}") from None
    return PlanSpace(only_product(graph), graph, config)


def _named(options: RunOptions, graphs: Sequence[Graph], name: str | None) -> Graph:
    if name is None and len(graphs) == 1:
        return graphs[0]
    for each in graphs:
        if each.name == name:
            return each
    names = ", ".join(repr(each.name) for each in graphs)
    asked = "" if name is None else f"--graph {name}: "
    raise InputError(
        f"{asked}{options.workload} has {counted(len(graphs), 'graph')}: give --graph, of {names}"
    )
