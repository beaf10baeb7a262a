"""Halide: one product by schedules, primitive by primitive, on the RTL."""

from contextlib import closing
from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sw.compiler.fluent import Schedule
from celosia.sw.compiler.pipeline import Decide, find_plan
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of

__all__ = ["HALIDE", "halide", "halide_of"]

HALIDE: Final = System(
    system="Halide",
    mechanism="schedules as text: primitives that split, reorder, keep and fuse",
    claim="up to 5 x over hand-tuned code for images, with far fewer lines",
    source="Ragan-Kelley et al., PLDI 2013",
)
PRODUCT: Final = MatMul(m=128, n=128, k=128, scale=0.01)
OP: Final = "matmul"


def halide(tell: Progress, problem: MatMul = PRODUCT, preset: str = "base") -> Row:
    """The same product after each step of a schedule, and by the compiler's own plan."""
    config, timing = resolve_config(preset), MemoryTiming()
    operator = Operator(OP, random_operands(problem, 0))
    graph = graph_of(OP, problem)
    plans = _steps(Schedule(plain_plan(graph, config), graph, config))
    plans["the compiler's"] = find_plan(graph, config, timing)
    cycles, right = dict[str, int](), True
    with closing(open_device("verilator", config, timing, device_bytes([operator]))) as device:
        for name, plan in plans.items():
            tell(name, None)
            measured, _ = checked_product(device, operator, timing, plan=plan)
            cycles[name] = measured.cycles or 0
            right = right and measured.right
    extents = "x".join(map(str, (problem.m, problem.n, problem.k)))
    steps = "from nothing decided to pieces that arrive while others are read"
    work = f"a product of {extents}, {steps}"
    return gained(HALIDE, work, ("plain", "hidden"), cycles, right)


def halide_of(tell: Progress, workload: Workload, preset: str = "base") -> Row:
    """Graphs by plans that decide nothing, and by the compiler's own."""
    config = resolve_config(preset)
    programs = {
        "plain": workload.compiled(config, lambda graph: [Decide(plain_plan(graph, config))]),
        "the compiler's": workload.compiled(config),
    }
    cycles, right = run_ways(workload, programs, config, tell)
    work = f"{workload.name}, from nothing decided to the compiler's own plan"
    return gained(HALIDE, work, ("plain", "the compiler's"), cycles, right)


def _steps(plain: Schedule) -> dict[str, Plan]:
    """The plans of a schedule: each has what those before it have."""
    tiles = min(4, plain.config.max_blocks)
    tall = plain.tensorize(OP, times=tiles)
    pieces = tall.tile(OP, k=tiles, a=tiles, first=1, columns=2, drain=tiles)
    wide = pieces.split(OP, tiles=(2 * tiles,)).keep(OP, "b").double_buffer(OP, "b", 0)
    hidden = wide.double_buffer(OP, "a").double_buffer(OP, "sums").defer()
    named = {"plain": plain, "tensorized": tall, "larger pieces": wide, "hidden": hidden}
    return {name: schedule.plan for name, schedule in named.items()}
