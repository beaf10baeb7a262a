"""The forms of a workload between graph and commands, as text."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.problems import InputError
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Pass
from celosia.sw.compiler.pipeline import PASSES, passes
from celosia.sw.compiler.verified import Verified
from celosia.sw.driver.assembly import disassemble
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.print_program import print_program
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.planning.forms.text import print_plan

__all__ = ["ALL", "FORMS", "print_after"]

ALL: Final = "all"
"""Every form, rather than one."""


def _assembly(commands: Iterable[Command]) -> str:
    return disassemble(pack_ring(tuple(commands)))


_PRINTED: Final[Mapping[str, Callable[[CompiledGraph], str]]] = {
    "graph": lambda compiled: print_graph(compiled.graph),
    "plan": lambda compiled: print_plan(compiled.plan),
    "ops": lambda compiled: print_program((each.operator, each.op) for each in compiled.ops),
    "commands": lambda compiled: _assembly(chain(*compiled.commands)),
    "program": lambda compiled: _assembly(compiled.program),
}
"""The text of each field of a compiled graph that a pass leaves."""

FORMS: Final = {each.name: "//" if each.leaves == "graph" else "#" for each in PASSES}
"""What each pass leaves behind, in order, and how a comment begins in its text."""


def print_after(
    wanted: str, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming, *how: Pass
) -> str:
    """What the pass that is `wanted` makes of `graph`, or `ALL` passes, with a comment before each.

    Raises `InputError` if a plan is illegal, with the rule that it breaks, or none is found.
    """
    parts = []
    try:
        for each, compiled in passes(graph, config, Verified(), *how, timing=timing):
            if each.name == wanted:
                return _PRINTED[each.leaves](compiled)
            if wanted == ALL:
                head = f"{FORMS[each.name]} {graph.name}: {each.name}\n"
                parts.append(head + _PRINTED[each.leaves](compiled))
    except ValueError as error:
        raise InputError(str(error)) from None
    return "\n".join(parts)
