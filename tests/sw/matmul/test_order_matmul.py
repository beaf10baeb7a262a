"""The order of products and stores."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.tile import Multiply, Store
from celosia.sw.matmul.order_matmul import order_matmul
from celosia.sw.matmul.schedule_matmul import schedule_matmul

BASE = PRESETS["base"]
HALF = BASE.accumulator_rows // 2


def blocks(problem, **changes):
    schedule = replace(schedule_matmul(problem, BASE), **changes)
    return schedule, order_matmul(problem, BASE, schedule)


def tiles(block):
    """(row, column) of the stores of a block."""
    return [(op.row, op.col, op.cols) for op in block if isinstance(op, Store)]


@pytest.mark.parametrize("transposed", [False, True])
def test_each_tile_is_summed_over_k_in_order_and_then_stored(transposed):
    problem = MatMul(m=70, n=90, k=100, b_transposed=transposed)
    _, order = blocks(problem)
    depth = {}
    for op in (op for block in order for op in block):
        if isinstance(op, Multiply):
            assert op.k == depth.get((op.row, op.col), 0)
            depth[op.row, op.col] = op.k + op.depth
            assert (op.a.row, op.a.rows) == (op.row, op.rows)
        else:
            assert all(
                depth.pop((op.row, col)) == problem.k for col in range(op.col, op.col + op.cols, 16)
            )
    assert not depth


def test_blocks_take_turns_between_the_halves_of_the_accumulator():
    _, order = blocks(MatMul(m=256, n=256, k=64), tail=())
    for number, block in enumerate(order):
        rows = [row for op in block for row in (op.at, op.at + op.rows - 1)]
        assert {row // HALF for row in rows} == {number % 2}


def test_small_blocks_take_turns_between_places():
    schedule, order = blocks(MatMul(m=128, n=16, k=16))
    assert schedule.places > 1
    firsts = [block[0].at for block in order[: 2 * schedule.places]]
    assert len(set(firsts)) == len(firsts)


def test_the_outer_loop_is_the_one_of_the_schedule():
    problem = MatMul(m=256, n=256, k=64, scale=1.0)
    schedule, by_rows = blocks(problem, outer="rows", tail=())
    _, by_cols = blocks(problem, outer="cols", tail=())
    assert len(schedule.rows) > 1
    assert len(schedule.cols) > 1
    first, second = (tiles(order[1])[0][:2] for order in (by_rows, by_cols))
    assert first == (0, 16 * schedule.cols[0])
    assert second == (schedule.rows[0], 0)


def test_the_last_block_is_done_in_parts_that_change_halves():
    schedule, order = blocks(MatMul(m=64, n=64, k=64, scale=1.0), cols=(4,), tail=(3, 1))
    halves = {op.col: op.at // HALF for op in order[-1] if isinstance(op, Multiply)}
    assert halves[0] == halves[32] != halves[48]
    assert tiles(order[-1]) == [(48, 0, 48), (48, 48, 16)]
    assert schedule.rows[-1] == 16


def test_pieces_of_transposed_weights_are_rows_of_memory():
    _, order = blocks(MatMul(m=16, n=40, k=128, b_transposed=True))
    pieces = {op.b for block in order for op in block if isinstance(op, Multiply)}
    assert {(piece.rows, piece.cols) for piece in pieces} == {(16, 64), (8, 64)}
