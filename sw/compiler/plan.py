"""Decisions of the compiler, by predicted cycles: what is chosen, and what the rest would cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.pipeline import (
    CompiledGraph,
    compile_graph,
    predict_choices,
    predict_graph,
    predict_plan,
)
from celosia.sw.compiler.refine import best_plan
from celosia.sw.ir.graph import (
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Sums,
    Transform,
    View,
)
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import (
    Plan,
    ProductStage,
    RejectedTactic,
    Tactic,
    only_stage,
    simple_stages,
)
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.planning.search import product_plans
from celosia.sw.timeline.graphs import GraphCycles

__all__ = [
    "GraphPlan",
    "ProductPlan",
    "Rejected",
    "choices_by_rows",
    "choose",
    "plan_graph",
    "plan_product",
    "probe_graph",
    "product_tiles",
]

SEARCHED_TILES: Final = 8_192
"""Graphs whose probe has more products of tiles take the default choices: they are long ones."""
COMPARED_TILES: Final = 4_096
"""The most products of tiles of a graph whose alternatives are compared on the graph itself; those
of a larger one are compared on the probe, and scaled."""
GAIN: Final = 0.01
"""An alternative must be better by this share: predictions have errors, too."""
_COLUMNS: Final = 192
"""Tiles of columns of the sums in a probe."""
_ALIKE: Final = 2
"""The number of operators of a kind that is enough to compare alternatives."""
_SEARCHED: Final = ("piece_tiles", "block_tiles", "overlap")
"""Choices that depend on sizes."""


@dataclass(frozen=True)
class Rejected:
    """An alternative to one choice, with all others as chosen."""

    name: str
    value: str
    cycles: int | None
    """Predicted; None: it is not possible."""
    reason: str = ""
    """Why it is not possible; empty if it is."""


@dataclass(frozen=True, eq=False)
class GraphPlan:
    """What is decided for a graph."""

    choices: Choices
    compiled: CompiledGraph
    prediction: GraphCycles
    rejected: tuple[Rejected, ...]
    scaled: bool
    """Alternatives were compared on a part of the graph."""

    @property
    def recorded(self) -> Plan:
        """The plan, with the tactics that led to it."""
        chosen = {name: _text(value) for name, value in self.choices.items()}
        plan = self.compiled.plan
        return replace(plan, tactics=_tactics(chosen, self.prediction.cycles, self.rejected))


@dataclass(frozen=True)
class ProductPlan:
    """What is decided for a graph of one product."""

    plan: Plan
    cycles: int
    rejected: tuple[Rejected, ...]

    @property
    def recorded(self) -> Plan:
        """The plan, with the tactics that led to it."""
        stage = only_stage(self.plan)
        chosen = {name: value_of(stage) for name, value_of in _PRODUCT_CHOICES.items()}
        return replace(self.plan, tactics=_tactics(chosen, self.cycles, self.rejected))


def choose(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None) -> Choices:
    """The choices with which `graph` is expected to be fastest, one after the other.

    Only a probe of it is looked at, and if that is long, not even its cycles: the defaults are made
    for these.
    """
    probe = probe_graph(graph, config)
    if _is_much_of(probe, graph, config):
        probe = graph
    chosen = choices_by_rows(graph, config)
    if not config.normalization or product_tiles(probe, config) > SEARCHED_TILES:
        return chosen
    if probe is not graph and _spills(graph, config, chosen):
        return chosen
    best = _cycles(probe, config, timing, chosen)
    if not isinstance(best, int):
        return chosen
    settled: list[str] = []
    """Choices that were compared since another one changed."""
    for name in cycle(_SEARCHED):
        if name in settled:
            return chosen
        before = chosen
        for other, _, choices in before.others():
            if other == name:
                cycles = _cycles(probe, config, timing, choices)
                if isinstance(cycles, int) and cycles < best * (1 - GAIN):
                    chosen, best = choices, cycles
        settled = [*settled, name] if chosen == before else [name]
    raise AssertionError("a cycle ends")


def choices_by_rows(graph: Graph, config: AcceleratorConfig) -> Choices:
    """The choices that follow from how many rows stream through each tile of weights.

    With no more than the array has, a tile serves for no longer than its load takes: loads set the
    pace.  With no more than twice as many, a load that waits for stores may still hold up weights.
    """
    rows = max((op.out.rows for op in graph.ops if isinstance(op, MatMul)), default=config.dim**2)
    return replace(DEFAULT, schedule_loads=rows <= 2 * config.dim)


def _spills(graph: Graph, config: AcceleratorConfig, choices: Choices) -> bool:
    """Whether scores of `graph` wait in memory, which those of a probe with few rows never do."""
    with suppress(ValueError):
        groups = (
            group
            for stage in simple_stages(decide_graph(graph, config, choices))
            if isinstance(stage, AttentionStage)
            for group in stage.groups
        )
        return any(group.spill is not None for group in groups)
    return False


def plan_graph(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> GraphPlan:
    """The plan for `graph`.  Raises `ValueError` for what cannot be done."""
    choices = choose(graph, config, timing)
    compiled = compile_graph(graph, config, choices=choices)
    prediction = predict_graph(compiled, config, timing)
    scaled = product_tiles(graph, config) > COMPARED_TILES
    part = probe_graph(graph, config) if scaled else graph
    base = _cycles(part, config, timing, choices) if scaled else prediction.cycles
    rejected = []
    for name, value, others in choices.others():
        found = _cycles(part, config, timing, others)
        if isinstance(found, str):
            rejected.append(Rejected(name, _text(value), None, found))
        else:
            assert isinstance(base, int)
            rejected.append(Rejected(name, _text(value), found * prediction.cycles // base))
    return GraphPlan(choices, compiled, prediction, tuple(rejected), scaled)


def plan_product(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> ProductPlan:
    """The plan for a product: for each other value of a choice, the cheapest plan with it.

    Raises `PlanError`, a `ValueError`, for what cannot be planned.
    """
    op, chosen = only_product(graph), best_plan(graph, config, timing)
    considered = [
        (predict_stage(op, graph, config, only_stage(plan), timing).cycles, plan)
        for plan in product_plans(op, graph, config)
    ]
    rejected = []
    for name, value_of in _PRODUCT_CHOICES.items():
        for value in dict.fromkeys(value_of(only_stage(plan)) for _, plan in considered):
            if value != value_of(only_stage(chosen)):
                alike = (each for each in considered if value_of(only_stage(each[1])) == value)
                _, best = min(alike, key=lambda each: each[0])
                cycles = predict_plan(graph, best, config, timing).cycles
                rejected.append(Rejected(name, value, cycles))
    return ProductPlan(chosen, predict_plan(graph, chosen, config, timing).cycles, tuple(rejected))


_PRODUCT_CHOICES: Final[Mapping[str, Callable[[ProductStage], str]]] = {
    "block_rows": lambda stage: str(max(stage.rows)),
    "block_tiles": lambda stage: str(max(stage.tiles)),
    "outer": lambda stage: stage.outer,
    "a": lambda stage: "kept" if stage.a.keep else "streamed",
    "b": lambda stage: "kept" if stage.b.keep else "streamed",
    "first_a_tiles": lambda stage: str(stage.a.first),
    "last_block": lambda stage: "in parts" if stage.tail else "at once",
}


def _tactics(
    chosen: Mapping[str, str], cycles: int, rejected: Sequence[Rejected]
) -> tuple[Tactic, ...]:
    """Each choice with its alternatives."""
    return tuple(
        Tactic(
            name=name,
            value=value,
            cycles=cycles,
            rejected=tuple(
                RejectedTactic(value=each.value, cycles=each.cycles or 0, reason=each.reason)
                for each in rejected
                if each.name == name
            ),
        )
        for name, value in chosen.items()
    )


def _cycles(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None, choices: Choices
) -> int | str:
    """The predicted cycles, or why it is not possible."""
    try:
        return predict_choices(graph, config, timing, choices).cycles
    except ValueError as error:
        return str(error)


def _text(value: int | bool) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def product_tiles(graph: Graph, config: AcceleratorConfig) -> int:
    """The number of tiles of weights that rows of `graph` stream through, about."""
    dim, total = config.dim, 0
    for op in graph.ops:
        if isinstance(op, MatMul):
            blocks = -(-op.out.rows // (DEFAULT.block_tiles * dim))
            total += blocks * -(-op.a.cols // dim) * -(-op.out.cols // dim)
    return total


def probe_graph(graph: Graph, config: AcceleratorConfig) -> Graph:
    """A part of `graph` that costs like it: few operators of each kind, and few of their rows.

    It has no meaning: what the operators left out compute is read as if it stood in memory.
    """
    most = 2 * DEFAULT.block_tiles * config.dim
    ops = (_few_rows(op, most) for op in _few_ops(graph.ops))
    return replace(graph, ops=tuple(_few_columns(op, _COLUMNS * config.dim) for op in ops))


def _is_much_of(probe: Graph, graph: Graph, config: AcceleratorConfig) -> bool:
    """Whether a probe takes about as long to look at as the graph, which it only resembles."""
    alike = len(graph.ops) <= 2 * len(probe.ops)
    return alike and product_tiles(graph, config) <= 2 * product_tiles(probe, config)


def _few_ops(ops: tuple[Op, ...]) -> Iterator[Op]:
    """The first few of each kind; operators that belong together stay together."""
    seen: dict[tuple[object, ...], int] = {}
    for op in ops:
        kind = _kind(op)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= _ALIKE:
            yield op


def _kind(op: Op) -> tuple[object, ...]:
    if isinstance(op, LayerNorm):
        return "norm", op.source.rows, op.source.cols, len(op.outputs)
    if isinstance(op, Combine):
        return op.function, op.out.rows, op.out.cols
    finish = type(op.finish)
    if isinstance(op, Transform):
        return "transform", op.out.rows, op.out.cols, finish
    return "product", op.out.rows, op.out.cols, op.a.cols, finish


def _few_rows(op: Op, most: int) -> Op:
    def part(view: View) -> View:
        return view.part(row=0, rows=min(view.rows, most))

    if isinstance(op, LayerNorm):
        outputs = tuple(replace(output, out=part(output.out)) for output in op.outputs)
        return replace(op, source=part(op.source), outputs=outputs)
    if isinstance(op, Combine):
        return replace(op, a=part(op.a), b=part(op.b), out=part(op.out))
    finish = _few_rows_of_finish(op.finish, part)
    if isinstance(op, Transform):
        return replace(op, source=part(op.source), out=part(op.out), finish=finish)
    return replace(op, a=part(op.a), out=part(op.out), finish=finish)


def _few_columns(op: Op, most: int) -> Op:
    """The first columns of sums that leave as they are: a vocabulary's, of which all are alike."""
    if not (isinstance(op, MatMul) and isinstance(op.finish, Sums)) or op.b_transposed or op.bias:
        return op
    cols = min(op.out.cols, most)
    return replace(op, b=op.b.part(col=0, cols=cols), out=op.out.part(col=0, cols=cols))


def _few_rows_of_finish(finish: Finish, part: Callable[[View], View]) -> Finish:
    match finish:
        case AddResidual():
            return replace(finish, residual=part(finish.residual))
        case DeferredSoftmax() | DivideBySums():
            return replace(finish, sums=part(finish.sums))
        case _:
            return finish
