"""Blocks of rows that the lanes compute, by the kind of their stage."""

from collections.abc import Callable, Iterator, Mapping

from celosia.sw.ir.graph import Op as GraphOp
from celosia.sw.ir.program import Op
from celosia.sw.planning.extents import in_order
from celosia.sw.planning.forms.stages import CombineStage, NormStage, RowsStage
from celosia.sw.scheduling.expansion.expand_combine import combined_rows
from celosia.sw.scheduling.expansion.expand_norm import normalized_rows
from celosia.sw.scheduling.moves import Moves

__all__ = ["row_blocks"]

_ROWS: Mapping[type, Callable[..., Iterator[Op]]] = {
    NormStage: normalized_rows,
    CombineStage: combined_rows,
}
"""The operations of some rows of the operator of a stage: which is the first, and how many."""


def row_blocks(stage: RowsStage, op: GraphOp, moves: Moves) -> Iterator[tuple[int, Iterator[Op]]]:
    """The operations of each block of a legal `stage`, and how many rows are complete behind it."""
    for row, rows in in_order(stage.rows):
        yield row + rows, _ROWS[type(stage)](stage, op, moves, row, rows)
