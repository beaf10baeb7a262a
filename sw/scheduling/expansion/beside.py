"""Rows that the lanes compute, beside the products that read them.

A normalization or a combination of all rows before the first product would have the array wait for
the whole of it.  A block of products reads some rows only: so those of the next block are computed
behind the first columns of this one, and its other columns hide them.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate

from celosia.sw.ir.graph import MatMul, Softmax, View
from celosia.sw.ir.graph import Op as GraphOp
from celosia.sw.ir.program import Op
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.forms.names import rings_in
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.stages import LinearStage, RowsStage
from celosia.sw.scheduling.expansion.expand_linear import product_blocks
from celosia.sw.scheduling.expansion.row_blocks import row_blocks
from celosia.sw.scheduling.moves import Moves

__all__ = ["beside", "may_stand_beside"]

Named = tuple[str, Op]
"""An operation, and before it its operator."""


def may_stand_beside(
    stage: Stage, following: Stage, ops: Mapping[str, GraphOp], plan: Plan
) -> bool:
    """Whether rows of `stage` are all that the blocks of `following` wait for.

    Their rings have no rows in common: what one loads stays while the other is at work.
    """
    if not isinstance(stage, RowsStage) or not isinstance(following, LinearStage):
        return False
    op = ops[following.op]
    # Blocks come by their rows, of each of which no more is needed.
    by_rows = following.outer == "rows" and not following.parts and following.norm is None
    if not by_rows or not isinstance(op, MatMul) or isinstance(op.finish, Softmax):
        return False
    made = ops[stage.ops[0]].results
    # Of B, all rows are needed from the first block on.
    if not any(_same_rows(op.a, view) for view in made) or any(map(op.b.meets, made)):
        return False
    rings, others = rings_in(stage, plan), rings_in(following, plan)
    return not any(plan.rings[a].meets(plan.rings[b]) for a in rings for b in others if a != b)


def beside(
    stage: RowsStage,
    following: LinearStage,
    ops: Mapping[str, GraphOp],
    moves: Moves,
) -> Iterator[Named]:
    """The operations of both stages, each with its operator."""
    op, product = ops[stage.ops[0]], ops[following.op]
    assert isinstance(product, MatMul)
    blocks = row_blocks(stage, op, moves)
    made = 0
    wanted = _wanted(following)
    for columns in product_blocks(following, product, moves):
        need = next(wanted)
        while made < need:
            made, some = next(blocks)
            yield from ((stage.ops[0], each) for each in some)
        yield from ((following.op, each) for each in columns)
    for _, some in blocks:
        yield from ((stage.ops[0], each) for each in some)


def _wanted(stage: LinearStage) -> Iterator[int]:
    """How many rows are there before each block of sums: all of its own, and ever more after it."""
    columns = len(stage.tiles)
    for end, after in zip(accumulate(stage.rows), (*stage.rows[1:], 0), strict=True):
        yield end
        yield from (end + tiles(after * column, columns - 1) for column in range(1, columns))


def _same_rows(one: View, other: View) -> bool:
    return (one.tensor, one.row, one.rows) == (other.tensor, other.row, other.rows)
