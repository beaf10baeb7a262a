"""Combinations of two matrices: whole rows where halves are rotated, and what is refused."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.models.cases import multiply_case, rotate_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import CombineStage
from celosia.sw.planning.rules.verify import PlanError, verify_plan

TINY = PRESETS["tiny"].with_values({"normalization": True})


def stage_of(case) -> CombineStage:
    (stage,) = decide_graph(case.graph, TINY).stages
    assert isinstance(stage, CombineStage)
    return stage


def test_rows_that_are_rotated_stay_whole():
    wide = 2 * TINY.dim * TINY.max_blocks
    assert stage_of(rotate_case(40, wide, 0)).tiles == wide // TINY.dim
    assert stage_of(multiply_case(40, wide, 0)).tiles <= TINY.max_blocks
    assert sum(stage_of(rotate_case(41, wide, 0)).rows) == 41


def test_a_rotation_of_a_part_of_a_tile_is_refused():
    with pytest.raises(ValueError, match=r"rotate: .* 6 columns are not a multiple of dim = 4"):
        decide_graph(rotate_case(3, 6, 0).graph, TINY)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"tiles": 3}, "combine-halves"),
        ({"tiles": 0}, "combine-tiles"),
        ({"a": "normalized"}, "ring-apart"),
        ({"rows": (3, 3)}, "rows"),
        ({"b": "halves"}, "ring-space"),
    ],
)
def test_an_illegal_stage_is_refused(changes, rule):
    graph = rotate_case(5, 16, 0).graph
    plan = decide_graph(graph, TINY)
    (stage,) = plan.stages
    with pytest.raises(PlanError, match=rf"^{rule}: stage rotate: "):
        verify_plan(replace(plan, stages=(replace(stage, **changes),)), graph, TINY)
