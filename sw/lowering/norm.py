"""Layer normalization of rows from memory, at once or while products go on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import Graph, LayerNorm, View
from celosia.sw.ir.program import LocalRows, Space, Transform
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.finish import TYPES, norm_settings
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["NormBlock", "Normalizer", "affine_name", "affine_row"]

_RESULTS: Final = 2
"""Results of so many transforms fit into their ring at once."""
_PARAMETER_SHARE: Final = 16
"""Tiles of columns take four rows each; a transform may take a quarter of the parameter memory."""


def affine_name(op: LayerNorm) -> str:
    """The constant that holds gamma and beta of all outputs, as TRANSFORM takes them."""
    return f"{op.name}.affine"


def affine_row(graph: Graph, op: LayerNorm, dim: int) -> NDArray[np.int32]:
    """The value of that constant, one row: for each dim / 2 columns dim of gamma, dim of beta.

    The first output's are in the first half of each dim, the second one's in the other half.
    """
    half = dim // 2
    blocks = tiles(op.source.cols, half)
    packed = np.zeros((blocks, 2, 2, half), np.int32)
    for number, output in enumerate(op.outputs):
        for kind, view in enumerate((output.gamma, output.beta)):
            row = np.zeros(blocks * half, np.int32)
            row[: view.cols] = graph.constants[view.tensor][view.slices][0]
            packed[:, kind, number] = row.reshape(blocks, half)
    return packed.reshape(1, -1)


_STATISTICS_CYCLES: Final = 48
"""Cycles from the last sum of a block of rows to its statistics, for each row: the sum is computed,
then root and reciprocal."""
_ISSUED_AHEAD: Final = 3072
"""Cycles of products that are issued before the array comes to them."""
_TILE_CYCLES: Final = 16
"""Cycles from one transform to the next, for each row and tile of columns: they share banks with
all else."""


@dataclass(frozen=True)
class NormBlock:
    """Rows of a layer normalization."""

    op: LayerNorm
    row: int
    rows: int
    slot: int
    """The slot of the first row's statistics."""

    @property
    def slots(self) -> range:
        """The slots of statistics of the block's rows."""
        return range(self.slot, self.slot + self.rows)

    def part(self, view: View, col: int, cols: int) -> View:
        """Some columns of these rows of the source or an output."""
        return view.part(row=self.row, rows=self.rows, col=col, cols=cols)


class Normalizer:
    """A writer of layer normalizations."""

    def __init__(self, writer: ProgramWriter, places: Places):
        self.writer = writer
        self.places = places
        self.dim = writer.config.dim

    def block_rows(self, op: LayerNorm) -> int:
        """Rows of a block: none of the memories that it needs limits them to fewer."""
        return min(
            self.places.block_rows,
            self._tiles_that_fit(op, 1),
            self.writer.config.statistics_rows // 2,
        )

    def from_memory(self, op: LayerNorm) -> None:
        """All of `op`, a block of rows at a time; loaded once if whole rows fit, else twice."""
        source = op.source
        fit = self.places.words.rows // self.writer.blocks(source)
        most = min(fit or source.rows, self.block_rows(op))
        for row, rows in even_cuts(source.rows, most):
            block = NormBlock(op, row, rows, self.places.next_slots())
            for col, cols in self._chunks(block):
                self._count(block, col, cols, self.places.words)
            for col, cols in self._chunks(block):
                self._normalize(block, col, cols, self.places.words)

    def defer(self, block: NormBlock, *, cycles: int, exposed: bool, last: bool) -> None:
        """Normalize rows whose sums are underway, between later steps; no products follow the last.

        Some columns behind each drain of what comes next, so that all steps between two drains are
        alike; but those whose normalization is `exposed` as soon as they may be.
        Earlier normalizations are written first: statistics are those of two blocks at most.
        """
        self.writer.agenda.write_normalizations()
        # Nobody else needs rows any more behind the last products.
        ring = self.places.words if last else self.places.sums
        delay = block.rows * _STATISTICS_CYCLES + _ISSUED_AHEAD
        whole = delay + block.rows * tiles(block.op.source.cols, self.dim) * _TILE_CYCLES
        for col, cols in self._chunks(block, short=last):
            self.writer.defer(
                lambda col=col, cols=cols: self._normalize(block, col, cols, ring),
                tuple(block.part(output.out, col, cols) for output in block.op.outputs),
                delay=delay + block.rows * col // self.dim * _TILE_CYCLES,
                settling=None if exposed or whole <= cycles else delay,
                slots=block.slots,
            )
        if not self.places.choices.overlap:
            self.writer.agenda.write_all()

    def _chunks(self, block: NormBlock, *, short: bool = True) -> Iterator[tuple[int, int]]:
        """First column and columns of each transform; the results of `short` ones come sooner."""
        fit = self._tiles_that_fit(block.op, block.rows)
        parameters = self.writer.config.parameter_rows // _PARAMETER_SHARE
        blocks = min(parameters, self.writer.config.max_blocks) if short else parameters
        most = self.dim * max(1, min(fit, blocks))
        return even_cuts(block.op.source.cols, most, self.dim)

    def _tiles_that_fit(self, op: LayerNorm, rows: int) -> int:
        """Tiles of columns of `rows` rows of which several results fit into their rings."""
        sizes = [self.writer.element_bytes(output.out) for output in op.outputs]
        source = self.places.sums.rows // (rows * self.writer.element_bytes(op.source))
        results = (
            ring.rows // (_RESULTS * rows * size)
            for ring, size in zip(self._results(op), sizes, strict=True)
        )
        return min(source, *results)

    def _results(self, op: LayerNorm) -> list[Ring]:
        """Where each result goes: two of them never to one ring, which may be full with either."""
        narrow, wide = self.places.bytes, self.places.normalized
        rings = [
            narrow if self.writer.element_bytes(output.out) == 1 else wide for output in op.outputs
        ]
        if len(rings) > 1 and rings[0] is rings[1]:
            rings[1] = wide if rings[0] is narrow else narrow
        return rings

    def _source(self, block: NormBlock, col: int, cols: int, ring: Ring) -> LocalRows:
        """Where some columns of the rows stand."""
        return self.writer.load(block.part(block.op.source, col, cols), ring)

    def _count(self, block: NormBlock, col: int, cols: int, ring: Ring) -> None:
        """The moments of some columns."""
        channels = block.op.source.cols
        start, finish = int(col == 0), int(col + cols == channels)
        self.writer.write(
            Transform(
                function=Function.MOMENTS,
                source=self._source(block, col, cols, ring),
                cols=cols,
                settings={"start": start, "finish": finish, "statistics": block.slot},
                norm=norm_settings(block.op),
            ),
            block.part(block.op.source, col, cols),
        )

    def _normalize(self, block: NormBlock, col: int, cols: int, ring: Ring) -> None:
        """One transform, and its stores."""
        writer, op = self.writer, block.op
        source = self._source(block, col, cols, ring)
        outs = [block.part(output.out, col, cols) for output in op.outputs]
        rings = self._results(op)
        targets = [self._target(*each) for each in zip(outs, rings, strict=True)]
        norm = {
            "parameter_row": writer.load_parameters(
                self._affine(op, col, cols), self.places.affines
            ),
            **norm_settings(op),
            "shift": op.outputs[0].shift,
        }
        settings = {"statistics": block.slot, "type": self._type(outs[0])}
        if len(outs) > 1:
            norm |= {"two": 1, "type2": self._type(outs[1]), "shift2": op.outputs[1].shift}
        writer.write(
            Transform(
                function=Function.LAYERNORM,
                source=source,
                cols=cols,
                targets=tuple(targets),
                settings=settings,
                norm=norm,
            ),
            block.part(op.source, col, cols),
        )
        for out, target in zip(outs, targets, strict=True):
            writer.store(out, target)

    def _affine(self, op: LayerNorm, col: int, cols: int) -> View:
        """Gamma and beta of some columns, as TRANSFORM takes them."""
        half = self.dim // 2
        wide = 2 * self.dim
        return View(affine_name(op), 0, col // half * wide, 1, tiles(cols, half) * wide)

    def _target(self, out: View, ring: Ring) -> LocalRows:
        blocks = self.writer.blocks(out)
        first = ring.take(blocks * out.rows)
        return LocalRows(Space.SCRATCHPAD, first, out.rows, blocks, out.rows)

    def _type(self, out: View) -> int:
        return TYPES[self.writer.tensors[out.tensor].type]
