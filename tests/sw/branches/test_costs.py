"""What blocks take beside each other, against bytes and cycles that are counted by hand."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.branches.blocks import Block, blocks_of
from celosia.sw.branches.candidates import candidates
from celosia.sw.branches.compose import _composed, _Composer, follow, plan_of_stages
from celosia.sw.branches.costs import Costs, Together
from celosia.sw.branches.shares import share_of
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.planning.forms.stages import LinearStage

BASE = resolve_config("base")
TIMING = MemoryTiming(bytes_per_cycle=8)


def products(count, out="int8"):
    """Products of 16 rows, 32 deep and 16 wide, with a bias and scales of columns."""
    builder = GraphBuilder("products")
    for number in range(count):
        a = builder.input(Tensor(f"a{number}", "int8", 16, 32))
        b = builder.input(Tensor(f"b{number}", "int8", 32, 16))
        bias = builder.input(Tensor(f"bias{number}", "int32", 1, 16))
        scale = builder.constant(f"scale{number}", np.full((1, 16), 0.01, np.float32))
        c = builder.tensor(Tensor(f"c{number}", out, 16, 16))
        builder.matmul(f"product{number}", c, a, b, Requantize(scale), bias=bias)
    return builder.finish(*(f"c{number}" for number in range(count)))


@pytest.mark.parametrize(("out", "written"), [("int8", 256), ("int16", 512)])
def test_a_block_reads_and_writes_its_tensors_once_each_in_its_own_bytes(out, written):
    graph = products(1, out)
    (block,) = blocks_of(graph)
    cost = Costs(graph, BASE, TIMING).of(block, 4)
    assert cost is not None
    array, reads, writes, _ = cost.busy
    assert reads == (16 * 32 + 32 * 16 + 4 * 16 + 4 * 16) / 8
    assert writes == written / 8
    assert array >= 2 * 16  # 16 rows pass two tiles of weights.
    assert cost.cycles > max(cost.busy)


def test_branches_take_no_less_than_the_longest_of_them_does_alone():
    """Two short products wait for memory most of the time: no unit is busy for long."""
    graph = products(2)
    costs = Costs(graph, BASE, TIMING)
    first, second = blocks_of(graph)
    found = costs.together([[first], [second]])
    assert found is not None
    alone = [cost.cycles for each in (first, second) if (cost := costs.of(each, 2))]
    assert len(alone) == 2
    assert max(alone) <= found.cycles <= sum(alone)


def test_what_the_timeline_says_stands_in_the_place_of_what_units_do():
    """Products that are alike are one: what is known of two of them is known of the other two."""
    graph = products(4)
    costs = Costs(graph, BASE, TIMING)
    blocks = blocks_of(graph)
    pair, other = ([[a], [b]] for a, b in (blocks[:2], blocks[2:]))
    expected = costs.together(pair)
    assert expected is not None
    assert not costs.is_followed(pair, expected.quarters)
    for quarters in ((2, 2), (3, 1), (1, 3)):
        costs.learn(pair, quarters, 10_000 + quarters[0])
    assert costs.is_followed(other, expected.quarters)
    assert costs.together(other) == costs.together(pair) == Together(10_001, (1, 3))


def test_branches_that_nobody_has_followed_take_as_much_longer_as_those_that_are_known():
    graph = products(3)
    costs = Costs(graph, BASE, TIMING)
    blocks = blocks_of(graph)
    three, two = [[block] for block in blocks], [[block] for block in blocks[:2]]
    before = costs.together(three)
    assert before is not None
    costs.learn(two, (2, 2), 1e6)
    after = costs.together(three)
    assert after is not None
    assert after.cycles > 100 * before.cycles
    assert replace(costs, only_followed=True).together(three) is None
    assert replace(costs, only_followed=True).together(two) == Together(1e6, (2, 2))


def test_following_a_stage_is_the_timeline_of_its_composed_program():
    graph = products(2)
    costs = Costs(graph, BASE, TIMING)
    first, second = blocks_of(graph)
    stages = [((first,), (second,))]
    while follow(stages, costs):
        pass
    plan = plan_of_stages(stages, costs)
    found = costs.together(stages[0])
    assert found is not None
    assert found.cycles == predict(graph, BASE, plan, TIMING).cycles
    alone = [((first,),), ((second,),)]
    assert not follow(alone, costs)  # Nothing is beside anything.


def test_beside_others_a_block_of_sums_may_have_all_of_the_accumulators_share():
    """Half of the accumulator has 512 rows: 64 rows of 4 tiles twice, or of 8 tiles once."""
    builder = GraphBuilder("long")
    a = builder.input(Tensor("a", "int8", 64, 384))
    b = builder.input(Tensor("b", "int8", 384, 384))
    c = builder.tensor(Tensor("c", "int8", 64, 384))
    builder.matmul("long", c, a, b, Requantize(0.01))
    graph = builder.finish("c")
    share = share_of(BASE, 2)
    most = [
        max(stage.rows) * max(stage.tiles)
        for plan in candidates(graph, share)
        for stage in plan.stages
        if isinstance(stage, LinearStage)
    ]
    assert share.accumulator_rows == 512
    assert max(most) == 512
    whole = [
        max(stage.rows) * max(stage.tiles)
        for plan in candidates(graph, BASE)
        for stage in plan.stages
        if isinstance(stage, LinearStage)
    ]
    assert max(whole) == 512  # Alone, one half is drained while the other is summed up.


def test_blocks_of_what_others_overwrite_or_read_beforehand_keep_their_order():
    """A reader of rows that are written again, and a second writer of the same rows."""
    builder = GraphBuilder("again")
    a = builder.input(Tensor("a", "int8", 16, 16))
    w = builder.input(Tensor("w", "int8", 16, 16))
    c, d = (builder.tensor(Tensor(name, "int8", 16, 16)) for name in "cd")
    builder.matmul("write", c, a, w, Requantize(0.01))
    builder.matmul("read", d, c, w, Requantize(0.01))
    graph = builder.finish("d")
    first, second = blocks_of(graph)
    assert (first.needs, second.needs) == (frozenset(), {0})
    swapped = blocks_of(replace(graph, ops=tuple(reversed(graph.ops))))
    assert [each.needs for each in swapped] == [frozenset(), {0}]


def test_stages_of_a_block_are_expected_to_take_its_cycles_together():
    """Two products that are alike: one half each."""
    graph = products(2)
    costs = Costs(graph, BASE, TIMING)
    both = Block(0, graph.ops, frozenset())
    cost = costs.of(both, 2)
    assert cost is not None
    branch = _Composer(costs)._branch([both], 0, 2)
    assert branch.cycles == (cost.cycles // 2,) * 2


def test_stages_are_composed_for_both_schedulers():
    graph = products(2)
    first, second = blocks_of(graph)
    plans = _composed(graph, [((first,), (second,))], Costs(graph, BASE, TIMING))
    assert [plan.scheduler for plan in plans] == ["regular", "need"]
