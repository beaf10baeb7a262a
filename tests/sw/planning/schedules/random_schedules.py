"""Random schedules: primitives with random arguments, of which those are kept that are legal."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.sim.workloads.operands import random_operands
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.ir.graph import LayerNorm
from celosia.sw.ir.matmul import MatMul as Problem
from celosia.sw.models.cases import (
    Case,
    attention_case,
    encoder_layer_case,
    matmul_case,
    random_quantized_encoder,
    softmax_case,
)
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules import primitives
from celosia.sw.planning.schedules.apply import apply_steps
from celosia.sw.planning.schedules.roles import rings_of
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["CONFIG", "Drawn", "cases", "draw", "starts"]

CONFIG: AcceleratorConfig = resolve_config("tiny", ("loop_entries=0",))
"""Without loops, which are looked for longer than all else takes."""
_SHAPE = EncoderShape(layers=2, width=24, heads=2, hidden=40)
_ALONE = 2
"""Cases that are a product alone; they come first."""


@cache
def cases() -> tuple[Case, ...]:
    """Two products alone, one with column scales, heads of attention, a softmax and a layer."""
    alone = []
    for problem in (
        Problem(m=14, n=27, k=21, scale=0.02, bias=True),
        Problem(m=21, n=12, k=10, b_transposed=True),
    ):
        operands = random_operands(problem, 3)
        inputs = {"a": operands.a, "b": operands.b}
        if operands.bias is not None:
            inputs["bias"] = operands.bias.reshape(1, -1)
        alone.append(Case(graph_of("product", problem), inputs))
    layer = encoder_layer_case(random_quantized_encoder(_SHAPE, 0), (13,), 0)
    others = [matmul_case(21, 19, 30, 1), attention_case(2, 20, 8, 1), softmax_case(11, 26, 2)]
    return (*alone, *others, layer)


@cache
def starts(number: int) -> tuple[Plan, Plan]:
    """The plain plan of case `number`, and one that the compiler compares with others."""
    graph = cases()[number].graph
    decided = decide(graph, CONFIG) if number < _ALONE else decide_graph(graph, CONFIG)
    return plain_plan(graph, CONFIG), decided


@dataclass(frozen=True)
class Drawn:
    """A legal plan, and how it came about."""

    case: int
    plan: Plan
    steps: tuple[primitives.Primitive, ...]
    refused: Counter[str] = field(default_factory=Counter)
    """How often each rule was broken on the way."""


def draw(random: Random) -> Drawn:
    """A plan after a few legal primitives, on average three."""
    number = random.randrange(len(cases()))
    graph = cases()[number].graph
    plan = random.choice(starts(number))
    steps: list[primitives.Primitive] = []
    refused: Counter[str] = Counter()
    for _ in range(random.randrange(1, 14)):
        step = random.choice(_KINDS)(random, plan, {op.name: op for op in graph.ops})
        try:
            plan = apply_steps(plan, [step], graph, CONFIG)
        except PlanError as error:
            refused[error.rule] += 1
            continue
        steps.append(step)
    return Drawn(number, plan, tuple(steps), refused)


Ops = Mapping[str, Any]


def _op(random: Random, plan: Plan) -> str:
    return random.choice(random.choice(plan.stages).ops)


def _sizes(random: Random, most: int) -> tuple[int, ...]:
    """A list of sizes, some of which fit."""
    return tuple(random.randint(1, max(1, most)) for _ in range(random.choice((1, 1, 2))))


def _tensorize(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    return primitives.Tensorize(op=_op(random, plan), times=random.randint(1, 4))


def _split(random: Random, plan: Plan, ops: Ops) -> primitives.Primitive:
    name, op = random.choice(("rows", "tiles", "keys", "tail")), _op(random, plan)
    extent = 20 if isinstance(ops[op], LayerNorm) else ops[op].out.rows
    sizes = _sizes(random, extent if name == "rows" else 4)
    if name == "keys":
        sizes = tuple(CONFIG.dim * size for size in sizes)
    if name == "tail":
        sizes = random.choice(((), (1, 1), (2, 1), (3, 1)))
    changed: dict[str, Any] = {name: sizes}
    return primitives.Split(op=op, **changed)


def _tile(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    names = random.sample(("k", "columns", "a", "first", "drain"), random.randint(1, 2))
    changed: dict[str, Any] = {name: random.randint(1, 5) for name in names}
    return primitives.Tile(op=_op(random, plan), **changed)


def _reorder(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    op = _op(random, plan)
    if len(plan.stages) == 1:
        return primitives.Reorder(op=op, outer=random.choice(("rows", "cols")))
    index = random.randrange(len(plan.stages) - 1)
    return primitives.Reorder(op=plan.stages[index + 1].ops[0], before=plan.stages[index].ops[0])


def _keep(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    stage = random.choice(plan.stages)
    what = ("keys", "values") if isinstance(stage, AttentionStage) else ("a", "b")
    return primitives.Keep(op=stage.ops[0], what=random.choice(what), on_chip=random.random() < 0.6)


def _fuse(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    op = random.choice(plan.stages).ops[0]
    return primitives.Fuse(
        op=op, what=random.choice(("softmax", "norm")), together=random.random() < 0.5
    )


def _double_buffer(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    stage = random.choice(plan.stages)
    what = random.choice([*rings_of(stage), "turns"])
    return primitives.DoubleBuffer(op=stage.ops[0], what=what, pieces=random.randint(0, 4))


def _place(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    stage, count = random.choice(plan.stages), CONFIG.scratchpad_banks
    banks = random.sample(range(count), random.randint(1, count - 1))
    return primitives.Place(
        op=stage.ops[0], what=random.choice([*rings_of(stage)]), banks=tuple(sorted(banks))
    )


def _defer(random: Random, plan: Plan, _ops: Ops) -> primitives.Primitive:
    heads = [stage.ops[0] for stage in plan.stages if isinstance(stage, AttentionStage)]
    return primitives.Defer(op=random.choice(["", *heads]), on=random.random() < 0.5)


_KINDS: tuple[Callable[[Random, Plan, Ops], primitives.Primitive], ...] = (
    _tensorize,
    _split,
    _tile,
    _reorder,
    _keep,
    _fuse,
    _fuse,
    _double_buffer,
    _place,
    _defer,
)
