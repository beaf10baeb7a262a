"""How everybody compiles: the program of a graph is verified before commands are made of it."""

from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Pass, Schedule
from celosia.sw.compiler.pipeline import passes
from celosia.sw.ir import program_verify
from celosia.sw.ir.graph import Graph
from celosia.sw.scheduling.memory.check_scratch import check_scratch

__all__ = ["Verified", "compile_graph", "verify_program"]


def verify_program(compiled: CompiledGraph) -> None:
    """Raise `ValueError` that names the operation if a program is not well formed."""
    graph, ops = compiled.graph, [written.op for written in compiled.ops]
    program_verify.verify(ops, compiled.config, graph)
    check_scratch(ops, graph.tensors, compiled.config)


@dataclass(frozen=True, kw_only=True)
class Verified(Schedule):
    """A program in its order, which is verified: what is behind only writes it down."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `AssertionError` for a program that is not well formed: that is nobody's input."""
        compiled = super().apply(compiled)
        try:
            verify_program(compiled)
        except ValueError as error:
            raise AssertionError(
                f"graph {compiled.graph.name}: lowered to a wrong program: {error}"
            ) from error
        return compiled


def compile_graph(
    graph: Graph, config: AcceleratorConfig, *how: Pass, timing: MemoryTiming | None = None
) -> CompiledGraph:
    """Commands for `graph` that are expected to be fastest on a memory with this `timing`.

    Without one, nobody sees which are, and nothing is compared.  `how` are passes with arguments
    of their own: `compile_graph(graph, config, Encode(nests=False), timing=timing)`; with
    `Schedule()` among them, the program is not verified.
    Raises `ValueError` that names the operator for what is not well formed, or what the
    accelerator cannot do, `PlanError`, another one, that names the rule that a given plan breaks,
    and `AssertionError` for a mistake of the compiler's own.
    """
    *_, (_, compiled) = passes(graph, config, Verified(), *how, timing=timing)
    return compiled
