"""What a plan of a product says about order and places is what its program does."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.program import Load, Products, Store
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.scheduling.expansion.expand import expand

BASE = PRESETS["base"]
DIM, HALF = BASE.dim, BASE.accumulator_rows // 2


def program(problem, **changes):
    """The stage of a plan with `changes`, and its operations in order of meaning."""
    graph = graph_of("product", problem)
    plan = decide(graph, BASE)
    stage = replace(only_stage(plan), **changes)
    plan = verify_plan(replace(plan, stages=(stage,)), graph, BASE)
    return stage, [written.op for written in expand(plan, graph)]


def stores(ops):
    return [op for op in ops if isinstance(op, Store)]


@pytest.mark.parametrize("transposed", [False, True])
def test_each_tile_is_summed_over_k_in_order_and_then_stored(transposed):
    problem = MatMul(m=70, n=90, k=100, b_transposed=transposed)
    _, ops = program(problem)
    depth = {}
    for op in ops:
        if isinstance(op, Products):
            for each in op.each(DIM):
                assert each.accumulate == (each.c in depth)
                assert each.last_depth == DIM or depth[each.c] + each.last_depth == problem.k
                depth[each.c] = depth.get(each.c, 0) + each.last_depth
        elif isinstance(op, Store):
            for block in range(op.source.blocks):
                assert depth.pop(op.source.row + block * op.source.pitch) == problem.k
    assert not depth
    assert sum(op.view.rows * op.view.cols for op in stores(ops)) == problem.m * problem.n


def test_only_the_last_tiles_are_smaller():
    problem = MatMul(m=70, n=90, k=100)
    _, ops = program(problem)
    products = [each for op in ops if isinstance(op, Products) for each in op.each(DIM)]
    assert {each.last_cols for each in products} == {16, 10}
    assert {each.last_depth for each in products} == {16, 4}
    assert sum(each.rows * each.last_cols * each.last_depth for each in products) == problem.macs


def test_blocks_take_turns_between_the_halves_of_the_accumulator():
    stage, ops = program(MatMul(m=256, n=256, k=64), parts=())
    rows = {}
    for op in stores(ops):
        rows.setdefault((op.view.row, op.view.col // DIM // stage.tiles[0]), set()).update((
            op.source.row // HALF,
            (op.source.end - 1) // HALF,
        ))
    assert len(rows) == len(stage.rows) * len(stage.tiles) > 2
    assert list(rows.values()) == [{number % 2} for number in range(len(rows))]


def test_small_blocks_take_turns_within_a_half():
    _, ops = program(MatMul(m=128, n=16, k=16), rows=(16,) * 8, parts=())
    firsts = [op.source.row for op in stores(ops)]
    assert len(set(firsts)) == len(firsts) == 8


def test_the_outer_loop_is_the_one_of_the_plan():
    problem = MatMul(m=256, n=256, k=64, scale=1.0)
    stage, by_rows = program(problem, outer="rows", parts=())
    _, by_cols = program(problem, outer="cols", parts=())
    assert len(stage.rows) > 1
    assert len(stage.tiles) > 1
    first, second = (
        list(dict.fromkeys((op.view.row, op.view.col // DIM // stage.tiles[0]) for op in each))[1]
        for each in (stores(by_rows), stores(by_cols))
    )
    assert first == (0, 1)
    assert second == (stage.rows[0], 0)


def test_the_last_block_is_done_in_parts_that_change_halves():
    problem = MatMul(m=64, n=64, k=64, scale=1.0)
    stage, ops = program(problem, tiles=(4,), parts=(3, 1))
    *_, large, small = stores(ops)
    assert (large.view.row, large.view.col, large.view.cols) == (64 - stage.rows[-1], 0, 48)
    assert (small.view.row, small.view.col, small.view.cols) == (64 - stage.rows[-1], 48, 16)
    assert large.source.row // HALF != small.source.row // HALF


def test_pieces_of_transposed_weights_are_rows_of_memory():
    _, ops = program(MatMul(m=16, n=40, k=128, b_transposed=True))
    views = [op.view for op in ops if isinstance(op, Load) and op.view.tensor == "b"]
    assert {view.shape for view in views} == {(16, 64), (8, 64)}


def test_what_is_kept_is_loaded_once_and_what_is_streamed_for_each_block():
    problem = MatMul(m=256, n=64, k=64, scale=1.0)
    counts, (stage, _) = {}, program(problem, parts=())
    for keep in (True, False):
        stage, ops = program(problem, w=replace(stage.w, keep=keep), parts=())
        views = [op.view for op in ops if isinstance(op, Load) and op.view.tensor == "b"]
        counts[keep] = len(views) / len(set(views))
    assert counts == {True: 1, False: len(stage.rows)}
    assert len(stage.rows) > 1


@pytest.mark.parametrize("keep", [True, False])
def test_only_the_very_first_piece_of_a_is_small(keep):
    """One in each block would be loaded while nothing else can be."""
    problem = MatMul(m=16, n=96, k=128, scale=1.0)
    stage, _ = program(problem, tiles=(2, 2, 2), parts=())
    a = replace(stage.a, tiles=4, first=1, keep=keep)
    _, ops = program(problem, tiles=(2, 2, 2), parts=(), a=a)
    found, blocks = [0, 0, 0], 0
    for op in ops:
        if isinstance(op, Load) and op.view.tensor == "a" and op.view.col == 0:
            found[blocks] += op.view.cols == DIM
        elif isinstance(op, Store):
            blocks += 1
    assert found == [1, 0, 0]
    assert blocks == 3
