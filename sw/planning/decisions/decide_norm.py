"""What a plan decides about normalizations: of rows from memory, or of a product's results."""

from dataclasses import dataclass
from typing import Final

from celosia.sw.ir.graph import LayerNorm
from celosia.sw.planning.decisions.decided import Decided
from celosia.sw.planning.extents import even_sizes, tiles
from celosia.sw.planning.forms.stages import NormPlan, NormStage

__all__ = ["NormDecision", "decide_norm"]

_AFFINE_SHARES: Final = 16
"""Tiles of columns take four rows each; a transform may take a quarter of the parameter memory."""


def decide_norm(op: LayerNorm, decided: Decided) -> NormStage:
    """Rows from memory: loaded once if whole rows fit, else twice."""
    norm, places = NormDecision(op, decided), decided.places
    fit = places.rows("words") // (decided.bytes(op.source) * tiles(op.source.cols, decided.dim))
    rows = even_sizes(op.source.rows, min(fit or op.source.rows, norm.rows))
    source = decided.ring_of(op.source, "words")
    return NormStage(rows=rows, norm=norm.plan(max(rows), source, short=True), slots="slots")


@dataclass(frozen=True)
class NormDecision:
    """The decisions for a normalization, wherever its rows come from."""

    op: LayerNorm
    decided: Decided

    @property
    def rows(self) -> int:
        """Rows of a block: none of the memories that it needs limits them to fewer."""
        places = self.decided.places
        return min(places.block_rows, self._tiles_that_fit(1), places.slots)

    def plan(self, rows: int, source: str, *, short: bool) -> NormPlan:
        """The normalization of blocks of so many rows in this ring; its results may stay."""
        for output, ring in zip(self.op.outputs, self._results, strict=True):
            self.decided.stay(output.out, ring)
        return NormPlan(
            op=self.op.name,
            tiles=self.tiles(rows, short=short),
            source=source,
            results=self._results,
            affines="affines",
        )

    def tiles(self, rows: int, *, short: bool) -> int:
        """Tiles of columns of each transform; the results of `short` ones come sooner."""
        config = self.decided.places.config
        most = min(self._tiles_that_fit(rows), config.parameter_rows // _AFFINE_SHARES)
        most = min(most, config.max_blocks) if short else most
        return max(1, min(most, tiles(self.op.source.cols, self.decided.dim)))

    def _tiles_that_fit(self, rows: int) -> int:
        """Tiles of columns of `rows` rows of which several results fit into their rings."""
        decided, places = self.decided, self.decided.places
        source = places.rows(places.added) // (rows * decided.bytes(self.op.source))
        results = (
            places.at_once(ring, rows * decided.bytes(output.out))
            for ring, output in zip(self._results, self.op.outputs, strict=True)
        )
        return min(source, *results)

    @property
    def _results(self) -> tuple[str, ...]:
        """Where each result goes: two of them never to one ring, which may be full with either."""
        rings = self.decided.places.narrow_norms, "normalized"
        first, *more = (int(self.decided.bytes(output.out) > 1) for output in self.op.outputs)
        return rings[first], *(rings[1 - first] for _ in more)
