"""Results that stay in the scratchpad: who finds them there, and who must load them."""

from dataclasses import replace

import pytest

from celosia.sw.ir.graph import Tensor
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.models.cases import matmul_case
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.pieces import open_rings
from tests.sw.scheduling.test_pieces import MACHINE

WIDE, BYTES = Tensor("wide", "int16", 6, 40), Tensor("bytes", "int8", 6, 40)


@pytest.fixture
def moves() -> Moves:
    rings = {"r": RingPlan(space="scratchpad", spans=((10, 50),)),
             "other": RingPlan(space="scratchpad", spans=((60, 4),))}  # fmt: skip
    plan = Plan(graph="g", machine=MACHINE, rings=rings, stages=())
    graph = replace(matmul_case(1, 1, 1, seed=0).graph, tensors={"wide": WIDE, "bytes": BYTES})
    return Moves(plan, graph, open_rings(plan))


def rows(first: int, count: int, blocks: int, pitch: int) -> LocalRows:
    return LocalRows(Space.SCRATCHPAD, first, count, blocks, pitch)


def test_parts_of_a_result_are_found(moves):
    result = BYTES.view().part(row=1, rows=5, col=8, cols=12)
    assert moves.take(result, "r") == rows(10, 5, 3, 5)
    assert moves.found(result, "r") == rows(10, 5, 3, 5)
    assert moves.found(result.part(row=2, rows=2, col=4, cols=8), "r") == rows(17, 2, 2, 5)
    assert moves.found(result.part(col=4, cols=3), "r") == rows(15, 5, 1, 5)


def test_a_view_may_be_of_results_that_follow_each_other(moves):
    for col in (0, 8):
        moves.take(BYTES.view().part(rows=3, col=col, cols=8), "r")
    assert moves.found(BYTES.view().part(rows=3, col=4, cols=12), "r") == rows(13, 3, 3, 3)


def test_blocks_are_of_as_many_elements_as_a_row_holds(moves):
    moves.take(WIDE.view().part(rows=3, cols=8), "r")
    assert moves.found(WIDE.view().part(rows=3, col=2, cols=4), "r") == rows(13, 3, 2, 3)
    assert moves.found(WIDE.view().part(rows=3, col=1, cols=4), "r") is None


def test_what_is_not_whole_is_not_found(moves):
    moves.take(BYTES.view().part(rows=3, cols=8), "r")
    part = BYTES.view().part
    assert moves.found(part(rows=4, cols=8), "r") is None
    assert moves.found(part(rows=3, cols=9), "r") is None
    assert moves.found(part(rows=3, col=2, cols=4), "r") is None, "within a block"
    assert moves.found(part(rows=3, cols=8), "other") is None
    assert moves.found(WIDE.view().part(rows=3, cols=8), "r") is None


def test_a_result_is_gone_when_its_rows_are_taken(moves):
    first = BYTES.view().part(rows=4, cols=8)
    moves.take(first, "r")
    for row in range(6):
        moves.take(BYTES.view().part(row=row, rows=1, col=8, cols=32), "r")
    assert moves.found(first, "r") is None


def test_results_at_unequal_distances_are_not_one_piece(moves):
    for col in (0, 4):
        moves.take(BYTES.view().part(rows=3, col=col, cols=4), "r")
        moves.take(WIDE.view().part(row=col, rows=1, cols=4 + col), "r")
    moves.take(BYTES.view().part(rows=3, col=8, cols=4), "r")
    assert moves.found(BYTES.view().part(rows=3, cols=8), "r") == rows(10, 3, 2, 5)
    assert moves.found(BYTES.view().part(rows=3, cols=12), "r") is None
