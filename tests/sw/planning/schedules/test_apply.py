"""Primitives: what each changes, and the rule that refuses it."""

import re

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.fluent import Schedule
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.compiler.starts import plain_plan, scheduled_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage, NormStage
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.primitives import ScheduleFile, Split
from celosia.sw.planning.schedules.text import parse_schedule, print_schedule
from celosia.sw.reference.encoder import EncoderShape

BASE = resolve_config("base")
TINY = resolve_config("tiny")
PRODUCT = graph_of("product", MatMul(m=64, n=128, k=64, scale=0.01))
HEADS = attention_case(2, 64, 32, 1).graph
LAYER = encoder_layer_case(
    random_quantized_encoder(EncoderShape(layers=2, width=24, heads=2, hidden=40), 0), (13,), 0
).graph


@pytest.fixture
def product() -> Schedule:
    return Schedule(plain_plan(PRODUCT, BASE), PRODUCT, BASE)


@pytest.fixture
def heads() -> Schedule:
    return Schedule(plain_plan(HEADS, BASE), HEADS, BASE)


@pytest.fixture
def layer() -> Schedule:
    return Schedule(decide_graph(LAYER, TINY), LAYER, TINY)


def cycles(schedule: Schedule) -> int:
    return predict(schedule.graph, schedule.config, schedule.plan).cycles


def test_a_product_gets_faster_step_by_step(product):
    """Tensorizing is worth the most; pieces of their own hide what loads take."""
    tall = product.tensorize("product", times=4)
    pieces = tall.tile("product", k=4, a=4, first=1).split("product", tiles=(8,))
    kept = pieces.tile("product", columns=2, drain=4).keep("product", "b")
    kept = kept.double_buffer("product", "b", 0)
    hidden = kept.double_buffer("product", "a").double_buffer("product", "sums")
    found = [cycles(each) for each in (product, tall, pieces, kept, hidden)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 10 * found[1]
    assert found[-2] > 1.08 * found[-1]


def test_blocks_of_a_product(product):
    stage = only_stage(product.split("product", rows=(8, 30), tiles=(5,)).plan)
    assert stage.rows == (8, 30, 26)
    assert stage.tiles == (5, 3)
    stage = only_stage(product.split("product", tiles=(8,), tail=(6, 2)).plan)
    assert stage.parts == (6, 2)
    assert only_stage(product.reorder("product", outer="cols").plan).outer == "cols"


def test_rings_are_cut_and_placed(product):
    plan = product.place("product", "b", (3,)).place("product", "a", (0, 2)).plan
    assert plan.rings["a"].spans == ((0, 4096), (8192, 4096))
    plan = product.double_buffer("product", "b", 4).plan
    assert plan.rings["b"].spans == tuple((8192 + turn * 2048, 2048) for turn in range(4))
    assert plan.rings["b"].step == 2048


def test_a_stage_gets_rings_of_its_own(layer):
    first, second = (stage.ops[0] for stage in layer.plan.stages[:2])
    plan = layer.place(first, "b", (0,)).plan
    assert plan.rings[f"weights of {first}"].spans == ((0, TINY.scratchpad_bank_rows),)
    assert plan.rings["weights"] == layer.plan.rings["weights"]
    assert second not in plan.rings


def test_heads_of_attention(heads):
    op = heads.plan.stages[0].ops[0]
    whole = heads.double_buffer(op, "scores", 1).tensorize(op, 2).fuse(op, "softmax")
    ahead = whole.keep(op, "keys").keep(op, "values").double_buffer(op, "turns").defer(op)
    (stage,) = ahead.plan.stages
    assert isinstance(stage, AttentionStage)
    (group,) = stage.groups
    assert stage.ahead == 1
    assert (group.rows, group.keys) == ((32, 32), (64,))
    assert (group.k.ring, group.v.ring) == ("keys", "values")
    assert len(set(group.queries)) == len(set(group.numerators)) == 2
    assert cycles(ahead) < cycles(whole) < cycles(heads)


def test_a_norm_is_part_of_its_sums_or_a_stage_of_its_own(layer):
    op = next(s.op for s in layer.plan.stages if isinstance(s, LinearStage) and s.norm)
    apart = layer.fuse(op, "norm", together=False)
    assert sum(isinstance(stage, NormStage) for stage in apart.plan.stages) == 1
    again = apart.fuse(op, "norm")
    assert [stage.ops for stage in again.plan.stages] == [s.ops for s in layer.plan.stages]


def test_independent_operators_change_places(layer):
    first, second = (stage.ops[0] for stage in layer.plan.stages[:2])
    plan = layer.reorder(second, before=first).plan
    assert [stage.ops[0] for stage in plan.stages[:2]] == [second, first]
    with pytest.raises(PlanError, match=r"^order: step 1, reorder: "):
        layer.reorder(layer.plan.stages[-1].ops[0], before=first)


def test_steps_are_kept_as_they_were_taken(product):
    found = product.tensorize("product", times=2).keep("product", "a")
    text = print_schedule(ScheduleFile(start="plain", steps=found.steps))
    assert parse_schedule(text) == ScheduleFile(start="plain", steps=found.steps)
    assert scheduled_plan(parse_schedule(text), PRODUCT, BASE) == found.plan
    assert parse_plan(print_plan(found.plan)) == found.plan
    assert scheduled_plan(ScheduleFile(steps=()), PRODUCT, BASE) == find_plan(PRODUCT, BASE)


def _apart(product: Schedule) -> Schedule:
    """One ring in two places."""
    placed = product.place("product", "b", (3,)).place("product", "a", (0, 2))
    return placed.double_buffer("product", "a")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda s: s.tensorize("nobody"), "step-stage: step 1, tensorize: nobody: no stage"),
        (lambda s: s.tensorize("product", 0), "tensorize-times: "),
        (lambda s: s.split("product", rows=(100, 28, 4)), "split-sizes: step 1, split: stage"),
        (
            lambda s: s.split("product", keys=(16,)),
            "step-kind: step 1, split: stage product: linear st",
        ),
        (lambda s: s.split("product", tail=(1, 1)), "parts: step 1, split: stage product: parts"),
        (lambda s: s.tile("product", a=5), "a-tiles: step 1, tile: stage product: first 1"),
        (lambda s: s.keep("product", "keys"), "keep-kind: "),
        (lambda s: s.fuse("product", "softmax"), "fuse-kind: "),
        (lambda s: s.double_buffer("product", "c"), "step-role: step 1, double_buffer: stage pro"),
        (lambda s: s.double_buffer("product", "queries"), "buffer-turns: "),
        (lambda s: s.double_buffer("product", "a", -1), "buffer-pieces: "),
        (_apart, "buffer-area: step 1, double_buffer: ring a: spans ((0, 4096), (8192, 4096))"),
        (lambda s: s.place("product", "a", (4,)), "place-banks: "),
        (lambda s: s.place("product", "sums", (0,)), "place-space: "),
        (lambda s: s.place("product", "a", (0, 3)), "ring-apart: "),
        (lambda s: s.defer("product"), "defer-kind: "),
    ],
)
def test_what_is_illegal_is_refused_with_its_rule(product, step, message):
    with pytest.raises(PlanError, match="^" + re.escape(message)):
        step(product)


def test_a_later_step_is_named_by_its_number():
    steps = (Split(op="product", rows=(64,)), Split(op="product", tiles=(8,)), Split(op="x"))
    with pytest.raises(PlanError, match=r"^step-stage: step 3, split: x: no stage computes it"):
        scheduled_plan(ScheduleFile(start="plain", steps=steps), PRODUCT, BASE)
