"""Rows that pieces take in rings, and what one command can move of them, by hand: dim is 4."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.ir.program import Load, LoadParameters, LocalRows, Space, Store
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.rules.verify import machine_of
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.pieces import Pieces

TYPES = {"b": "int8", "w": "int16", "q": "int32"}
RINGS = {
    "pad": RingPlan(space="scratchpad", spans=((100, 60),)),
    "acc": RingPlan(space="accumulator", spans=((8, 60),)),
    "par": RingPlan(space="parameters", spans=((20, 16),)),
}


@pytest.fixture
def moves() -> Moves:
    config = PRESETS["tiny"]
    tensors = {name: Tensor(name, kind, 40, 80) for name, kind in TYPES.items()}
    graph = Graph(name="g", tensors=tensors, inputs=tuple(TYPES), outputs=(), ops=())
    plan = Plan(graph="g", machine=machine_of(config), rings=RINGS, stages=())
    return Moves(plan, graph, {name: Pieces(ring) for name, ring in RINGS.items()})


def done(generator):
    """All that it yields, and what it returns."""
    found = []
    while True:
        try:
            found.append(next(generator))
        except StopIteration as end:
            return found, end.value


@pytest.mark.parametrize(
    ("view", "ring", "blocks"),
    [
        (View("b", 0, 0, 3, 8), "pad", 2),
        (View("b", 0, 0, 3, 9), "pad", 3),
        (View("w", 0, 0, 3, 8), "pad", 4),
        (View("w", 0, 0, 3, 9), "pad", 5),
        (View("q", 0, 0, 3, 8), "acc", 2),
        (View("q", 0, 0, 3, 9), "acc", 3),
        (View("q", 0, 0, 3, 4), "pad", 4),
    ],
)
def test_a_piece_takes_a_row_in_each_of_its_blocks(view, ring, blocks, moves):
    ops, rows = done(moves.load(view, ring))
    first = RINGS[ring].spans[0][0]
    space = Space.SCRATCHPAD if ring == "pad" else Space.ACCUMULATOR
    assert rows == LocalRows(space, first, 3, blocks, 3)
    assert [op.view for op in ops] == [view]
    # It stays there: nothing is loaded again, and another turn is another piece.
    assert done(moves.load(view, ring)) == ([], rows)
    assert moves.found(view, ring) == rows
    assert len(done(moves.load(view, ring, turn=1))[0]) == 1
    assert moves.found(View("b", 5, 0, 1, 4), ring) is None


def test_what_is_wider_than_a_command_moves_is_moved_in_parts(moves):
    """`tiny` moves 16 blocks at once: of 70 bytes, 64 and 6."""
    view = View("b", 2, 5, 1, 70)
    ops, rows = done(moves.load(view, "pad"))
    assert rows.blocks == 18
    assert ops == [
        Load(View("b", 2, 5, 1, 64), LocalRows(Space.SCRATCHPAD, 100, 1, 16, 1)),
        Load(View("b", 2, 69, 1, 6), LocalRows(Space.SCRATCHPAD, 116, 1, 2, 1)),
    ]
    wide = View("w", 0, 0, 1, 33)
    taken = moves.take(wide, "pad")
    stores = [*moves.store(wide, taken)]
    assert [type(op) for op in stores] == [Store, Store]
    assert [(op.view.col, op.view.cols) for op in stores] == [(0, 32), (32, 1)]


@pytest.mark.parametrize(("cols", "count"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_parameters_take_a_row_for_each_tile(cols, count, moves):
    view = View("q", 0, 0, 1, cols)
    ops, first = done(moves.load_parameters(view, "par"))
    assert first == 20
    assert ops == [LoadParameters(view, LocalRows(Space.PARAMETERS, 20, count, 1, count))]
    _, second = done(moves.load_parameters(View("q", 1, 0, 1, 4), "par"))
    assert second == 20 + count


def test_types_as_transforms_call_them(moves):
    kinds = [moves.element_type(View(name, 0, 0, 1, 1)) for name in "bw"]
    assert len(set(kinds)) == 2
    assert [moves.type(View(name, 0, 0, 1, 1)) for name in "bwq"] == ["int8", "int16", "int32"]
