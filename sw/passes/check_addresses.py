"""What a program reads and writes in memory, held against the tensors of its graph."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import WORD_BITS, Command
from celosia.isa.execution.nests import is_whole
from celosia.isa.operations.loops import unroll
from celosia.isa.operations.operations import Load, LoadParameters, Store
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.operations.semantics import step
from celosia.isa.state.state import ArchState
from celosia.sw.ir.graph import Graph

__all__ = ["check_addresses"]

_ADDRESSES: Final = 1 << WORD_BITS
_Transfer = Load | LoadParameters | Store
"""Operations that touch memory; most of a program's are products."""


def check_addresses(
    program: Sequence[Command],
    config: AcceleratorConfig,
    graph: Graph,
    addresses: dict[str, int],
) -> None:
    """Check that `program` reads tensors of `graph` alone, and writes what operators write alone.

    Of a cache these are the rows that operators write, of other tensors all.  Raises
    `AssertionError`, which names the command, for bytes outside of them, and for a command that
    is not legal.
    """
    readable = _Spans(
        (start, start + graph.tensors[name].bytes) for name, start in addresses.items()
    )
    writable = _Spans(_written(graph, addresses))
    for number, operation in _transfers(program, config):
        spans, what = (writable, "written") if isinstance(operation, Store) else (readable, "read")
        for start, end in _rows(operation):
            if not spans.contain(start, end):
                place = f"command {number}: {start:#x} to {end:#x}"
                raise AssertionError(f"{place} must not be {what}")


def _transfers(
    program: Sequence[Command], config: AcceleratorConfig
) -> Iterator[tuple[int, _Transfer]]:
    """What `program` moves, each with the number of its command, loops expanded."""
    state, number = ArchState.reset(config), 0
    for _, unit in unroll(program, config):
        if isinstance(unit, ProductNest) and is_whole(unit, state, config):
            state = state.preload(unit.last_preload)
            number += len(unit)
            continue
        for command in (unit,) if isinstance(unit, Command) else unit.commands():
            done = step(command, state, config)
            assert not done.cause, f"command {number}: {done.cause.name}"
            state = done.state
            if isinstance(done.operation, _Transfer):
                yield number, done.operation
            number += 1


def _rows(operation: _Transfer) -> Iterator[tuple[int, int]]:
    """The first address and the end of each row in memory; of rows without gaps, of all at once."""
    match operation:
        case LoadParameters():
            yield operation.address, operation.address + operation.count * ACC_BYTES
        case Load() if operation.zero:
            return
        case _:
            width = operation.cols * operation.element_bytes
            if operation.stride == width:
                yield operation.address, operation.address + operation.rows * width
                return
            for row in range(operation.rows):
                start = (operation.address + row * operation.stride) % _ADDRESSES
                yield start, start + width


def _written(graph: Graph, addresses: dict[str, int]) -> Iterator[tuple[int, int]]:
    views = [view for op in graph.ops for view in op.results if view.tensor in addresses]
    for name, parts in groupby(sorted(views, key=lambda view: view.tensor), lambda v: v.tensor):
        tensor, start = graph.tensors[name], addresses[name]
        row_bytes = tensor.bytes // tensor.rows
        rows = {(0, tensor.rows)}
        if tensor.cache:
            rows = {(view.row, view.row + view.rows) for view in parts}
        for first, end in rows:
            yield start + first * row_bytes, start + end * row_bytes


@dataclass(frozen=True, init=False)
class _Spans:
    """Parts of memory; those that meet are one."""

    starts: list[int]
    ends: list[int]

    def __init__(self, spans: Iterable[tuple[int, int]]):
        joined: list[list[int]] = []
        for start, end in sorted(spans):
            if joined and start <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([start, end])
        object.__setattr__(self, "starts", [start for start, _ in joined])
        object.__setattr__(self, "ends", [end for _, end in joined])

    def contain(self, start: int, end: int) -> bool:
        """Whether one of them has all of `start` to `end`."""
        place = bisect_right(self.starts, start) - 1
        return place >= 0 and end <= self.ends[place]
