"""The forms of a workload between graph and commands, as text."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, WORKLOADS, checked_details
from celosia.sw.compiler.pipeline import compile_plan, predict_graph
from celosia.sw.compiler.starts import compilers_plan
from celosia.sw.driver.assembly import disassemble
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.print_program import print_program
from celosia.sw.ir.program import Written
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.passes.short_scales import RoundedScales, rounded_scales, short_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.memory.reuse import MemoryPlan

__all__ = ["ALL", "FORMS", "Compilation", "compile_forms", "graphs_of_workload"]

FORMS: Final = {
    "graph": "//",
    "plan": "#",
    "expand": "#",
    "schedule": "#",
    "encode": "#",
    "commands": "#",
}
"""What each pass leaves behind, in order, and how a comment begins in its text."""
ALL: Final = "all"
"""Every form, rather than one."""


@dataclass(frozen=True)
class Compilation:
    """A graph after each pass, as text."""

    name: str
    forms: dict[str, str]
    commands: int
    cycles: int
    """The predicted cycles."""
    memory: MemoryPlan | None = None
    """How bytes are used again, if that was asked for."""
    rounded: RoundedScales | None = None
    """How scales were rounded; None: the accelerator takes any float32."""

    def text(self, wanted: str) -> str:
        """One form, or all with a comment before each."""
        if wanted != ALL:
            return self.forms[wanted]
        parts = (f"{FORMS[form]} {self.name}: {form}\n{text}" for form, text in self.forms.items())
        return "\n".join(parts)


def graphs_of_workload(options: RunOptions, tell: Progress) -> tuple[Graph, ...]:
    """The graphs of a workload; each product is one.  Raises `InputError` for bad options.

    They are as they are made, also with `optimize`.
    """
    if options.workload.endswith(PROGRAM_SUFFIX):
        raise InputError(f"{options.workload}: a program is compiled already")
    details = checked_details(options.workload, options.details)
    tell("preparing the operands", None)
    seed = options.target.timing.seed
    match WORKLOADS[options.workload]:
        case ProductWorkload() as workload:
            operators = workload.make(details, seed)
            return tuple(graph_of(each.name, each.operands.problem) for each in operators)
        case GraphWorkload() as workload:
            return (workload.make(details, seed, tell).case.graph,)


def compile_forms(
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming,
    plan: Plan | None = None,
    *,
    reuse_memory: bool = False,
) -> Compilation:
    """`graph` after each pass, with this `plan` or the one that is decided for it.

    Its scales are as short as `config` takes them from the first form on.

    Raises `InputError` if the plan is illegal, with the rule that it breaks, or none is found.
    """
    rounded, graph = rounded_scales([graph], config), short_scales(graph, config)
    try:
        if plan is None:
            plan = compilers_plan(graph, config, timing)
        compiled = compile_plan(graph, plan, config, reuse_memory=reuse_memory)
    except ValueError as error:
        raise InputError(str(error)) from None
    forms = {
        "graph": print_graph(graph),
        "plan": print_plan(plan),
        "expand": _program(expand(plan, graph)),
        "schedule": _program(compiled.ops),
        "encode": _assembly(command for each in compiled.commands for command in each),
        "commands": _assembly(compiled.program),
    }
    cycles = predict_graph(compiled, config, timing).cycles
    return Compilation(graph.name, forms, len(compiled.program), cycles, compiled.memory, rounded)


def _program(ops: Iterable[Written]) -> str:
    return print_program((written.operator, written.op) for written in ops)


def _assembly(commands: Iterable[Command]) -> str:
    return disassemble(pack_ring(tuple(commands)))
