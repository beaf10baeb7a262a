"""A graph on its way to commands, and what these are expected to take."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.svg import Drawing, beneath
from celosia.isa.encoding import Command
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul, Tensor
from celosia.sw.ir.program import Load, Written
from celosia.sw.planning.forms.groups import on_chip
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import LinearStage, SumsDrain
from celosia.sw.timeline.graphs import GraphCycles, ProgramFollower

if TYPE_CHECKING:
    from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

__all__ = ["CompiledGraph"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompiledGraph:
    """A graph, and as much of the commands that compute it as the passes so far have made."""

    graph: Graph
    """The graph with the constants that the program needs beside those of the graph that was
    compiled."""
    config: AcceleratorConfig
    timing: MemoryTiming | None = None
    """The memory that the plan is the best one for."""
    plan: Plan
    """What was decided."""
    ops: tuple[Written, ...] = ()
    """The operations on local rows, each with the operator that it belongs to."""
    commands: tuple[tuple[Command, ...], ...] = ()
    """The commands that the program begins with, then those of each of `ops`; without REPEATs."""
    program: tuple[Command, ...] = ()
    """All commands in order; some of them stand for many (`celosia.isa.operations.loops`)."""
    addresses: dict[str, int] = field(default_factory=dict)
    """The address of every tensor that is ever in memory: operators write all but those on the
    chip."""
    end: int = 0
    """The first address behind them."""
    memory: "MemoryPlan | None" = None
    """How bytes are used again; None: each tensor has its own."""

    @property
    def drawing(self) -> Drawing:
        """The pictures of graph, plan and main memory, below each other."""
        gone = () if self.memory is None else self.memory.gone
        picture = import_module("celosia.sw.scheduling.memory.picture")
        memory = picture.memory_drawing(self.graph, self.addresses, self.end, gone)
        return beneath([self.graph.drawing, self.plan.drawing, memory])

    def _repr_html_(self) -> str:
        """The drawing, for notebooks."""
        return str(self.drawing)

    @property
    def in_memory(self) -> list[Tensor]:
        """The tensors that ever are in memory: constants, then caches, then all others.

        So graphs that differ in other tensors alone find both at the same addresses.
        """
        local = on_chip(self.graph)
        kept = [tensor for name, tensor in self.graph.tensors.items() if name not in local]
        return sorted(kept, key=self._place)

    def _place(self, tensor: Tensor) -> int:
        return 0 if tensor.name in self.graph.constants else 1 if tensor.cache else 2

    @property
    def alone(self) -> bool:
        """Whether it is a product alone that stores finish."""
        match self.plan.stages:
            case [LinearStage(drain=SumsDrain(by="mvout"))]:
                return isinstance(self.graph.ops[0], MatMul)
            case _:
                return False

    @property
    def waits(self) -> bool:
        """Whether a load of the program waits for a store."""
        return any(isinstance(each.op, Load) and each.op.after for each in self.ops)

    def expected(self, timing: MemoryTiming | None) -> GraphCycles:
        """The cycles that the program is expected to take on a memory; loops change nothing."""
        first, *counts = map(len, self.commands)
        follower = ProgramFollower(self.config, timing, self.graph.tensors, self.addresses)
        follower.line.configure(first)
        for written, count in zip(self.ops, counts, strict=True):
            follower.follow(written.op, written.operator, count)
        return follower.result()
