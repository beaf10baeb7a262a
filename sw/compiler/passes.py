"""The passes from a plan to commands: each is a record of its arguments, and a function."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.ir import graph_verify
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.packing import with_whole_tiles
from celosia.sw.passes.affines import with_affines
from celosia.sw.passes.compress_loops import compress_loops
from celosia.sw.passes.lower_program import Lowering
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.spills import with_spills
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.scheduling.by_need import schedule_by_need
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.schedule import schedule
from celosia.sw.timeline.graphs import GraphCycles
from celosia.sw.timeline.issue import loops_keep_up

__all__ = ["Check", "Compress", "Encode", "Expand", "Pass", "Schedule", "planned", "predict"]


@dataclass(frozen=True)
class Pass(ABC):
    """A step of the compiler.  Its fields are its arguments."""

    name: ClassVar[str]
    """What the command line and documents call it."""
    leaves: ClassVar[str]
    """The field of a `CompiledGraph` that shows what it has made."""

    @abstractmethod
    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """What is compiled, behind this pass."""


@dataclass(frozen=True, kw_only=True)
class Check(Pass):
    """The graph is well formed, scales are short enough, and packed weights are whole tiles."""

    name = "graph"
    leaves = "graph"

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `ValueError` that names the operator that is not well formed."""
        graph = short_scales(graph_verify.verify(compiled.graph), compiled.config)
        return replace(compiled, graph=with_whole_tiles(graph, compiled.config.dim))


@dataclass(frozen=True, kw_only=True)
class Expand(Pass):
    """The program in order of meaning, with the constants that it needs beside the graph's."""

    name = "expand"
    leaves = "ops"

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with operations on local rows."""
        ops = tuple(expand(compiled.plan, compiled.graph))
        return replace(compiled, ops=ops, graph=self.with_constants(compiled))

    @staticmethod
    def with_constants(compiled: CompiledGraph) -> Graph:
        """The graph with what its plan needs beside."""
        return with_spills(with_affines(compiled.graph, compiled.config.dim), compiled.plan)


@dataclass(frozen=True, kw_only=True)
class Schedule(Pass):
    """The same operations in an order in which units wait less for each other."""

    name = "schedule"
    leaves = "ops"

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with these operations, which nobody has verified."""
        plan, moving = compiled.plan, compiled.graph.moving
        if plan.scheduler == "need":
            ops = schedule_by_need(compiled.ops, compiled.config, moving, plan.spare_tiles)
        else:
            ops = schedule(compiled.ops, compiled.config, overlap=plan.defer, moving=moving)
        return replace(compiled, ops=tuple(ops))


@dataclass(frozen=True, kw_only=True)
class Encode(Pass):
    """Addresses of tensors, and the commands of each operation."""

    name = "encode"
    leaves = "commands"
    base: int = MEMORY_BASE
    """Where the first tensor stands in memory."""
    nests: bool = True
    """A nest of products is one command, where the accelerator has it."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with commands; a product whose loads wait for no store needs no tokens."""
        placed = self.placed(compiled)
        lowering = Lowering(
            config=placed.config,
            tensors=placed.graph.tensors,
            addresses=placed.addresses,
            loops=self.nests,
            tokens=placed.waits or not placed.alone,
        )
        commands = lowering.program([written.op for written in placed.ops])
        return replace(placed, commands=tuple(commands))

    def placed(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with addresses: each tensor has bytes of its own."""
        addresses, end = place_tensors(compiled.in_memory, self.base)
        return replace(compiled, addresses=addresses, end=end)


@dataclass(frozen=True, kw_only=True)
class Compress(Pass):
    """What repeats is written once, if the accelerator has loops and they hold nothing up.

    A product alone has nests, but no other loops: it is short without them, they would be looked
    for longer than all else takes, and a ring of them is not faster.
    """

    name = "commands"
    leaves = "program"
    loops: bool = True
    """Loops are looked for."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with all commands in order."""
        flat, config = tuple(chain(*compiled.commands)), compiled.config
        loops = self.loops and not compiled.alone
        if loops and loops_keep_up(compiled.graph, config, len(flat)):
            flat = compress_loops(flat, config, _starts(compiled))
        return replace(compiled, program=flat)


def _starts(compiled: CompiledGraph) -> Iterator[int]:
    """Where the first command of each operator stands, among all commands."""
    known: set[str] = set()
    first, *rest = map(len, compiled.commands)
    for written, count in zip(compiled.ops, rest, strict=True):
        if written.operator not in known:
            known.add(written.operator)
            yield first
        first += count


def planned(graph: Graph, config: AcceleratorConfig, plan: Plan | Choices) -> Plan:
    """The legal plan that is given, or is decided for a verified `graph` by choices.

    Raises `PlanError`, a `ValueError`, that names the rule that a plan breaks, and `ValueError`
    that names the operator for what the accelerator cannot do.
    """
    if isinstance(plan, Plan):
        return verify_plan(plan, graph, config)
    return decide_graph(graph, config, plan)


def predict(
    graph: Graph,
    config: AcceleratorConfig,
    plan: Plan | Choices,
    timing: MemoryTiming | None = None,
    known: dict[Hashable, GraphCycles] | None = None,
) -> GraphCycles:
    """The cycles that `graph` is expected to take, computed as `plan` says or choices decide.

    Nothing is verified but the plan: a part of a graph is enough, which reads what nobody writes.
    A loop takes as long as what it stands for, so none is looked for.  `known` are programs of the
    same graph and memory that were followed: another plan often decides one of them.
    Raises `ValueError` as `planned` does.
    """
    legal = planned(graph, config, plan)
    compiled = CompiledGraph(graph=graph, config=config, timing=timing, plan=legal)
    compiled = Expand().apply(compiled)
    known = {} if known is None else known
    program = legal.scheduler, legal.defer, legal.spare_tiles, compiled.ops
    if program not in known:
        compiled = Encode().apply(Schedule().apply(compiled))
        known[program] = compiled.expected(timing)
    return known[program]
