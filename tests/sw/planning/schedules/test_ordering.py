"""Orders of stages and loops, and what is computed together, by hand."""

from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage, NormPlan, NormStage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.ordering import defer, fuse, reorder
from celosia.sw.planning.schedules.primitives import Defer, Fuse, Reorder

BASE = resolve_config("base")
PRODUCT = graph_of("product", MatMul(m=64, n=128, k=64, scale=0.01))
PLAIN = plain_plan(PRODUCT, BASE)
LINEAR = only_stage(PLAIN)


def norm(op: str) -> NormPlan:
    return NormPlan(op=op, tiles=1, source="wide", results=("bytes",), affines="affines")


LINE = replace(
    PLAIN,
    stages=(
        *(replace(LINEAR, op=op) for op in "abcd"),
        NormStage(rows=(64,), norm=norm("n"), slots="s"),
    ),
)


def order(plan):
    return "".join(stage.ops[0] for stage in plan.stages)


@pytest.mark.parametrize(
    ("op", "before", "found"),
    [("a", "c", "bacdn"), ("c", "a", "cabdn"), ("n", "d", "abcnd"), ("a", "b", "abcdn")],
)
def test_a_stage_is_computed_right_before_another(op, before, found):
    assert order(reorder(LINE, Reorder(op=op, before=before), PRODUCT, BASE)) == found


def test_another_loop_is_outermost_in_one_stage():
    plan = reorder(LINE, Reorder(op="b", outer="cols"), PRODUCT, BASE)
    assert [getattr(stage, "outer", "") for stage in plan.stages] == [
        "rows",
        "cols",
        "rows",
        "rows",
        "",
    ]
    assert order(plan) == "abcdn"
    both = reorder(LINE, Reorder(op="b", outer="cols", before="a"), PRODUCT, BASE)
    assert order(both) == "bacdn"
    assert getattr(both.stages[0], "outer", "") == "cols"
    with pytest.raises(PlanError, match="blocks of rows are always outermost in a norm"):
        reorder(LINE, Reorder(op="n", outer="rows"), PRODUCT, BASE)


@pytest.mark.parametrize(
    ("keys", "parts"), [(33, (32, 1)), (48, (32, 16)), (64, (32, 32)), (17, (16, 1))]
)
def test_softmax_apart_takes_two_parts_of_whole_tiles(keys, parts):
    graph = attention_case(1, keys, 16, 1).graph
    plan = plain_plan(graph, BASE)
    op = plan.stages[0].ops[0]
    for together, wanted in ((False, parts), (True, (keys,))):
        step = Fuse(op=op, what="softmax", together=together)
        (stage,) = fuse(plan, step, graph, BASE).stages
        assert isinstance(stage, AttentionStage)
        assert [group.keys for group in stage.groups] == [wanted]


def test_one_tile_of_keys_stays_whole():
    graph = attention_case(1, 16, 16, 1).graph
    plan = plain_plan(graph, BASE)
    op = plan.stages[0].ops[0]
    with pytest.raises(PlanError, match=r"fuse-keys: .*16 keys are one tile, which stays whole"):
        fuse(plan, Fuse(op=op, what="softmax", together=False), graph, BASE)
    with pytest.raises(PlanError, match=r"fuse-kind: .*no norm in a attention"):
        fuse(plan, Fuse(op=op, what="norm"), graph, BASE)


def test_a_norm_joins_the_sums_right_before_it_and_leaves_them():
    ops = {op.name: op for op in PRODUCT.ops}
    graph = replace(PRODUCT, ops=tuple(replace(ops["product"], name=op) for op in "abcdn"))
    together = fuse(LINE, Fuse(op="d", what="norm"), graph, BASE)
    last = together.stages[-1]
    assert order(together) == "abcd"
    assert isinstance(last, LinearStage)
    assert (last.norm, last.slots) == (norm("n"), "s")
    apart = fuse(together, Fuse(op="d", what="norm", together=False), graph, BASE)
    assert [stage.ops for stage in apart.stages] == [("a",), ("b",), ("c",), ("d",), ("n",)]
    assert apart.stages[-1] == NormStage(rows=LINEAR.rows, norm=norm("n"), slots="s")
    assert apart.stages[-2] == LINE.stages[3]
    for plan, op, on, message in (
        (together, "d", True, "its norm is part of it already"),
        (LINE, "c", True, "no norm is computed right behind it"),
        (replace(LINE, stages=LINE.stages[:4]), "d", True, "no norm is computed right behind it"),
        (LINE, "d", False, "no norm is part of it"),
    ):
        with pytest.raises(PlanError, match=f"fuse-norm: stage {op}: {message}"):
            fuse(plan, Fuse(op=op, what="norm", together=on), graph, BASE)


@pytest.mark.parametrize("on", [True, False])
def test_results_of_all_stages_or_contexts_of_one_are_deferred(on):
    assert defer(PLAIN, Defer(on=on), PRODUCT, BASE) == replace(PLAIN, defer=on)
    graph = attention_case(1, 32, 16, 1).graph
    plan = replace(plain_plan(graph, BASE), defer=not on)
    found = defer(plan, Defer(op=plan.stages[0].ops[0], on=on), graph, BASE)
    assert found.defer is not on
    (stage,) = found.stages
    assert isinstance(stage, AttentionStage)
    assert stage.ahead == on
    with pytest.raises(PlanError, match="defer-kind: stage product: linear stages have nothing"):
        defer(PLAIN, Defer(op="product", on=on), PRODUCT, BASE)
