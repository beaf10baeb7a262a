"""Decisions of a graph's plan as independent choices."""

import random
from collections import Counter
from functools import cache

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.lab.tune.spaces.graph_space import DECIDED, GraphSpace, plan_space
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import (
    encoder_case,
    encoder_layer_case,
    random_quantized_encoder,
    softmax_case,
)
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.planning.schedules.random_schedules import CONFIG, cases

ENCODER = random_quantized_encoder(EncoderShape(layers=2, width=24, heads=2, hidden=40), 0)


@cache
def layer():
    """A layer whose rows are more than one block."""
    return encoder_layer_case(ENCODER, (21,), 0)


@cache
def space():
    return GraphSpace(layer().graph, CONFIG)


def changed(**choices):
    """The plan of the start with some other choices, whose operators are those of layer 0."""
    names = {f"0.{name.replace('_', '.')}": value for name, value in choices.items()}
    assert names.keys() <= space().choices.keys()
    return space().plan({**space().start, **names})


def stage_of(plan, op):
    return next(stage for stage in plan.stages if op in stage.ops)


def test_the_start_is_what_the_compiler_does_by_default():
    assert space().plan(space().start) == decide_graph(layer().graph, CONFIG)
    assert next(space().all()) == space().start
    assert space().size > 10_000


def test_each_kind_of_stage_has_choices_of_its_own():
    names = space().choices.keys()
    kinds = {name.rsplit(".", 1)[0] for name in names if "." in name}
    assert kinds == {"0.query", "0.scores.text0.head0", "0.output", "0.up", "0.down"}
    assert "block_tiles" not in names
    assert space().choices["0.up.block"] == (DECIDED, "4x10", "4x5", "6x10", "6x5")
    assert space().choices["0.scores.text0.head0.rows"] == (DECIDED, 4, 6)
    assert space().choices["0.down.columns"] == (DECIDED, 1, 2, 4)


def test_choices_are_of_all_stages_of_a_kind_and_of_no_other():
    plan, before = changed(query_block="6x5", query_k=2), space().plan(space().start)
    for op in ("0.query", "0.key", "0.value"):
        stage = stage_of(plan, op)
        assert isinstance(stage, LinearStage)
        assert stage.w is not None
        assert (stage.rows, stage.tiles, stage.w.k_tiles) == ((21,), (5, 1), 2)
    assert stage_of(plan, "0.up") == stage_of(before, "0.up")


def test_heads_and_norms_have_choices():
    heads = stage_of(changed(scores_text0_head0_ahead=False), "0.scores.text0.head0")
    assert isinstance(heads, AttentionStage)
    assert heads.ahead == 0
    rows = stage_of(changed(scores_text0_head0_rows=6), "0.scores.text0.head0")
    assert isinstance(rows, AttentionStage)
    assert rows.groups[0].rows == (21,)
    apart = stage_of(changed(down_norm="apart"), "0.down")
    assert isinstance(apart, LinearStage)
    assert apart.norm is None


def test_layers_that_are_alike_have_choices_together():
    whole = GraphSpace(encoder_case(ENCODER, (5,), 0).graph, CONFIG)
    assert not any(name.startswith("1.") for name in whole.choices)
    plan = whole.plan({**whole.start, "0.up.k": 1})
    for op in ("0.up", "1.up"):
        stage = stage_of(plan, op)
        assert isinstance(stage, LinearStage)
        assert stage.w is not None
        assert stage.w.k_tiles == 1


def test_plans_compute_the_same_or_break_a_rule():
    rng, rules = random.Random(4), Counter()
    for _ in range(40):
        chosen = {name: rng.choice(values) for name, values in space().choices.items()}
        try:
            plan = space().plan(chosen)
        except PlanError as error:
            rules[error.rule] += 1
            continue
        rules["legal"] += 1
        compiled = compile_graph(layer().graph, CONFIG, Decide(plan))
        device = FunctionalDevice(CONFIG, memory_bytes=compiled.end - MEMORY_BASE)
        check_device(layer(), device, compiled)
    assert rules["legal"] >= 10, rules
    assert len(rules) > 1


def test_a_product_alone_and_a_graph_without_products_have_spaces():
    assert isinstance(plan_space(cases()[0].graph, CONFIG), PlanSpace)
    rows = plan_space(softmax_case(5, 7, 0).graph, CONFIG)
    assert rows.choices.keys() == {
        "piece_tiles",
        "fused_norms",
        "whole_scores",
        "short_blocks",
        "scores_in_memory",
        "results_stay",
        "overlap",
        "schedule_loads",
    }
    with pytest.raises(ValueError, match="needs a normalization unit"):
        plan_space(layer().graph, resolve_config("gemmini"))


def test_the_nearest_combination_has_the_compilers_choices(monkeypatch):
    where = "celosia.lab.tune.spaces.graph_space.choose"
    chosen = Choices(overlap=False, piece_tiles=2, block_tiles=8)
    monkeypatch.setattr(where, lambda *_: chosen)
    near = space().nearest(MemoryTiming())
    assert near.keys() == space().choices.keys()
    assert (near["overlap"], near["piece_tiles"], near["fused_norms"]) == (False, 2, True)
    own = {name: value for name, value in near.items() if "." in name}
    assert all(value in space().choices[name] for name, value in own.items())
    heights = {
        str(v).partition("x")[0] for n, v in own.items() if n.endswith(".block") and v != DECIDED
    }
    assert heights <= {"8"}
    assert {own[name] for name in own if name.endswith(".k")} == {DECIDED}
