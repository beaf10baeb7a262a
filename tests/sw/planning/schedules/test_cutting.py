"""Extents that are cut: sizes whose last one repeats, blocks of whole tiles, pieces."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.cutting import repeated, split, tensorize, tile
from celosia.sw.planning.schedules.primitives import Split, Tensorize, Tile

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of("x", MatMul(m=40, n=22, k=36))


@pytest.fixture(scope="module")
def plan(graph) -> Plan:
    return decide_graph(graph, TINY)


def only(plan: Plan) -> LinearStage:
    (stage,) = plan.stages
    assert isinstance(stage, LinearStage)
    return stage


def name(plan: Plan) -> str:
    return only(plan).ops[0]


@pytest.mark.parametrize(
    ("sizes", "extent", "cut"),
    [
        ((4,), 12, (4, 4, 4)),
        ((4,), 13, (4, 4, 4, 1)),
        ((4,), 3, (3,)),
        ((8, 4), 16, (8, 4, 4)),
        ((8, 4), 17, (8, 4, 4, 1)),
        ((8, 4), 9, (8, 1)),
        ((1,), 1, (1,)),
    ],
)
def test_the_last_size_repeats_until_all_is_covered(plan, sizes, extent, cut):
    assert repeated(sizes, extent, "rows", only(plan)) == cut


@pytest.mark.parametrize(("sizes", "extent"), [((0,), 5), ((-1, 4), 5), ((5, 4), 5), ((6, 4), 5)])
def test_sizes_that_are_none_or_leave_nothing_for_the_last_are_refused(plan, sizes, extent):
    with pytest.raises(PlanError, match="do not cut 5"):
        repeated(sizes, extent, "rows", only(plan))


def test_a_split_changes_what_it_names_alone(plan, graph):
    before = only(plan)
    found = only(split(plan, Split(op=name(plan), rows=(16, 12)), graph, TINY))
    assert found.rows == (16, 12, 12)
    assert (found.tiles, found.tail) == (before.tiles, ())
    found = only(split(plan, Split(op=name(plan), tiles=(2,)), graph, TINY))
    assert (found.tiles, found.rows) == ((2, 2, 2), before.rows)
    assert split(plan, Split(op=name(plan)), graph, TINY) == plan


@pytest.mark.parametrize(("last", "parts"), [(2, (1, 1)), (3, ())])
def test_parts_stay_if_they_are_those_of_the_last_block_of_columns(plan, graph, last, parts):
    whole = replace(only(plan), tiles=(6,), parts=(1, 1), tail=())
    cut = Split(op=name(plan), tiles=(6 - last, last))
    found = only(split(replace(plan, stages=(whole,)), cut, graph, TINY))
    assert (found.tiles, found.parts) == ((6 - last, last), parts)


@pytest.mark.parametrize("times", [1, 3])
def test_tensorized_blocks_are_whole_multiples_of_the_array(plan, graph, times):
    found = only(tensorize(plan, Tensorize(op=name(plan), times=times), graph, TINY))
    rows = times * TINY.dim
    assert set(found.rows[:-1]) == {rows}
    assert sum(found.rows) == 40
    assert 0 < found.rows[-1] <= rows


def test_less_than_one_array_is_refused(plan, graph):
    with pytest.raises(PlanError, match="0 is less than 1"):
        tensorize(plan, Tensorize(op=name(plan), times=0), graph, TINY)


def test_a_stage_that_has_no_such_cut_says_so(plan, graph):
    with pytest.raises(PlanError, match="linear stages have no keys"):
        split(plan, Split(op=name(plan), keys=(4,)), graph, TINY)


def test_the_first_piece_is_no_longer_than_the_others_unless_it_is_given(plan, graph):
    longer = replace(only(plan), a=replace(only(plan).a, tiles=8, first=5))
    longer = replace(plan, stages=(longer,))
    found = [
        only(tile(longer, Tile(op=name(plan), a=a, first=first), graph, TINY)).a
        for a, first in ((2, 0), (6, 0), (2, 7))
    ]
    assert [(each.tiles, each.first) for each in found] == [(2, 2), (6, 5), (2, 7)]
