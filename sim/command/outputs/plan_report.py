"""What `celosia plan` shows: decisions, predicted cycles, and the alternatives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Hidden, Inline, Key, Named, Record
from celosia.isa.memory import MemoryTiming
from celosia.sim.command.outputs.table_cells import NOTHING, memory_caption, whole
from celosia.sim.profile.operator_groups import add_predicted, group_operators
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.origin import Memory, Origin
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sw.compiler.alternatives import GraphPlan, Rejected, plan_graph, plan_product
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.describe import describe_graph, describe_product
from celosia.sw.planning.forms import plan as forms
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["Plan", "plan_tables", "plan_text", "plan_workload", "planned_program"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One thing that was decided."""

    name: str
    """What was decided."""
    value: str
    """How."""


@dataclass(frozen=True)
class PlannedPart:
    """An operator, or a group of operators."""

    name: str
    """The operator."""
    node: str | None
    """The node of the model's file that it is of, or null."""
    predicted_cycles: int
    """Its share of the predicted cycles."""


@dataclass(frozen=True, kw_only=True)
class PlannedProgram:
    """A program: a graph, or one product."""

    name: str
    """The graph, or the product with its sizes."""
    predicted_cycles: int
    """What the cost model expects."""
    decisions: tuple[Decision, ...]
    """What is decided."""
    parts: Hidden[tuple[tuple[str, int], ...]]
    """Operators by groups, and their predicted cycles."""
    plan: Hidden[forms.Plan]
    """The plan with its tactics, as it is compiled."""
    rejected: tuple[Rejected, ...]
    """The alternatives, each with all else as decided."""
    scaled: Annotated[bool, Named("rejected_are_scaled")] = False
    """Whether these were compared on a part of the graph, and scaled."""
    nodes: Hidden[Mapping[str, str]] = field(default_factory=dict)
    """The nodes of a model's file that operators are of."""

    @Key
    def operators(self) -> list[PlannedPart]:
        """The operators of a graph, by groups; none of one product."""
        return [PlannedPart(name, self.nodes.get(name), cycles) for name, cycles in self.parts]


@dataclass(frozen=True, kw_only=True)
class Plan(Record):
    """What is decided for a workload."""

    schema: Literal["celosia.plan/1"] = "celosia.plan/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    workload: str
    """What is planned."""
    preset: str
    """The name or file that the configuration started from."""
    timing: Memory
    """The memory that it is planned for."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    programs: tuple[PlannedProgram, ...]
    """A graph is one, each product is one."""
    origin: Inline[Origin]

    @Key
    def predicted_cycles(self) -> int:
        """The predicted cycles of all programs, one after the other."""
        return sum(program.predicted_cycles for program in self.programs)


def plan_workload(options: RunOptions, tell: Progress) -> Plan:
    """Decide how the workload of `options` is done.  Raises `InputError` for what cannot be."""
    target = options.target
    job = options.job(tell)
    tell("comparing programs", None)
    try:
        programs = tuple(planned_program(graph, *target.hardware) for graph in job.graphs)
    except ValueError as error:
        raise InputError(str(error)) from error
    if isinstance(job, GraphJob):
        programs = tuple(replace(each, name=options.workload) for each in programs)
    if isinstance(job, ModelJob):
        programs = tuple(
            replace(each, nodes={name: segment.node(name) for name, _ in each.parts})
            for segment, each in zip(job.prepared.model.segments, programs, strict=True)
        )
    return Plan(
        workload=options.workload,
        preset=target.preset_name,
        timing=target.timing,
        config=target.config,
        programs=programs,
        origin=Origin(command_line=options.told.command_line),
    )


def planned_program(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> PlannedProgram:
    """What is decided for a graph: as for a product, where it is cut as one.

    Raises `ValueError` for what the accelerator cannot do.
    """
    try:
        decide(graph, config, timing)
    except PlanError:
        return _graph(graph, config, timing)
    return _product(graph, config, timing)


def _product(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> PlannedProgram:
    op, plan = only_product(graph), plan_product(graph, config, timing)
    return PlannedProgram(
        name=f"{graph.name} {op.out.rows}x{op.out.cols}x{op.a.cols}",
        predicted_cycles=plan.cycles,
        decisions=tuple(Decision(name=a, value=b) for a, b in describe_product(plan.plan, config)),
        parts=(),
        plan=plan.recorded,
        rejected=plan.rejected,
    )


def _graph(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> PlannedProgram:
    plan = plan_graph(graph, config, timing)
    groups = group_operators(plan.compiled.graph, plan.compiled.plan.machine.dim)
    return PlannedProgram(
        name=graph.name,
        predicted_cycles=plan.prediction.cycles,
        decisions=tuple(_decisions(plan)),
        parts=tuple(add_predicted(groups, plan.prediction).items()),
        plan=plan.recorded,
        rejected=plan.rejected,
        scaled=plan.scaled,
    )


def _decisions(plan: GraphPlan) -> Iterator[Decision]:
    graph, choices = plan.compiled.graph, plan.choices
    on_chip = sorted(set(graph.tensors) - set(plan.compiled.addresses))
    for name, value in choices.items():
        yield Decision(name=name, value=str(value))
    if on_chip:
        fused = "scores, softmax and context of each head"
        fused += "; moments of a normalization and the residual sum before it"
        yield Decision(
            name="fused", value=fused if choices.fused_norms else fused.partition(";")[0]
        )
    yield Decision(name="kept on chip", value=", ".join(on_chip) or "nothing")
    yield Decision(
        name="order",
        value="operators, blocks of rows, blocks of columns; heads one after the other, the scores "
        "of a block of rows before the context of the block before it",
    )
    yield Decision(
        name="double-buffered",
        value="sums by halves of the accumulator; pieces of A between two banks, of weights too"
        if choices.overlap
        else "pieces of A between two banks, of weights too",
    )
    for name, value in describe_graph(plan.compiled.plan, graph):
        yield Decision(name=name, value=value)


def plan_text(plan: Plan) -> str:
    """The plans of all programs as text, one behind the other, with their tactics."""
    return "\n".join(print_plan(program.plan) for program in plan.programs)


def plan_tables(plan: Plan) -> Iterator[Table]:
    """A table for each program: what is decided, its operators, and what was rejected."""
    for program in plan.programs:
        table = Table(
            title=f"{program.name} on {plan.preset}: {program.predicted_cycles:,} cycles predicted",
            caption=memory_caption(plan.timing, plan.config),
            title_justify="left",
            caption_justify="left",
        )
        table.add_column("decision", no_wrap=True)
        table.add_column("value", overflow="fold")
        for decision in program.decisions:
            table.add_row(escape(decision.name), escape(decision.value))
        yield table
        if len(program.parts) > 1:
            yield _parts_table(program)
        yield _rejected_table(program)


def _parts_table(program: PlannedProgram) -> Table:
    table = Table(title="Predicted, by operator", title_justify="left")
    table.add_column("operator", overflow="fold")
    if program.nodes:
        table.add_column("node", overflow="fold")
    table.add_column("cycles", justify="right")
    for name, cycles in program.parts:
        nodes = [escape(program.nodes[name])] if program.nodes else []
        table.add_row(escape(name), *nodes, f"{cycles:,}")
    return table


def _rejected_table(program: PlannedProgram) -> Table:
    title = "Rejected, all else as decided"
    if program.scaled:
        title += " (compared on a part of the graph, and scaled)"
    table = Table(title=title, title_justify="left")
    table.add_column("choice", no_wrap=True)
    table.add_column("instead", no_wrap=True)
    for head in ("cycles", "more"):
        table.add_column(head, justify="right")
    table.add_column("", overflow="fold")
    for each in program.rejected:
        more = NOTHING
        if each.cycles is not None:
            more = f"{each.cycles / program.predicted_cycles - 1:+.2%}"
        table.add_row(each.name, each.value, whole(each.cycles), more, escape(each.reason))
    return table
