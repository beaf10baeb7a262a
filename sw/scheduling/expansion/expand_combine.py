"""Combinations to operations: two pieces from memory, a transform of them, and its stores."""

from collections.abc import Iterator
from itertools import accumulate

from celosia.isa.encoding import float_bits
from celosia.sw.ir.graph import Combination
from celosia.sw.ir.program import Op, Transform
from celosia.sw.planning.extents import even_cuts
from celosia.sw.planning.forms.stages import CombineStage
from celosia.sw.scheduling.moves import Moves

__all__ = ["combine_blocks", "expand_combine"]


def expand_combine(stage: CombineStage, op: Combination, moves: Moves) -> Iterator[Op]:
    """The operations of a legal `stage`."""
    for _, block in combine_blocks(stage, op, moves):
        yield from block


def combine_blocks(
    stage: CombineStage, op: Combination, moves: Moves
) -> Iterator[tuple[int, Iterator[Op]]]:
    """The operations of each block of rows, and how many rows are complete behind it."""
    for end, rows in zip(accumulate(stage.rows), stage.rows, strict=True):
        yield end, _block(stage, op, moves, end - rows, rows)


def _block(stage: CombineStage, op: Combination, moves: Moves, row: int, rows: int) -> Iterator[Op]:
    for col, cols in even_cuts(op.out.cols, stage.tiles * moves.dim, moves.dim):
        part = {"row": row, "rows": rows, "col": col, "cols": cols}
        source = yield from moves.load(op.a.part(**part), stage.a)
        other = yield from moves.load(op.b.part(**part), stage.b)
        out = op.out.part(**part)
        target = moves.take(out, stage.results)
        yield Transform(
            function=op.instruction,
            source=source,
            cols=cols,
            targets=(target,),
            residual=other,
            settings={
                "type": moves.element_type(out),
                "zero_point": op.zero_point,
                **{name: float_bits(scale) for name, scale in op.scales.items()},
            },
        )
        yield from moves.store(out, target)
