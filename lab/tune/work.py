"""What is tuned: a product, or a graph with its inputs."""

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
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.jobs import ProductJob
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sim.workloads.workload_kinds import ProductWorkload
from celosia.sim.workloads.workloads import WORKLOADS
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of

__all__ = ["Work", "product_of", "space_of", "work_of", "works_of"]

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
    if name is None and len(works) == 1:
        return works[0]
    for each in works:
        if each.graph.name == name:
            return each
    names = ", ".join(repr(each.graph.name) for each in works)
    asked = "" if name is None else f"--graph {name}: "
    raise InputError(f"{asked}{options.workload} has {len(works)} graphs: give --graph, of {names}")


def product_of(options: RunOptions) -> Operator:
    """The only product of a workload.  Raises `InputError` for other workloads."""
    if not isinstance(WORKLOADS.get(options.workload), ProductWorkload):
        raise InputError(f"{options.workload}: it is no product, such as matmul")
    job = options.job(silent)
    assert isinstance(job, ProductJob)
    if len(job.operators) != 1:
        raise InputError(f"{options.workload}: {len(job.operators)} products; one is taken: matmul")
    return job.operators[0]


def space_of(operator: Operator, config: AcceleratorConfig) -> PlanSpace:
    """The plans of a product."""
    graph = graph_of(operator.name, operator.operands.problem)
    return PlanSpace(only_product(graph), graph, config)
