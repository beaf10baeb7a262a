"""What must come before what in a program: by rows of local memories, statistics and tensors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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

_STATISTICS = "statistics"
_ROW_FUNCTIONS = (
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


def dependences(ops: Sequence[Op], dim: int) -> list[tuple[int, ...]]:
    """For each operation, those before it that must stay before it.

    Only the nearest ones are named: others follow from these.
    """
    rows: dict[Space | str, dict[int, _Row]] = {}
    stores: dict[str, list[tuple[View, int]]] = {}
    found: list[tuple[int, ...]] = []
    for index, op in enumerate(ops):
        needs: set[int] = set()
        used = accesses(op, dim)
        for row in _rows(rows, used.reads):
            needs.add(row.writer)
            row.readers.append(index)
        for row in _rows(rows, used.writes):
            needs.update(row.readers or (row.writer,))
            row.writer, row.readers = index, []
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


@dataclass
class _Row:
    """Who has written a row last, and who has read it since."""

    writer: int = -1
    readers: list[int] = field(default_factory=list)


def _rows(known: dict[Space | str, dict[int, _Row]], ranges: Iterable[Range]) -> Iterator[_Row]:
    for space, first, end in ranges:
        memory = known.setdefault(space, {})
        for row in range(first, end):
            if row not in memory:
                memory[row] = _Row()
            yield memory[row]


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
