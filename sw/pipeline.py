"""The compiler's table of contents: from a problem to commands, pass by pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import PRODUCTS, Command, Funct
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sw.ir import graph_verify, program_verify
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul, MatMulAddresses, verify
from celosia.sw.ir.program import Load
from celosia.sw.ir.schedule import MatMulSchedule
from celosia.sw.ir.tile import TileProgram
from celosia.sw.lowering.choices import DEFAULT, Choices
from celosia.sw.lowering.graph import LoweredGraph, lower_graph
from celosia.sw.lowering.writer import Written
from celosia.sw.matmul.cost import Prediction, predict_matmul
from celosia.sw.matmul.lower_tiles import lower_tiles
from celosia.sw.matmul.order_matmul import order_matmul
from celosia.sw.matmul.place_tiles import place_tiles
from celosia.sw.matmul.schedule_matmul import schedule_matmul
from celosia.sw.passes.compress_loops import compress_loops
from celosia.sw.passes.lower_program import lower_program
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.planning.plan import Plan
from celosia.sw.planning.verify import verify_plan
from celosia.sw.scheduling.expand import expand
from celosia.sw.scheduling.schedule import schedule
from celosia.sw.timeline.graphs import GraphCycles, ProgramFollower
from celosia.sw.timeline.products import follow_tiles

__all__ = [
    "CompiledGraph",
    "CompiledMatMul",
    "compile_graph",
    "compile_matmul",
    "compile_plan",
    "predict_choices",
    "predict_graph",
    "tile_matmul",
]


@dataclass(frozen=True, kw_only=True)
class CompiledMatMul:
    """A product as commands, with the decisions that led to them."""

    problem: MatMul
    addresses: MatMulAddresses
    schedule: MatMulSchedule
    prediction: Prediction
    commands: tuple[Command, ...]


def compile_matmul(
    problem: MatMul,
    addresses: MatMulAddresses,
    config: AcceleratorConfig,
    *,
    timing: MemoryTiming | None = None,
    schedule: MatMulSchedule | None = None,
) -> CompiledMatMul:
    """Commands for `problem` on operands at `addresses`.

    Without a `schedule`, the cheapest one for `config` and the memory's `timing` is chosen.  With
    no more rows than the array, each tile of B is used once, and the commands of a ring compete
    with B for memory: then nests of products are one command each.
    Raises `ValueError` if the problem cannot be computed.
    """
    verify(problem)
    if problem.bias != (addresses.bias is not None):
        raise ValueError(f"bias: the problem says {problem.bias}, its address is {addresses.bias}")
    schedule = schedule or schedule_matmul(problem, config, timing)
    prediction = predict_matmul(problem, config, schedule, timing)
    program = tile_matmul(problem, config, schedule)
    cycles = follow_tiles(program, addresses, timing).cycles
    return CompiledMatMul(
        problem=problem,
        addresses=addresses,
        schedule=schedule,
        prediction=replace(prediction, cycles=cycles),
        commands=lower_tiles(program, addresses, loops=problem.m <= config.dim),
    )


def tile_matmul(
    problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule
) -> TileProgram:
    """`problem` in tiles, as `schedule` says."""
    return place_tiles(problem, config, schedule, order_matmul(problem, config, schedule))


@dataclass(frozen=True, eq=False, kw_only=True)
class CompiledGraph:
    """A graph as commands."""

    graph: Graph
    """With the constants that the program needs beside those of the graph that was compiled."""
    ops: tuple[Written, ...]
    """The operations on local rows, each with the operator that it belongs to."""
    commands: tuple[tuple[Command, ...], ...]
    """Those that the program begins with, then those of each of `ops`; without REPEATs."""
    program: tuple[Command, ...]
    """All commands in order; some of them stand for many (`celosia.isa.operations.loops`)."""
    addresses: dict[str, int]
    """Of every tensor that is ever in memory: operators write all but those on the chip."""
    end: int
    """The first address behind them."""

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
) -> CompiledGraph:
    """Commands for `graph`, whose tensors stand in memory from `base` on.

    With `loops`, the program has those that `config` knows: it is short, and does just the same.
    Raises `ValueError` that names the operator for what is not well formed, or what the
    accelerator cannot do, and `AssertionError` for a mistake of the compiler's own.
    """
    lowered = _lowered(graph_verify.verify(graph), config, choices)
    _check_lowered(lowered, config)
    return _encoded(lowered, config, base, loops=loops)


def predict_choices(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None, choices: Choices
) -> GraphCycles:
    """The cycles that `graph` is expected to take if it is lowered as `choices` say.

    Nothing is verified: a part of a graph is enough, which reads what nobody writes.
    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    lowered = _lowered(graph, config, choices)
    return predict_graph(_encoded(lowered, config, MEMORY_BASE, loops=True), config, timing)


def compile_plan(
    graph: Graph,
    plan: Plan,
    config: AcceleratorConfig,
    base: int = MEMORY_BASE,
    *,
    loops: bool = True,
) -> CompiledGraph:
    """Commands for a verified `graph`, computed as `plan` says.

    Raises `PlanError`, a `ValueError`, that names the rule that the plan breaks.
    """
    verify_plan(plan, graph, config)
    ops = schedule(expand(plan, graph), config)
    lowered = LoweredGraph(graph, ops, frozenset())
    _check_lowered(lowered, config)
    waits = any(isinstance(written.op, Load) and written.op.after for written in ops)
    return _encoded(lowered, config, base, loops=loops, tokens=waits)


def _lowered(graph: Graph, config: AcceleratorConfig, choices: Choices) -> LoweredGraph:
    lowered = lower_graph(graph, config, choices)
    if choices.schedule_loads:
        return replace(lowered, ops=schedule(lowered.ops, config))
    return lowered


def _encoded(
    lowered: LoweredGraph,
    config: AcceleratorConfig,
    base: int,
    *,
    loops: bool,
    tokens: bool = True,
) -> CompiledGraph:
    """A program as commands, with addresses of all tensors."""
    loops = loops and config.loop_entries > 0
    tensors = lowered.graph.tensors
    in_memory = [tensor for name, tensor in tensors.items() if name not in lowered.on_chip]
    addresses, end = place_tensors(in_memory, base)
    ops = [written.op for written in lowered.ops]
    each = lower_program(ops, config, tensors, addresses, loops=loops, tokens=tokens)
    commands = tuple(each)
    flat = tuple(command for each in commands for command in each)
    return CompiledGraph(
        graph=lowered.graph,
        ops=lowered.ops,
        commands=commands,
        program=compress_loops(flat, config, _starts(lowered.ops, commands)) if loops else flat,
        addresses=addresses,
        end=end,
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


def _check_lowered(lowered: LoweredGraph, config: AcceleratorConfig) -> None:
    """Raise `AssertionError` if the program is not well formed: that is nobody's input."""
    graph = lowered.graph
    ops = (written.op for written in lowered.ops)
    try:
        program_verify.verify(ops, config, graph.tensors, [*graph.inputs, *graph.constants])
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
