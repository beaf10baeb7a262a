"""The compiler's table of contents: from a graph to commands, pass by pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import PRODUCTS, Command, Funct
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sw.ir import graph_verify, program_verify
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.program import Load, Written
from celosia.sw.passes.affines import with_affines
from celosia.sw.passes.compress_loops import compress_loops
from celosia.sw.passes.lower_program import lower_program
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.groups import on_chip
from celosia.sw.planning.forms.plan import Plan, ProductStage
from celosia.sw.planning.forms.spills import with_spills
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.scheduling.by_need import schedule_by_need
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.memory.reuse import MemoryPlan, plan_memory
from celosia.sw.scheduling.schedule import schedule
from celosia.sw.timeline.graphs import GraphCycles, ProgramFollower
from celosia.sw.timeline.issue import loops_keep_up

__all__ = [
    "CompiledGraph",
    "compile_graph",
    "compile_plan",
    "predict_choices",
    "predict_graph",
    "predict_plan",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompiledGraph:
    """A graph, and the commands that compute it."""

    graph: Graph
    """The graph with the constants that the program needs beside those of the graph that was
    compiled."""
    plan: Plan
    """What was decided."""
    ops: tuple[Written, ...]
    """The operations on local rows, each with the operator that it belongs to."""
    commands: tuple[tuple[Command, ...], ...]
    """The commands that the program begins with, then those of each of `ops`; without REPEATs."""
    program: tuple[Command, ...]
    """All commands in order; some of them stand for many (`celosia.isa.operations.loops`)."""
    addresses: dict[str, int]
    """The address of every tensor that is ever in memory: operators write all but those on the
    chip."""
    end: int
    """The first address behind them."""
    memory: MemoryPlan | None = None
    """How bytes are used again; None: each tensor has its own."""

    @property
    def operators(self) -> tuple[str, ...]:
        """The operator that each command belongs to, when the program is expanded.

        Empty for those before all.
        """
        names = ["", *(written.operator for written in self.ops)]
        pairs = zip(names, self.commands, strict=True)
        return tuple(name for name, commands in pairs for _ in range(sum(map(_length, commands))))


def compile_graph(
    graph: Graph,
    config: AcceleratorConfig,
    base: int = MEMORY_BASE,
    choices: Choices = DEFAULT,
    *,
    loops: bool = True,
    reuse_memory: bool = False,
) -> CompiledGraph:
    """Commands for `graph`, whose tensors stand in memory from `base` on.

    With `loops`, the program has those that `config` knows: it is short, and does just the same.
    With `reuse_memory`, tensors may take the bytes of others that nobody needs any more.
    Scales become as short as `config` takes them.
    Raises `ValueError` that names the operator for what is not well formed, or what the
    accelerator cannot do, and `AssertionError` for a mistake of the compiler's own.
    """
    scheduled = _chosen(short_scales(graph_verify.verify(graph), config), config, choices)
    _check_scheduled(scheduled, config)
    return _encoded(scheduled, config, base, nests=loops, repeats=loops, reuse=reuse_memory)


def predict_choices(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None, choices: Choices
) -> GraphCycles:
    """The cycles that `graph` is expected to take if it is planned as `choices` say.

    Nothing is verified but the plan: a part of a graph is enough, which reads what nobody writes.
    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    return _predicted(_chosen(graph, config, choices), config, timing)


def compile_plan(
    graph: Graph,
    plan: Plan,
    config: AcceleratorConfig,
    base: int = MEMORY_BASE,
    *,
    reuse_memory: bool = False,
) -> CompiledGraph:
    """Commands for a verified `graph`, computed and scheduled as `plan` says.

    With `reuse_memory`, tensors may take the bytes of others that nobody needs any more.
    Scales become as short as `config` takes them.

    A product alone has nests, but no other loops: it is short without them, they would be looked
    for longer than all else takes, and a ring of them is not faster.
    Raises `PlanError`, a `ValueError`, that names the rule that the plan breaks.
    """
    graph = short_scales(graph, config)
    scheduled = _planned(graph, verify_plan(plan, graph, config), config)
    _check_scheduled(scheduled, config)
    return _encoded_plan(scheduled, config, base, reuse=reuse_memory)


def predict_plan(
    graph: Graph, plan: Plan, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> GraphCycles:
    """The cycles that a verified `graph` is expected to take if it is computed as `plan` says.

    Raises `PlanError`, a `ValueError`, that names the rule that the plan breaks.
    """
    return _predicted(_planned(graph, verify_plan(plan, graph, config), config), config, timing)


@dataclass(frozen=True, eq=False)
class _Scheduled:
    """A program, and the graph that it computes."""

    graph: Graph
    """The graph with the constants that the program needs beside its own."""
    plan: Plan
    ops: tuple[Written, ...]

    @property
    def in_memory(self) -> list[Tensor]:
        """The tensors that ever are in memory: constants, then caches, then all others.

        So graphs that differ in other tensors alone find both at the same addresses.
        """
        local = on_chip(self.plan, self.graph)
        kept = [tensor for name, tensor in self.graph.tensors.items() if name not in local]
        return sorted(kept, key=self._place)

    def _place(self, tensor: Tensor) -> int:
        return 0 if tensor.name in self.graph.constants else 1 if tensor.cache else 2


def _chosen(graph: Graph, config: AcceleratorConfig, choices: Choices) -> _Scheduled:
    """By a plan of its own, which is legal."""
    return _planned(graph, decide_graph(graph, config, choices), config)


def _planned(graph: Graph, plan: Plan, config: AcceleratorConfig) -> _Scheduled:
    ops = expand(plan, graph)
    if plan.scheduler == "need":
        ops = schedule_by_need(ops, config, graph.moving)
    else:
        ops = schedule(ops, config, overlap=plan.defer, moving=graph.moving)
    return _Scheduled(with_spills(with_affines(graph, config.dim), plan), plan, ops)


def _predicted(
    scheduled: _Scheduled, config: AcceleratorConfig, timing: MemoryTiming | None
) -> GraphCycles:
    """The expected cycles; a loop takes as long as what it stands for, so none is looked for."""
    alone = isinstance(scheduled.plan.stages[0], ProductStage)
    tokens = not alone or _waits(scheduled)
    compiled = _encoded(scheduled, config, MEMORY_BASE, nests=True, repeats=False, tokens=tokens)
    return predict_graph(compiled, config, timing)


def _waits(scheduled: _Scheduled) -> bool:
    """Whether a load of the program waits for a store."""
    return any(isinstance(each.op, Load) and each.op.after for each in scheduled.ops)


def _encoded_plan(
    scheduled: _Scheduled, config: AcceleratorConfig, base: int, *, reuse: bool = False
) -> CompiledGraph:
    waits = _waits(scheduled)
    repeats = not isinstance(scheduled.plan.stages[0], ProductStage)
    return _encoded(scheduled, config, base, nests=True, repeats=repeats, tokens=waits, reuse=reuse)


def _encoded(
    scheduled: _Scheduled,
    config: AcceleratorConfig,
    base: int,
    *,
    nests: bool,
    repeats: bool,
    tokens: bool = True,
    reuse: bool = False,
) -> CompiledGraph:
    """A program as commands, with addresses of all tensors.

    Nests of products are one command each, and what repeats is written once, if `config` has
    commands for that and loops hold nothing up.
    """
    tensors = scheduled.graph.tensors
    ops = [written.op for written in scheduled.ops]
    memory = None
    if reuse:
        memory = plan_memory(ops, scheduled.graph, scheduled.in_memory, config, base)
        addresses, end = dict(memory.addresses), memory.end
    else:
        addresses, end = place_tensors(scheduled.in_memory, base)
    each = lower_program(ops, config, tensors, addresses, loops=nests, tokens=tokens)
    commands = tuple(each)
    flat = tuple(command for each in commands for command in each)
    repeats = repeats and loops_keep_up(scheduled.graph, config, len(flat))
    return CompiledGraph(
        graph=scheduled.graph,
        plan=scheduled.plan,
        ops=scheduled.ops,
        commands=commands,
        program=compress_loops(flat, config, _starts(scheduled.ops, commands)) if repeats else flat,
        addresses=addresses,
        end=end,
        memory=memory,
    )


def predict_graph(
    compiled: CompiledGraph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> GraphCycles:
    """The cycles that a graph's program is expected to take on a memory."""
    first, *counts = map(len, compiled.commands)
    follower = ProgramFollower(config, timing, compiled.graph.tensors, compiled.addresses)
    follower.line.configure(first)
    for written, count in zip(compiled.ops, counts, strict=True):
        follower.follow(written.op, written.operator, count)
    return follower.result()


def _check_scheduled(scheduled: _Scheduled, config: AcceleratorConfig) -> None:
    """Raise `AssertionError` if the program is not well formed: that is nobody's input."""
    graph = scheduled.graph
    ops = (written.op for written in scheduled.ops)
    try:
        program_verify.verify(
            ops, config, graph.tensors, [*graph.inputs, *graph.constants], graph.appended
        )
    except ValueError as error:
        raise AssertionError(f"graph {graph.name}: lowered to a wrong program: {error}") from error


def _starts(ops: Iterable[Written], commands: Sequence[Sequence[Command]]) -> Iterator[int]:
    """Where the first command of each operator stands, among all `commands`."""
    known: set[str] = set()
    first, *rest = map(len, commands)
    for written, count in zip(ops, rest, strict=True):
        if written.operator not in known:
            known.add(written.operator)
            yield first
        first += count


def _length(command: Command) -> int:
    """Commands that a command that is no loop stands for."""
    if command.funct == Funct.CONFIG_PRODUCTS:
        return 0
    if command.funct != Funct.PRODUCTS:
        return 1
    values = PRODUCTS.decode(command)
    return 2 * values["k"] * values["pieces"] * values["columns"]
