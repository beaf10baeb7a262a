"""Combinations to operations: two pieces from memory, a transform of them, and its stores."""

from collections.abc import Iterator

from celosia.isa.encoding import float_bits
from celosia.sw.ir.graph import Combination
from celosia.sw.ir.program import Op, Transform
from celosia.sw.planning.extents import even_cuts
from celosia.sw.planning.forms.stages import CombineStage
from celosia.sw.scheduling.moves import Moves

__all__ = ["combined_rows"]


def combined_rows(
    stage: CombineStage, op: Combination, moves: Moves, row: int, rows: int
) -> Iterator[Op]:
    """The operations of some rows of a legal `stage`."""
    for col, cols in even_cuts(op.out.cols, stage.tiles * moves.dim, moves.dim):
        a, b, out = (
            view.part(row=row, rows=rows, col=col, cols=cols) for view in (op.a, op.b, op.out)
        )
        source = yield from moves.load(a, stage.a)
        other = yield from moves.load(b, stage.b)
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
