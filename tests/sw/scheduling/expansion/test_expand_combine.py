"""Combinations of two matrices in parts compute what the graph means."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.program import Transform
from celosia.sw.models.cases import multiply_case, rotate_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from tests.support.differences import difference_case
from tests.sw.scheduling.expansions import expanded

TINY = PRESETS["tiny"].with_values({"normalization": True})


@pytest.mark.parametrize(
    ("case", "rows", "tiles", "transforms"),
    [
        (multiply_case(7, 30, 1), (7,), 8, 1),
        (multiply_case(7, 30, 2), (4, 3), 3, 6),
        (rotate_case(7, 24, 3), (3, 3, 1), 6, 3),
        (difference_case(7, 30, 4), (4, 3), 3, 6),
    ],
    ids=["whole", "parts", "rotated", "subtracted"],
)
def test_every_cut_computes_the_same(case, rows, tiles, transforms):
    plan = decide_graph(case.graph, TINY)
    stage = replace(plan.stages[0], rows=rows, tiles=tiles)
    written = expanded(case, TINY, replace(plan, stages=(stage,)))
    assert sum(isinstance(each.op, Transform) for each in written) == transforms
