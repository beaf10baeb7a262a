"""Loads, stores, and the rows of rings that pieces take: what the stages of a graph share."""

from collections.abc import Generator, Hashable, Iterator
from typing import Final

from celosia.isa.config import ACC_BYTES
from celosia.isa.encoding import WeightType
from celosia.isa.functions.types import DTYPES
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.program import Load, LoadParameters, LocalRows, Op, Space, Store
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.scheduling.pieces import Pieces
from celosia.sw.scheduling.results import Results

__all__ = ["Loading", "Moves"]

_TYPES: Final = {dtype.name: kind for kind, dtype in DTYPES.items()}
"""The types of tensors that transforms write, by their names."""

Loading = Generator[Op, None, LocalRows]
"""The loads of a piece, if it has to be loaded; it returns the piece's rows."""


class Moves:
    """The rings of a plan, and what moves pieces of a graph's tensors to and from them.

    A row of a tensor becomes a row in each of the piece's blocks, which follow each other.
    """

    def __init__(self, plan: Plan, graph: Graph, rings: dict[str, Pieces]):
        self.machine = plan.machine
        self.dim = plan.machine.dim
        self.rings = rings
        self.taken = 0
        """How many times a piece or a result took rows of a ring."""
        self._tensors = graph.tensors
        self._results = Results(rings, graph.tensors, plan.machine.dim)

    def type(self, view: View) -> str:
        """The type of the view's elements."""
        return self._tensors[view.tensor].type

    def packing(self, view: View) -> WeightType:
        """The type that the view's elements have as weights."""
        return self._tensors[view.tensor].packing

    def element_type(self, view: View) -> int:
        """What transforms call that type."""
        return _TYPES[self.type(view)]

    def found(self, view: View, ring: str, turn: int | None = None) -> LocalRows | None:
        """The rows of a ring that hold `view`: as results on their way, or from an earlier load.

        That load is one of this `turn`, if there are any.
        """
        row = self.rings[ring].find(_key(view, turn))
        return self._results.find(view, ring) if row is None else self._place(view, ring, row)

    def load(self, view: View, ring: str, turn: int | None = None) -> Loading:
        """Load `view`, unless the ring still holds it, since this `turn` if there are any."""
        if (known := self.found(view, ring, turn)) is not None:
            return known
        rows = self._take(view, ring, _key(view, turn))
        yield from self.fill(view, rows)
        return rows

    def fill(self, view: View, rows: LocalRows) -> Iterator[Op]:
        """Load `view` to local rows that somebody has taken."""
        for part, to in self._commands(view, rows):
            yield Load(part, to)

    def take(self, view: View, ring: str) -> LocalRows:
        """Rows of a ring for a result, which stay there until others take them."""
        return self._take(view, ring, self._results.add(view, ring))

    def _take(self, view: View, ring: str, key: Hashable) -> LocalRows:
        rows = self._blocks(view, self.rings[ring].space) * self._rows(view)
        self.taken += 1
        return self._place(view, ring, self.rings[ring].take(key, rows))

    def sums(
        self, ring: str, key: Hashable, rows: int, blocks: int, turn: int | None = None
    ) -> LocalRows:
        """So many blocks of rows of a ring, of the span of this `turn` or whose turn it is."""
        pieces = self.rings[ring]
        return LocalRows(pieces.space, pieces.take(key, rows * blocks, turn), rows, blocks, rows)

    def load_parameters(self, view: View, ring: str) -> Generator[Op, None, int]:
        """Load `view`, a row of 32-bit elements; returns the first of its parameter rows."""
        count = -(-view.cols // self.dim)
        first = self.rings[ring].take(view, count)
        yield LoadParameters(view, LocalRows(Space.PARAMETERS, first, count, 1, count))
        return first

    def store(self, view: View, source: LocalRows) -> Iterator[Op]:
        """Move local rows to memory."""
        for part, rows in self._commands(view, source):
            yield Store(part, rows)

    def _place(self, view: View, ring: str, row: int) -> LocalRows:
        space = self.rings[ring].space
        rows = self._rows(view)
        return LocalRows(space, row, rows, self._blocks(view, space), rows)

    def _rows(self, view: View) -> int:
        """Local rows of each block."""
        return self._tensors[view.tensor].rows_of(view.rows)

    def _blocks(self, view: View, space: Space) -> int:
        size = self._tensors[view.tensor].element_bytes
        return -(-view.cols * size // self._row_bytes(space))

    def _row_bytes(self, space: Space) -> int:
        return self.dim * (1 if space is Space.SCRATCHPAD else ACC_BYTES)

    def _commands(self, view: View, rows: LocalRows) -> Iterator[tuple[View, LocalRows]]:
        """What one command can move, piece by piece."""
        scratchpad = rows.space is Space.SCRATCHPAD
        most = self.machine.max_blocks if scratchpad else self.machine.max_accumulator_blocks
        size, row_bytes = self._tensors[view.tensor].element_bytes, self._row_bytes(rows.space)
        for block in range(0, rows.blocks, most):
            count = min(most, rows.blocks - block)
            # A row of two bytes holds no whole int32, but as many rows as move at once do.
            col = block * row_bytes // size
            width = min(count * row_bytes // size, view.cols - col)
            yield view.part(col=col, cols=width), rows.block(block, count)


def _key(view: View, turn: int | None) -> Hashable:
    """What a piece is called in its ring."""
    return view if turn is None else (view, turn)
