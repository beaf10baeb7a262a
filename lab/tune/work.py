"""What is tuned: a product, or a graph with its inputs."""

from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.run.measure import measure_product
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.report import Measurement
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sim.workloads.workload_kinds import ProductWorkload
from celosia.sim.workloads.workloads import WORKLOADS, checked_details
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of

__all__ = ["Work", "product_of", "space_of", "work_of"]

_SIMULATOR = "verilator"


@dataclass(frozen=True, eq=False)
class Work:
    """The only graph of a workload, and how it runs."""

    graph: Graph
    what: Operator | Case
    """A product with its operands, or a graph with its inputs."""

    def measured(self, plan: Plan, config: AcceleratorConfig, timing: MemoryTiming) -> Measurement:
        """A run by a legal plan on the RTL, every element of whose results is compared."""
        if isinstance(self.what, Operator):
            size = device_bytes([self.what])
            with closing(open_device(_SIMULATOR, config, timing, size)) as device:
                return measure_product(device, self.what, timing, plan=plan)[0]
        compiled = compile_graph(self.graph, config, Decide(plan))
        opened = partial(open_device, _SIMULATOR, config, timing)
        return measure_compiled(self.graph.name, compiled, self.what, opened, timing).whole


@lru_cache(maxsize=2)
def work_of(options: RunOptions) -> Work:
    """What a workload computes.  Raises `InputError` for several products, and for bad options."""
    workload = WORKLOADS[options.workload]
    details = checked_details(options.workload, options.details)
    if isinstance(workload, ProductWorkload):
        operator = product_of(options)
        return Work(graph_of(operator.name, operator.operands.problem), operator)
    case = workload.make(details, options.target.timing.seed, silent).case
    return Work(case.graph, case)


def product_of(options: RunOptions) -> Operator:
    """The only product of a workload.  Raises `InputError` for other workloads."""
    workload = WORKLOADS[options.workload]
    details = checked_details(options.workload, options.details)
    if not isinstance(workload, ProductWorkload):
        raise InputError(f"{options.workload}: it is no product, such as matmul")
    operators = workload.make(details, options.target.timing.seed)
    if len(operators) != 1:
        raise InputError(f"{options.workload}: {len(operators)} products; one is taken: matmul")
    return operators[0]


def space_of(operator: Operator, config: AcceleratorConfig) -> PlanSpace:
    """The plans of a product."""
    graph = graph_of(operator.name, operator.operands.problem)
    return PlanSpace(only_product(graph), graph, config)
