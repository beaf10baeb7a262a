"""Products of pieces that lie in a ring."""

from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.ir.program import Load, LocalRows, Products, Space
from celosia.sw.planning.forms.plan import Machine, Plan, RingPlan
from celosia.sw.planning.forms.stages import PiecesOfW
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.nests import ProductBlock, products
from celosia.sw.scheduling.pieces import open_rings

DIM = 4
MACHINE = Machine(
    dim=DIM,
    scratchpad_rows=64,
    accumulator_rows=64,
    parameter_rows=8,
    statistics_rows=16,
    max_blocks=4,
    max_accumulator_blocks=1,
)
RINGS = {"w": RingPlan(space="scratchpad", spans=((32, 2 * DIM),), step=1)}
W, OTHER = Tensor("w", "int8", 2 * DIM, DIM), Tensor("other", "int8", DIM, DIM)


def test_a_piece_that_another_one_overwrites_is_loaded_again():
    """The ring has room for two pieces: the second one takes the rows of the first."""
    plan = Plan(graph="g", machine=MACHINE, rings=RINGS, stages=())
    tensors = {each.name: each for each in (W, OTHER)}
    graph = Graph(name="g", tensors=tensors, inputs=(), outputs=(), ops=())
    moves = Moves(plan, graph, open_rings(plan))
    first, second = (W.view().part(row=row, rows=DIM) for row in (0, DIM))
    before = [*moves.load(first, "w"), *moves.load(OTHER.view(), "w")]
    block = ProductBlock(
        a=LocalRows(Space.SCRATCHPAD, 0, DIM, 2, DIM),
        a_unsigned=False,
        w=W.view(),
        w_transposed=False,
        pieces=PiecesOfW(ring="w", k_tiles=1, columns=1, pieces=2),
        c=LocalRows(Space.ACCUMULATOR, 0, DIM, 1, DIM),
    )
    ops = [*before, *products(moves, block)]
    held: dict[int, View] = {}
    for op in ops:
        if isinstance(op, Load):
            held[op.to.row] = op.view
    (nest,) = (op for op in ops if isinstance(op, Products))
    assert [held[nest.w], held[nest.w + nest.w_piece]] == [first, second]
