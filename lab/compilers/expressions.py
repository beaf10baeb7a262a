"""TVM's tensor expressions: operators of a few lines beside products of their sizes, on the RTL."""

from collections.abc import Sequence
from contextlib import closing
from statistics import geometric_mean
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System
from celosia.lab.compilers.workload import graph_cycles
from celosia.lab.graphs.expressions import SIX, Maker
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.frontend.expressions.tensorize import tensorize
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph import MatMul as GraphProduct
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import Case

__all__ = ["EXPRESSIONS", "expressions", "product_of"]

EXPRESSIONS: Final = System(
    system="TVM",
    mechanism="tensor expressions: operators of a few lines, tensorized by declared intrinsics",
    claim="1.2 to 3.8 x over frameworks on hand-optimized libraries",
    source="Chen et al., OSDI 2018, sections 4 and 6",
)
_SCALE: Final = 0.001


def expressions(tell: Progress, makers: Sequence[Maker] = SIX, preset: str = "base") -> Row:
    """Each operator, and a product of its sizes; gained is what its use of the array has more."""
    config, timing = resolve_config(preset), MemoryTiming()
    cycles, uses, right = dict[str, int](), [], True
    for make in makers:
        name = make.__name__
        tell(name, None)
        operator = tensorize(make())
        graph, alone = operator.graph, product_of(operator.graph)
        case = Case(graph, operator.matrices(operator.random(0)))
        compiled = compile_graph(graph, config, timing=timing)
        cycles[name], good = graph_cycles(case, compiled, config, timing)
        product = f"{name}, a product of {alone.m}x{alone.n}x{alone.k}"
        cycles[product] = _product_cycles(alone, config, timing)
        uses.append((graph.macs / cycles[name]) / (alone.macs / cycles[product]))
        right = right and good
    return Row(
        about=EXPRESSIONS,
        work=f"{len(uses)} operators of at most 5 lines: {min(uses):.1%} to {max(uses):.1%} of the "
        "MAC utilization of products of their sizes",
        gain=geometric_mean(uses),
        cycles=cycles,
        right=right,
    )


def product_of(graph: Graph) -> MatMul:
    """A product alone of the sizes and the type of the graph's first one."""
    op = next(each for each in graph.ops if isinstance(each, GraphProduct))
    wide = graph.tensors[op.out.tensor].type == "int32"
    return MatMul(m=op.out.rows, n=op.out.cols, k=op.a.cols, scale=None if wide else _SCALE)


def _product_cycles(product: MatMul, config: AcceleratorConfig, timing: MemoryTiming) -> int:
    alone = Operator("matmul", random_operands(product, 0))
    with closing(open_device("verilator", config, timing, device_bytes([alone]))) as device:
        measured, _ = checked_product(device, alone, timing)
    return measured.cycles or 0
