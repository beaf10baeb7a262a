"""Collects the operations of a program, and puts loads where they hide.

Operators write what they compute, in order; what they need from memory they ask for just before,
and get its local rows.  `ProgramWriter.finish` then moves each load as far ahead as its rows, its
data and the queues allow.  Hazards are the hardware's business: whatever order of operations on
local rows is written here is the order that it keeps.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Multiply,
    Op,
    Space,
    Store,
    Transform,
)
from celosia.sw.lowering.rings import Ring

__all__ = ["ProgramWriter", "Written"]

MAX_LEAD: Final = 8192
"""Cycles of products that a load is issued before its first use, at most."""


@dataclass(frozen=True, slots=True)
class Written:
    """An operation, and the operator of the graph that it belongs to."""

    op: Op
    operator: str


@dataclass(frozen=True, slots=True)
class _PlacedLoad:
    load: Load | LoadParameters
    operator: str
    need: int
    """The step that needs it."""
    free: int
    """The last step that uses its rows before; or -1."""
    stored: int = -1
    """The last step that stores what it reads; or -1."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """Something that may be written later."""

    results: tuple[View, ...]
    write: Callable[[], None]


class ProgramWriter:
    """A program in the making.  Steps are its operations but the loads, counted from 0."""

    def __init__(self, config: AcceleratorConfig, tensors: Mapping[str, Tensor]):
        self.config = config
        self.tensors = tensors
        self.operator = ""
        """The operator that is being written."""
        rows = {
            Space.SCRATCHPAD: config.scratchpad_rows,
            Space.ACCUMULATOR: config.accumulator_rows,
            Space.PARAMETERS: config.parameter_rows,
        }
        self._last_use = {space: np.full(count, -1, np.int64) for space, count in rows.items()}
        self._owner = {space: np.zeros(count, np.int64) for space, count in rows.items()}
        self._serial = 0
        self._pieces: dict[tuple[View, int], tuple[int, LocalRows]] = {}
        """By view and pitch: the latest load of a piece."""
        self._steps: list[Written] = []
        self._loads: list[_PlacedLoad] = []
        self._stored: dict[str, list[tuple[View, int]]] = {}
        self._pending: deque[_Pending] = deque()

    # What operators write.

    def element_bytes(self, view: View) -> int:
        """Size of an element of the view's tensor."""
        return np.dtype(self.tensors[view.tensor].type).itemsize

    def blocks(self, view: View, space: Space = Space.SCRATCHPAD) -> int:
        """Local rows that a row of `view` takes."""
        row_bytes = self.config.dim * (1 if space is Space.SCRATCHPAD else ACC_BYTES)
        return -(-view.cols * self.element_bytes(view) // row_bytes)

    def load(self, view: View, ring: Ring) -> LocalRows:
        """Rows of `ring` that hold `view`; they are loaded unless they still do.

        A row of the tensor becomes a row in each of the piece's blocks.
        """
        key = view, id(ring)
        serial, rows = self._pieces.get(key, (0, None))
        if rows is not None and self._owned(rows, serial):
            return rows
        blocks = self.blocks(view, ring.space)
        rows = LocalRows(ring.space, ring.take(blocks * view.rows), view.rows, blocks, view.rows)
        self._pieces[key] = self._take(rows), rows
        self._load(view, rows)
        return rows

    def load_parameters(self, view: View, ring: Ring) -> int:
        """The first parameter row of those that hold `view`, a row of 32-bit elements."""
        count = -(-view.cols // self.config.dim)
        rows = LocalRows(Space.PARAMETERS, ring.take(count), count, 1, count)
        free = self._free(rows)
        self._take(rows)
        self._place(LoadParameters(view, rows), free)
        return rows.row

    def write(self, op: Multiply | Transform | Store) -> None:
        """The next step."""
        step = len(self._steps)
        for space, first, end in _uses(op, self.config.dim):
            self._last_use[space][first:end] = step
        for rows in _results(op):
            self._take(rows)
        if isinstance(op, Store):
            self._stored.setdefault(op.view.tensor, []).append((op.view, step))
        self._steps.append(Written(op, self.operator))

    def store(self, view: View, source: LocalRows) -> None:
        """Move scratchpad rows to memory, as many blocks at once as a command can."""
        for part, rows in self._parts(view, source):
            self.write(Store(part, rows))

    # What may be written later.

    def defer(self, results: tuple[View, ...], write: Callable[[], None]) -> None:
        """Let `write` be called between later steps; it stores `results`."""
        operator = self.operator

        def write_as_then() -> None:
            now, self.operator = self.operator, operator
            write()
            self.operator = now

        self._pending.append(_Pending(results, write_as_then))

    def trickle(self) -> None:
        """Write the first of what was deferred, if there is anything."""
        if self._pending:
            self._pending.popleft().write()

    def flush(self) -> None:
        """Write all that was deferred."""
        while self._pending:
            self.trickle()

    # The end.

    def finish(self) -> tuple[Written, ...]:
        """All operations in program order."""
        self.flush()
        return tuple(self._interleaved())

    def _interleaved(self) -> Iterator[Written]:
        """Steps and loads: each load in the order of need, as early as it may.

        Not too early, though: the queues run in order, and a load that waits holds up those behind.
        """
        lookahead = max(1, self.config.load_queue * 3 // 4)
        times = np.cumsum([0] + [_cycles(step.op) for step in self._steps])
        stores = np.cumsum([0] + [isinstance(step.op, Store) for step in self._steps])
        loads = self._loads
        needed = issued = 0
        for number, step in enumerate(self._steps):
            while needed < len(loads) and loads[needed].need <= number:
                needed += 1
            while issued < min(len(loads), needed + lookahead):
                placed = loads[issued]
                late = max(placed.free, placed.stored) >= number
                if late or times[placed.need] > times[number] + MAX_LEAD:
                    break
                yield Written(_after(placed, stores), placed.operator)
                issued += 1
            assert issued >= needed, f"{loads[issued].load} waits for its own user"
            yield step

    # Rows, and who has them.

    def _owned(self, rows: LocalRows, serial: int) -> bool:
        return bool((self._owner[rows.space][rows.row : rows.end] == serial).all())

    def _take(self, rows: LocalRows) -> int:
        self._serial += 1
        self._owner[rows.space][rows.row : rows.end] = self._serial
        return self._serial

    def _free(self, rows: LocalRows) -> int:
        return int(self._last_use[rows.space][rows.row : rows.end].max())

    def _load(self, view: View, rows: LocalRows) -> None:
        self._write_results_of(view)
        stored, free = self._step_that_stored(view), self._free(rows)
        for part, to in self._parts(view, rows):
            self._place(Load(part, to), free, stored)

    def _place(self, load: Load | LoadParameters, free: int, stored: int = -1) -> None:
        need = len(self._steps)
        self._loads.append(_PlacedLoad(load, self.operator, need, free, stored))

    def _parts(self, view: View, rows: LocalRows) -> Iterator[tuple[View, LocalRows]]:
        """What one command can move, piece by piece."""
        config, size = self.config, self.element_bytes(view)
        scratchpad = rows.space is Space.SCRATCHPAD
        most = config.max_blocks if scratchpad else config.max_accumulator_blocks
        cols = config.dim * (1 if scratchpad else ACC_BYTES) // size
        for block in range(0, rows.blocks, most):
            count = min(most, rows.blocks - block)
            width = min(count * cols, view.cols - block * cols)
            yield view.part(col=block * cols, cols=width), rows.block(block, count)

    # What is in memory.

    def _write_results_of(self, view: View) -> None:
        """Write what was deferred up to the last that stores elements of `view`."""
        last = max(
            (
                number
                for number, pending in enumerate(self._pending, 1)
                if any(view.meets(result) for result in pending.results)
            ),
            default=0,
        )
        for _ in range(last):
            self.trickle()

    def _step_that_stored(self, view: View) -> int:
        """The last step that stores elements of `view`, or -1."""
        stored = self._stored.get(view.tensor, ())
        return max((step for other, step in stored if view.meets(other)), default=-1)


def _after(placed: _PlacedLoad, stores: np.ndarray) -> Load | LoadParameters:
    """The load, with the number of stores that it comes after."""
    load = placed.load
    if isinstance(load, LoadParameters) or placed.stored < 0:
        return load
    return replace(load, after=int(stores[placed.stored + 1]))


def _cycles(op: Op) -> int:
    """About how long the array works on it."""
    return op.rows if isinstance(op, Multiply) else 0


def _results(op: Op) -> Iterator[LocalRows]:
    match op:
        case Transform():
            yield from op.targets
        case _:
            pass


def _uses(op: Multiply | Transform | Store, dim: int) -> Iterator[tuple[Space, int, int]]:
    """Memory, first row and row behind the last of each range that `op` reads or writes."""
    match op:
        case Multiply():
            yield Space.SCRATCHPAD, op.a, op.a + op.rows
            yield Space.SCRATCHPAD, op.w, op.w + (op.cols if op.w_transposed else op.depth)
            yield Space.ACCUMULATOR, op.c, op.c + op.rows
        case Transform():
            for rows in (op.source, *op.targets, op.residual):
                if rows is not None:
                    yield rows.space, rows.row, rows.end
            for first, count in op.parameter_rows(dim):
                yield Space.PARAMETERS, first, first + count
        case Store():
            yield op.source.space, op.source.row, op.source.end
