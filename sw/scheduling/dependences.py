"""What must come before what in a program: by rows of local memories, statistics and tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Function
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Multiply,
    Op,
    Products,
    Space,
    Store,
    Transform,
)

__all__ = ["Accesses", "accesses", "dependences"]

_STATISTICS: Final = "statistics"
_ROW_FUNCTIONS: Final = (
    Function.MAXIMUM,
    Function.SUM,
    Function.EXPONENT,
    Function.PROBABILITY,
    Function.CONTEXT,
    Function.MOMENTS,
    Function.LAYERNORM,
)
"""Functions that use the statistics of rows, whatever their settings."""

Range = tuple[Space | str, int, int]
"""A local memory (or the statistics), first row and row behind the last."""


@dataclass(frozen=True)
class Accesses:
    """The local rows that an operation reads and writes."""

    reads: tuple[Range, ...] = ()
    writes: tuple[Range, ...] = ()


def accesses(op: Op, dim: int) -> Accesses:
    """What `op` does to local rows: no fewer than it does, and little more."""
    match op:
        case Load() | LoadParameters():
            return Accesses(writes=tuple(_blocks(op.to)))
        case Multiply():
            reads, sums = tuple(_operands(op)), (Space.ACCUMULATOR, op.c, op.c + op.rows)
            return Accesses((*reads, *([sums] if op.accumulate else [])), (sums,))
        case Products():
            return _nest(op, dim)
        case Transform():
            return _transform(op, dim)
        case Store():
            parameters = ((Space.PARAMETERS, a, a + n) for a, n in op.parameter_rows(dim))
            return Accesses((*_blocks(op.source), *parameters))


def dependences(ops: Sequence[Op], config: AcceleratorConfig) -> list[tuple[int, ...]]:
    """For each operation, those before it that must stay before it.

    Only the nearest ones are named, and of those that read a row since it was written only the
    last: no schedule changes the order of operations that read local rows.
    """
    known = {
        Space.SCRATCHPAD: _Rows(config.scratchpad_rows),
        Space.ACCUMULATOR: _Rows(config.accumulator_rows),
        Space.PARAMETERS: _Rows(config.parameter_rows),
        _STATISTICS: _Rows(config.statistics_rows),
    }
    stores: dict[str, list[tuple[View, int]]] = {}
    found: list[tuple[int, ...]] = []
    for index, op in enumerate(ops):
        needs: set[int] = set()
        used = accesses(op, config.dim)
        for space, first, end in used.reads:
            needs |= known[space].writers(first, end)
        for space, first, end in used.writes:
            needs |= known[space].write(first, end, index)
        for space, first, end in used.reads:
            known[space].read(first, end, index)
        match op:
            case Load():
                written = stores.get(op.view.tensor, ())
                needs.update(store for view, store in written if view.meets(op.view))
            case Store():
                stores.setdefault(op.view.tensor, []).append((op.view, index))
            case _:
                pass
        found.append(tuple(sorted(needs - {-1, index})))
    return found


class _Rows:
    """Who has written each row of a memory last, and who has read it last since; -1: nobody."""

    def __init__(self, rows: int):
        self._writer = np.full(rows, -1, np.int64)
        self._reader = np.full(rows, -1, np.int64)

    def writers(self, first: int, end: int) -> set[int]:
        """Whose these rows are."""
        return set(self._writer[first:end].tolist())

    def read(self, first: int, end: int, index: int) -> None:
        """Operation `index` reads rows."""
        self._reader[first:end] = index

    def write(self, first: int, end: int, index: int) -> set[int]:
        """Operation `index` writes rows; returns who has written and who has read them."""
        before = {*self._writer[first:end].tolist(), *self._reader[first:end].tolist()}
        self._writer[first:end], self._reader[first:end] = index, -1
        return before


def _blocks(rows: LocalRows) -> Iterator[Range]:
    for block in range(rows.blocks):
        first = rows.row + block * rows.pitch
        yield rows.space, first, first + rows.rows


def _operands(op: Multiply) -> Iterator[Range]:
    yield Space.SCRATCHPAD, op.a, op.a + op.rows
    yield Space.SCRATCHPAD, op.w, op.w + (op.cols if op.w_transposed else op.depth)


def _nest(op: Products, dim: int) -> Accesses:
    """Of all products of a nest, each range once."""
    reads: dict[Range, None] = {}
    writes: dict[Range, None] = {}
    for each in op.each(dim):
        reads.update(dict.fromkeys(_operands(each)))
        writes[Space.ACCUMULATOR, each.c, each.c + each.rows] = None
    return Accesses((*reads, *(writes if op.accumulate else ())), tuple(writes))


def _transform(op: Transform, dim: int) -> Accesses:
    """Statistics count as written by whoever uses them: their order stays."""
    reads = [*_blocks(op.source)]
    if op.residual is not None:
        reads += _blocks(op.residual)
    reads += [(Space.PARAMETERS, a, a + n) for a, n in op.parameter_rows(dim)]
    writes = [rows for target in op.targets for rows in _blocks(target)]
    if op.function in _ROW_FUNCTIONS or op.settings.get("moments"):
        slot = op.settings.get("statistics", 0)
        writes.append((_STATISTICS, slot, slot + op.source.rows))
    return Accesses(tuple(reads), tuple(writes))
