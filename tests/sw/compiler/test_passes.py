"""Predictions that share what was followed."""

from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph_verify import verify
from celosia.sw.models.cases import matmul_case
from celosia.sw.planning.decisions.decide import ranked
from celosia.sw.planning.forms.plan import only_stage

CONFIG = resolve_config("tiny")
GRAPH = verify(matmul_case(12, 10, 20, 0).graph)
PLAN, *_ = ranked(GRAPH, CONFIG)


def test_plans_of_one_program_are_followed_once():
    stage, known = only_stage(PLAN), {}
    # Pieces of A are a tile along K, so that those of W are no longer, whatever the plan says.
    short = replace(stage, a=replace(stage.a, tiles=1, first=1), w=replace(stage.w, k_tiles=1))
    long = replace(short, w=replace(short.w, k_tiles=2))
    found = [
        predict(GRAPH, CONFIG, replace(PLAN, stages=(each,)), None, known)
        for each in (short, long, short)
    ]
    assert len(known) == 1
    assert found[0] is found[1] is found[2]


@pytest.mark.parametrize("changes", [{"scheduler": "need"}, {"defer": False}, {"spare_tiles": 32}])
def test_what_orders_a_program_is_part_of_it(changes):
    other, known = replace(PLAN, **changes), {}
    assert other != PLAN
    for plan in (PLAN, other):
        assert predict(GRAPH, CONFIG, plan, None, known) == predict(GRAPH, CONFIG, plan)
    assert len(known) == 2
