"""Whether a program stores to memory of its own only what nobody waits for any more.

Nothing orders a store behind the loads of what it overwrites but the array, whose products keep
their order: a load is over when a product begins that takes what a transform has made of its rows,
and a store begins when the sums that it takes are those of that product, or of a later one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graphs.tensors import Tensor, View
from celosia.sw.ir.program import (
    Load,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)

__all__ = ["ScratchChecker"]

_NOBODY: Final[frozenset[int]] = frozenset()
_BAND: Final = 32
"""Columns of a tensor whose loads are looked through together."""


class ScratchChecker:
    """Follows loads and stores of scratch tensors through a program, operation by operation."""

    def __init__(self, config: AcceleratorConfig, tensors: Mapping[str, Tensor]):
        self.names = {name for name, tensor in tensors.items() if tensor.scratch}
        self.products = 0
        """Products so far, those of a nest as one."""
        self._summed = np.zeros(config.accumulator_rows, np.int64)
        """The last product that has added to each row of the accumulator."""
        self._mark = np.zeros(config.scratchpad_rows, np.int64)
        """What stands in each row of the scratchpad, by its place in `_loads`."""
        self._loads: list[frozenset[int]] = [_NOBODY]
        """Loads of scratch tensors that rows of the scratchpad were made of."""
        self._over: dict[int, int] = {}
        """The product before which each load is over."""
        self._pending: defaultdict[tuple[str, int], dict[int, View]] = defaultdict(dict)
        """Loads by their numbers, since what was there was stored: of each band of columns."""
        self._numbers = 0

    def take(self, op: Op) -> None:
        """Raises `ValueError` for a store to what a load before it may still wait for."""
        if not self.names:
            return
        match op:
            case Load() if op.to.space is Space.SCRATCHPAD:
                self._load(op)
            case Transform():
                self._transform(op)
            case Products():
                self._product(
                    [
                        op.a + p * op.a_piece + k * op.a_k
                        for p in range(op.pieces)
                        for k in range(op.k)
                    ],
                    [op.c + column * op.c_column for column in range(op.columns)],
                    op.rows,
                )
            case Store() if op.view.tensor in self.names:
                self._store(op)
            case _:
                pass

    def _load(self, op: Load) -> None:
        made = _NOBODY
        if op.view.tensor in self.names:
            self._numbers += 1
            for band in _bands(op.view):
                self._pending[band][self._numbers] = op.view
            made = frozenset((self._numbers,))
        self._put(op.to, made)

    def _put(self, rows: LocalRows, made: frozenset[int]) -> None:
        mark = 0
        if made:
            mark = len(self._loads)
            self._loads.append(made)
        for block in range(rows.blocks):
            first = rows.row + block * rows.pitch
            self._mark[first : first + rows.rows] = mark

    def _made_of(self, first: int, end: int) -> frozenset[int]:
        marks = set(self._mark[first:end].tolist())
        return _NOBODY.union(*(self._loads[mark] for mark in marks))

    def _transform(self, op: Transform) -> None:
        made = _NOBODY
        if op.source.space is Space.SCRATCHPAD:
            made = self._made_of(op.source.row, op.source.end)
        for target in op.targets:
            self._put(target, made)

    def _product(self, a: Sequence[int], c: Sequence[int], rows: int) -> None:
        """Products of tiles of A with these first rows, to sums with these."""
        self.products += 1
        for first in a:
            for load in self._made_of(first, first + rows):
                self._over.setdefault(load, self.products)
        for first in c:
            self._summed[first : first + rows] = self.products

    def _store(self, op: Store) -> None:
        source = op.source
        begins = int(self._summed[source.row : source.end].max())
        for band in _bands(op.view):
            loads = self._pending[band]
            meeting = [load for load, view in loads.items() if view.meets(op.view)]
            for load in meeting:
                over = self._over.get(load, begins + 1) <= begins
                if source.space is not Space.ACCUMULATOR or not over:
                    raise ValueError(f"overwrites {loads[load]}, which may not be loaded yet")
                del loads[load]


def _bands(view: View) -> Iterator[tuple[str, int]]:
    """The bands of columns of a view: those that share an element share one of them."""
    for band in range(view.col // _BAND, (view.col + view.cols - 1) // _BAND + 1):
        yield view.tensor, band
