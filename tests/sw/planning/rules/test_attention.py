"""Plans of heads of attention that are refused, with the rule that they break."""

from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import DeferredSoftmax, MatMul
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.planning.edits import with_field
from tests.sw.planning.forms.test_groups import chained

TINY = resolve_config("tiny")
GRAPH = attention_case(2, 20, 8, seed=1).graph
PLAN = decide_graph(GRAPH, TINY)
GROUP = "stages.0.groups.0."


@pytest.mark.parametrize(
    ("rule", "path", "value"),
    [
        ("stages", GROUP + "heads", ()),
        ("order", GROUP + "heads", (PLAN.stages[0].ops[1::-1], PLAN.stages[0].ops[2:])),
        ("rows", GROUP + "rows", (8, 8)),
        ("keys", GROUP + "keys", (8, 8)),
        ("keys-tiles", GROUP + "keys", (10, 10)),
        ("turns", GROUP + "queries", ("queries even",)),
        ("turns", GROUP + "numerators", ("numerators even",)),
        ("turns", "stages.0.ahead", 2),
        ("w-tiles", GROUP + "k.k_tiles", 0),
        ("w-fits", "rings.values.spans", ((3072, 8),)),
        ("a-fits", "rings.queries even.spans", ((1536, 4),)),
        ("scores-fit", "rings.scores.spans", ((0, 10),)),
        ("contexts-fit", "rings.contexts.spans", ((256, 1),)),
        ("numerators-fit", "rings.numerators odd.spans", ((2048, 10),)),
        ("exponents", GROUP + "exponents", 0),
        ("slots-fit", "rings.slots.spans", ((0, 40),)),
        ("drain", GROUP + "drain.by", "mvout"),
        ("parameters", GROUP + "drain.parameters", "columns"),
        ("ring-apart", "rings.values.spans", ((1030, 512),)),
        ("ring-apart", GROUP + "k.ring", "queries even"),
        ("ring-apart", GROUP + "scores", "contexts"),
        ("ring-apart", GROUP + "numerators", ("numerators even", "numerators even")),
        ("ring-apart", GROUP + "drain.results", "numerators odd"),
    ],
)
def test_an_illegal_plan_is_refused_with_its_rule(rule, path, value):
    with pytest.raises(PlanError, match=f"^{rule}: "):
        verify_plan(with_field(PLAN, path, value), GRAPH, TINY)


LONG = attention_case(2, 60, 8, seed=1).graph
SHORT = resolve_config("tiny").with_values({"accumulator_kib": 1})
SPILLED = decide_graph(LONG, SHORT, Choices(whole_scores=False))


@pytest.mark.parametrize(
    ("rule", "path", "value"),
    [
        ("spill-fits", "rings.scores back.spans", ((512, 20),)),
        ("spill-blocks", GROUP + "spill.blocks", 2),
        ("slots-fit", "rings.slots of heads.spans", ((0, 16), (16, 16))),
        ("ring-space", GROUP + "spill.ring", "scores"),
        ("ring-apart", GROUP + "spill.ring", "weights"),
        ("ring-apart", GROUP + "spill.ring", "numerators odd"),
        ("ring-apart", GROUP + "spill.ring", "queries even"),
        ("ring-apart", GROUP + "spill.ring", "contexts out"),
    ],
)
def test_a_plan_whose_scores_wait_in_memory_has_rules_of_its_own(rule, path, value):
    with pytest.raises(PlanError, match=f"^{rule}: "):
        verify_plan(with_field(SPILLED, path, value), LONG, SHORT)


def test_scores_do_not_wait_where_no_store_makes_int16_of_them():
    config = SHORT.with_values({"bert": True})
    with pytest.raises(PlanError, match=r"^spill: .* no store makes int16"):
        verify_plan(SPILLED, LONG, config)
    (stage,) = decide_graph(LONG, config, Choices(whole_scores=False)).stages
    assert isinstance(stage, AttentionStage)
    assert stage.groups[0].spill is None


def test_scores_do_not_wait_where_they_are_not_int16():
    ops = tuple(
        replace(op, finish=replace(op.finish, stored=False))
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
        else op
        for op in LONG.ops
    )
    graph = replace(LONG, ops=ops)
    with pytest.raises(PlanError, match=r"^spill-stored: .*scores\.head0 wait in memory, but"):
        verify_plan(SPILLED, graph, SHORT)
    (stage,) = decide_graph(graph, SHORT, Choices(whole_scores=False)).stages
    assert isinstance(stage, AttentionStage)
    assert stage.groups[0].spill is None


def test_a_stage_without_heads_is_refused():
    with pytest.raises(PlanError, match=r"^stages: "):
        verify_plan(with_field(PLAN, "stages.0.groups", ()), GRAPH, TINY)


def test_products_that_are_no_head_are_refused():
    model = random_quantized_encoder(EncoderShape(layers=2, width=16, heads=2, hidden=32), 0)
    graph = encoder_layer_case(model, [20], 0).graph
    plan, (stage,) = decide_graph(graph, TINY), PLAN.stages
    rings = {**PLAN.rings, **plan.rings}
    stage = with_field(stage, "groups.0.heads", (("0.query", "0.key"),))
    stages = (stage, *plan.stages[2:])
    with pytest.raises(PlanError, match=r"^heads: .*0\.query and 0\.key are no head"):
        verify_plan(replace(plan, rings=rings, stages=stages), graph, TINY)


def test_heads_of_one_stage_do_not_read_each_other():
    graph = chained(reads_before=True)
    plan = decide_graph(graph, TINY)
    first, second = plan.stages
    assert isinstance(first, AttentionStage)
    assert isinstance(second, AttentionStage)
    both = replace(first, groups=(*first.groups, *second.groups))
    with pytest.raises(PlanError, match=r"^heads-read: .*scores1 reads another head's context"):
        verify_plan(replace(plan, stages=(both,)), graph, TINY)


def test_a_head_reads_the_context_of_none_that_comes_before_it():
    """The third of three heads reads the second one's context, which is not the first."""
    graph = chained(reads_before=True, alone=1)
    plan = decide_graph(graph, TINY)
    groups = [g for stage in plan.stages if isinstance(stage, AttentionStage) for g in stage.groups]
    together = with_field(plan.stages[0], "groups", tuple(groups))
    with pytest.raises(PlanError, match=r"^heads-read: .*scores2 reads another head's context"):
        verify_plan(replace(plan, stages=(together,)), graph, TINY)
