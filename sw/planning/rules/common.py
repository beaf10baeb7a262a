"""What the rules of all kinds of stages have in common: cuts of extents, and rows of rings.

A rule is its name, whether it holds, and what is wrong if it does not.  Rules come in an order in
which each may rely on those before it: whoever checks them stops at the first that does not hold.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, View
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import PiecesOfW

__all__ = ["MAX_ROWS", "SHARES", "Rule", "StageRules"]

Rule = tuple[str, bool, str]

MAX_ROWS: Final = 4096
"""Rows of the tallest block: pitches are 16-bit fields."""
SHARES: Final = 3
"""Two pieces of up to so large a share of a span stay in it together, wherever the first stands."""


class StageRules:
    """Makes the rules of the stages of a plan."""

    def __init__(self, plan: Plan, graph: Graph, config: AcceleratorConfig):
        self.plan = plan
        self.machine = plan.machine
        self.graph = graph
        self.config = config

    def tiles(self, cols: int) -> int:
        """Tiles that cover so many columns."""
        return -(-cols // self.machine.dim)

    def type(self, view: View) -> str:
        """The type of its elements."""
        return self.graph.tensors[view.tensor].type

    def blocks(self, view: View, tiles: int) -> int:
        """Scratchpad rows that a row of so many tiles of `view` takes."""
        return self.graph.tensors[view.tensor].element_bytes * tiles

    def given(self, views: Iterable[View | None], *, inputs: bool) -> Iterator[Rule]:
        """Parameters are loaded whenever there is room for them: so nothing computes them."""
        known = {*self.graph.constants, *(self.graph.inputs if inputs else ())}
        for view in views:
            yield "given", view is None or view.tensor in known, f"{view} is no constant"

    def cut(self, rule: str, parts: tuple[int, ...], whole: int) -> Iterator[Rule]:
        """Parts are a cut of the whole extent."""
        legal = bool(parts) and min(parts) > 0 and sum(parts) == whole
        yield rule, legal, f"parts {parts} are not a cut of {whole}"

    def block_rows(self, rows: tuple[int, ...], whole: int) -> Iterator[Rule]:
        """The rows of blocks are a cut of all, and none is too tall."""
        yield from self.cut("rows", rows, whole)
        most = max(rows)
        yield "rows-most", most <= MAX_ROWS, f"a block of {most} rows is taller than {MAX_ROWS}"

    def fits(
        self, rule: str, name: str, space: str, rows: int, *, pieces: int = 1, shares: int = 0
    ) -> Iterator[Rule]:
        """Ring `name` in `space` holds so many pieces of `rows` rows at once.

        Those that share a span take so many `shares` of it, if more than the pieces.
        """
        ring = self.plan.rings.get(name)
        yield "ring", ring is not None, f"there is no ring {name!r}"
        assert ring is not None
        yield "ring-space", ring.space == space, f"ring {name} is in {ring.space}, not in {space}"
        shares = 1 if len(ring.spans) >= pieces else max(pieces, shares)
        text = f"{shares} x {rows} rows do not fit into a span of {ring.least} of ring {name}"
        yield rule, ring.taken(rows) * shares <= ring.least, text

    def parameters(self, ring: str, kinds: int, tiles: int) -> Iterator[Rule]:
        """Parameters of so many kinds, for so many tiles of columns, stand in a ring together."""
        if kinds:
            yield from self.fits(
                "parameters-fit", ring, "parameters", tiles, pieces=kinds, shares=SHARES
            )

    def pieces(self, w: PiecesOfW, depth: int, *, transposed: bool) -> Iterator[Rule]:
        """Pieces of W are moved at once, and those of a nest stand in their ring together."""
        yield "w-pieces", w.pieces in (1, 2), f"{w.pieces} pieces of a nest are not 1 or 2"
        wide = w.k_tiles if transposed else w.columns
        legal = w.k_tiles > 0 and w.columns > 0 and wide <= self.machine.max_blocks
        most = self.machine.max_blocks
        yield "w-tiles", legal, f"{w.k_tiles} x {w.columns} tiles, but a load moves {most} at once"
        tall = self.machine.dim * (w.columns if transposed else w.k_tiles)
        yield "w-tall", tall <= MAX_ROWS, f"a piece of {tall} rows is taller than {MAX_ROWS}"
        along, count = self.nest(w, depth)
        rows = along * w.columns * self.machine.dim
        yield from self.fits("w-fits", w.ring, "scratchpad", rows, pieces=count)

    def pieces_of_a(self, ring: str, w: PiecesOfW, depth: int, rows: int) -> Iterator[Rule]:
        """Pieces of A of a nest stand in their ring together."""
        along, count = self.nest(w, depth)
        yield from self.fits("a-fits", ring, "scratchpad", rows * along, pieces=count)

    def nest(self, w: PiecesOfW, depth: int) -> tuple[int, int]:
        """Tiles of K of the longest piece, and pieces, of a nest of a product of this depth."""
        tiles = min(self.tiles(depth), w.k_tiles * w.pieces)
        return -(-tiles // w.pieces), min(w.pieces, tiles)

    def apart(self, *roles: Iterable[str]) -> Iterator[Rule]:
        """Rings of different roles have no row in common."""
        for ones, others in combinations(map(tuple, roles), 2):
            for one, other in product(ones, others):
                meet = self.plan.rings[one].meets(self.plan.rings[other])
                yield "ring-apart", not meet, f"rings {one} and {other} have rows in common"
