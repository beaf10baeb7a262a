"""Normalizations to operations: moments of rows from memory, and the rows normalized by them."""

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import LayerNorm, View
from celosia.sw.ir.program import Op, Transform
from celosia.sw.passes.affines import affine_name
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.stages import NormPlan, NormStage
from celosia.sw.scheduling.moves import Moves

__all__ = ["NormBlock", "norm_settings", "normalized", "normalized_rows"]


@dataclass(frozen=True)
class NormBlock:
    """Rows of a layer normalization."""

    op: LayerNorm
    row: int
    rows: int
    slot: int
    """The slot of the first row's statistics."""

    def part(self, view: View, col: int, cols: int) -> View:
        """Some columns of these rows of the source or an output."""
        return view.part(row=self.row, rows=self.rows, col=col, cols=cols)


def normalized_rows(
    stage: NormStage, op: LayerNorm, moves: Moves, row: int, rows: int
) -> Iterator[Op]:
    """The operations of some rows of a legal `stage`."""
    norm = stage.norm
    slot = moves.rings[stage.slots].take((op.name, row + rows), rows)
    block = NormBlock(op, row, rows, slot)
    for col, cols in _chunks(op, norm, moves.dim):
        source = yield from moves.load(block.part(op.source, col, cols), norm.source)
        start, finish = int(col == 0), int(col + cols == op.source.cols)
        yield Transform(
            function=Function.MOMENTS,
            source=source,
            cols=cols,
            settings={"start": start, "finish": finish, "statistics": slot},
            norm=norm_settings(op),
        )
    yield from normalized(moves, block, norm)


def normalized(moves: Moves, block: NormBlock, norm: NormPlan) -> Iterator[Op]:
    """Normalize rows whose statistics are complete: a transform of some columns, and its stores."""
    op = block.op
    for col, cols in _chunks(op, norm, moves.dim):
        source = yield from moves.load(block.part(op.source, col, cols), norm.source)
        outs = [block.part(output.out, col, cols) for output in op.outputs]
        targets = [moves.take(out, name) for out, name in zip(outs, norm.results, strict=True)]
        types = [moves.element_type(out) for out in outs]
        affine = yield from moves.load_parameters(_affine(op, col, cols, moves.dim), norm.affines)
        settings = {"parameter_row": affine, **norm_settings(op), "shift": op.outputs[0].shift}
        if len(outs) > 1:
            settings |= {"two": 1, "type2": types[1], "shift2": op.outputs[1].shift}
        yield Transform(
            function=Function.LAYERNORM,
            source=source,
            cols=cols,
            targets=tuple(targets),
            settings={"statistics": block.slot, "type": types[0]},
            norm=settings,
        )
        for out, target in zip(outs, targets, strict=True):
            yield from moves.store(out, target)


def _chunks(op: LayerNorm, norm: NormPlan, dim: int) -> Iterator[tuple[int, int]]:
    """First column and columns of each transform."""
    return even_cuts(op.source.cols, dim * norm.tiles, dim)


def _affine(op: LayerNorm, col: int, cols: int, dim: int) -> View:
    """Gamma and beta of some columns, as TRANSFORM takes them."""
    half, wide = dim // 2, 2 * dim
    return View(affine_name(op), 0, col // half * wide, 1, tiles(cols, half) * wide)


def norm_settings(op: LayerNorm) -> dict[str, int]:
    """Fields of CONFIG_NORM that count when the moments of a row are complete."""
    settings = {"channels": op.source.cols}
    if op.epsilon:
        settings["epsilon"] = op.epsilon
    if op.rms:
        settings["rms"] = 1
    return settings
