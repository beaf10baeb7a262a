"""What must come before what in a program: by rows of local memories, statistics and tensors."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.ir.program_rows import Latest
from celosia.sw.scheduling.stored import Stored

__all__ = ["Accesses", "accesses", "dependences"]

_STATISTICS: Final = "statistics"
_BUCKET: Final = 64
"""Rows whose readers are looked for together."""
_KNOWN: Final = 1 << 14
"""Nests of products whose accesses are kept."""

Reading = tuple[int, int, int]
"""First row, row behind the last, and the operation that reads them."""
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
        case Products():
            return _nest(op, dim)
        case Transform():
            return _transform(op, dim)
        case Store():
            parameters = ((Space.PARAMETERS, a, a + n) for a, n in op.parameter_rows(dim))
            return Accesses((*_blocks(op.source), *parameters))


def dependences(
    ops: Sequence[Op],
    config: AcceleratorConfig,
    moving: Collection[str] = (),
    *,
    by_hardware: bool = False,
) -> list[tuple[int, ...]]:
    """The indices of the operations before each one that must stay before it.

    Only the nearest ones are named, and of the products that read a row since it was written only
    the last: no schedule changes the order of products.  Any load of the tensors `moving` reads
    what was stored to them (`Graph.moving`).  What is stored a second time comes behind the loads
    of what was there, but not `by_hardware`, which would not wait for that.
    """
    known = {
        Space.SCRATCHPAD: _Rows(config.scratchpad_rows),
        Space.ACCUMULATOR: _Rows(config.accumulator_rows),
        Space.PARAMETERS: _Rows(config.parameter_rows),
        _STATISTICS: _Rows(config.statistics_rows),
    }
    stored, loaded = Stored(moving), Stored(moving)
    found: list[tuple[int, ...]] = []
    for index, op in enumerate(ops):
        needs: set[int] = set()
        used = accesses(op, config.dim)
        for space, first, end in used.reads:
            needs.update(known[space].writers(first, end))
        for space, first, end in used.writes:
            needs.update(known[space].write(first, end, index))
        product = isinstance(op, Products)
        for space, first, end in used.reads:
            known[space].read(first, end, index, product=product)
        match op:
            case Load() if op.view.tensor in stored.tensors:
                needs |= stored.numbers(op.view)
                loaded.add(op.view, index)
            case Store():
                needs |= set() if by_hardware else loaded.numbers(op.view)
                stored.add(op.view, index)
            case _:
                pass
        found.append(tuple(sorted(needs - {-1, index})))
    return found


class _Rows:
    """The operations that wrote each row of a memory last, and those that have read it since."""

    def __init__(self, rows: int):
        self._writer = Latest(-1)
        self._product = Latest(-1)
        """The last product that has read a row since; -1: none."""
        self._others: list[list[Reading]] = [[] for _ in range(-(-rows // _BUCKET))]
        """What else has, for some rows each."""

    def writers(self, first: int, end: int) -> list[int]:
        """The operations that wrote these rows last."""
        return self._writer.within(first, end)

    def read(self, first: int, end: int, index: int, *, product: bool) -> None:
        """Operation `index` reads rows."""
        if product:
            self._product.put(first, end, index)
            return
        for bucket in range(first // _BUCKET, -(-end // _BUCKET)):
            self._others[bucket].append((first, end, index))

    def write(self, first: int, end: int, index: int) -> list[int]:
        """Operation `index` writes rows; returns those that wrote them last and have read them."""
        before = self._writer.within(first, end) + self._product.within(first, end)
        self._writer.put(first, end, index)
        self._product.put(first, end, -1)
        for bucket in range(first // _BUCKET, -(-end // _BUCKET)):
            readings = self._others[bucket]
            if not readings:
                continue
            begin, over = bucket * _BUCKET, (bucket + 1) * _BUCKET
            kept: list[Reading] = []
            for reading in readings:
                if reading[0] < end and first < reading[1]:
                    before.append(reading[2])
                if max(reading[0], begin) < first or min(reading[1], over) > end:
                    kept.append(reading)
            self._others[bucket] = kept
        return before


def _blocks(rows: LocalRows) -> Iterator[Range]:
    for block in range(rows.blocks):
        first = rows.row + block * rows.pitch
        yield rows.space, first, first + rows.rows


@lru_cache(_KNOWN)
def _nest(op: Products, dim: int) -> Accesses:
    """The accesses of all products of a nest: neighbors as one range, each range once.

    Pieces stand in the same rows again and again: ten of a program's nests are often equal.
    """
    reads: set[tuple[int, int]] = set()
    for piece, k in product(range(op.pieces), range(op.k)):
        deepest = piece == op.pieces - 1 and k == op.k - 1
        first = op.a + piece * op.a_piece + k * op.a_k
        reads.add((first, first + op.rows))
        depth = op.last_depth if deepest else dim
        whole, last = (op.w_rows(depth, cols, dim) for cols in (dim, op.last_cols))
        first = op.w + piece * op.w_piece + k * op.w_k
        for column in range(op.columns - 1):
            start = first + column * op.w_column
            reads.add((start, start + whole))
        start = first + (op.columns - 1) * op.w_column
        reads.add((start, start + last))
    sums = [op.c + column * op.c_column for column in range(op.columns)]
    writes = _joined(Space.ACCUMULATOR, {(row, row + op.rows) for row in sums})
    read = _joined(Space.SCRATCHPAD, reads)
    return Accesses((*read, *(writes if op.accumulate else ())), writes)


def _joined(space: Space, ranges: set[tuple[int, int]]) -> tuple[Range, ...]:
    """`ranges` of rows, of which those that meet or adjoin are one."""
    joined: list[Range] = []
    for first, end in sorted(ranges):
        if joined and first <= joined[-1][2]:
            joined[-1] = space, joined[-1][1], max(joined[-1][2], end)
        elif first < end:
            joined.append((space, first, end))
    return tuple(joined)


def _transform(op: Transform, dim: int) -> Accesses:
    """The accesses of a transform.  Statistics that it uses count as written: their order stays."""
    reads = [*_blocks(op.source)]
    if op.residual is not None:
        reads += _blocks(op.residual)
    reads += [(Space.PARAMETERS, a, a + n) for a, n in op.parameter_rows(dim)]
    writes = [rows for target in op.targets for rows in _blocks(target)]
    if op.uses_statistics:
        slot = op.settings.get("statistics", 0)
        writes.append((_STATISTICS, slot, slot + op.source.rows))
    return Accesses(tuple(reads), tuple(writes))
