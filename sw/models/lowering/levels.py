"""The levels below integer graphs: plans, programs and commands, of one graph or of a model's.

Each step is one or two passes of the compiler (`celosia.sw.compiler.pipeline`), and leaves what
those behind it need: a plan beside its graph, a program beside both, commands beside the graph.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Check, Compress, Encode, Expand, Pass
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import Verified
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import machine_of
from celosia.sw.quantize.graphs.quantized import QuantizedGraph

__all__ = [
    "COMMANDS",
    "PLAN",
    "PROGRAM",
    "Level",
    "Lowered",
    "blank_plan",
    "checked",
    "decided",
    "expanded",
    "lowered",
    "scheduled",
]

Level = Literal["cel.plan", "cel.program", "commands"]

PLAN: Final[Level] = "cel.plan"
PROGRAM: Final[Level] = "cel.program"
COMMANDS: Final[Level] = "commands"


@dataclass(frozen=True, eq=False, kw_only=True)
class Lowered:
    """Integer graphs on their way to commands, all of one level."""

    level: Level
    graphs: tuple[CompiledGraph, ...]
    model: QuantizedGraph | None = None
    """The model whose segments the graphs are; None: there is one graph, and nothing else."""

    def after(self, level: Level, change: Callable[[CompiledGraph], CompiledGraph]) -> "Lowered":
        """What is left of each graph by a change to `level`."""
        graphs = tuple(map(change, self.graphs))
        model = None if self.model is None else _with_graphs(self.model, [g.graph for g in graphs])
        return Lowered(level=level, graphs=graphs, model=model)


def checked(model: QuantizedGraph, config: AcceleratorConfig) -> QuantizedGraph:
    """A model whose graphs the accelerator can compute: scales are as short as it takes them.

    Raises `ValueError` that names the operator that is not well formed.
    """
    graphs = [_compiled(segment.graph, config, Check()).graph for segment in model.segments]
    return _with_graphs(model, graphs)


def decided(
    source: Graph | QuantizedGraph, config: AcceleratorConfig, timing: MemoryTiming | None
) -> Lowered:
    """A legal plan of each graph: of those that are compared, the fastest on a memory.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    model = source if isinstance(source, QuantizedGraph) else None
    graphs = [segment.graph for segment in model.segments] if model else [source]
    found = [
        replace(_compiled(graph, config, Check(), Decide(), timing=timing), timing=None)
        for graph in graphs
        if isinstance(graph, Graph)
    ]
    return Lowered(level=PLAN, graphs=tuple(found), model=model).after(PLAN, lambda each: each)


def expanded(plans: Lowered) -> Lowered:
    """The program of each plan, in order of meaning."""
    return plans.after(PROGRAM, Expand().apply)


def scheduled(programs: Lowered) -> Lowered:
    """The same operations in an order in which units wait less for each other, verified.

    Raises `AssertionError` for a mistake of the compiler's own.
    """
    return programs.after(PROGRAM, Verified().apply)


def lowered(programs: Lowered) -> Lowered:
    """The commands of each program, and where its tensors stand in memory."""

    def encode(compiled: CompiledGraph) -> CompiledGraph:
        done = Compress().apply(Encode().apply(compiled))
        return replace(done, plan=blank_plan(done.graph, done.config), ops=(), commands=())

    return programs.after(COMMANDS, encode)


def blank_plan(graph: Graph, config: AcceleratorConfig) -> Plan:
    """The plan of a graph for which nothing is decided, or nobody asks any more."""
    return Plan(graph=graph.name, machine=machine_of(config), rings={}, stages=())


def _compiled(
    graph: Graph, config: AcceleratorConfig, *passes: Pass, timing: MemoryTiming | None = None
) -> CompiledGraph:
    found = CompiledGraph(graph=graph, config=config, timing=timing, plan=blank_plan(graph, config))
    for each in passes:
        found = each.apply(found)
    return found


def _with_graphs(model: QuantizedGraph, graphs: list[Graph]) -> QuantizedGraph:
    segments = zip(model.segments, graphs, strict=True)
    return replace(model, segments=tuple(replace(one, graph=graph) for one, graph in segments))
