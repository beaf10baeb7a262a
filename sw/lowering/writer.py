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
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.lowering.agenda import Agenda, Item
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.statistics import Statistics

__all__ = ["ProgramWriter", "Written"]

MAX_LEAD: Final = 4096
"""Cycles of products that a load is issued before its first use, at most."""
LEAD_NESTS: Final = 3
"""The most nests of products that a load is issued ahead of its first use, where nests are long.
More would overflow the queue of loads, and loads would then issue at irregular points, which
defeats the compression of loops."""
LONG_NEST: Final = 1024
"""Cycles of a nest whose loads take far less time than it does itself."""
SETTLING: Final = 4096
"""Cycles of products after a store before its data are loaded, if they can wait: whatever waits at
the head of the queue of loads holds up those behind."""


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
        self._statistics = Statistics()
        self._serial = 0
        self._pieces: dict[tuple[View, Ring], tuple[int, LocalRows]] = {}
        """The serial number and local rows of the latest load of each piece, by view and ring."""
        self._steps: list[Written] = []
        self._loads: list[_PlacedLoad] = []
        self._stored: dict[str, list[tuple[View, int]]] = {}
        self._awaited = 0
        """Stores that the loads so far have waited for."""
        self._needed = np.zeros(0, np.int64)
        """Stores that some load must wait for."""
        self._again: int | None = None
        """When to wait for those that were not over at the last time."""
        self.agenda = Agenda()
        self.clock = 0
        """Cycles of products so far."""

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
        if (rows := self.loaded(view, ring)) is not None:
            return rows
        blocks = self.blocks(view, ring.space)
        rows = LocalRows(ring.space, ring.take(blocks * view.rows), view.rows, blocks, view.rows)
        if ring.space is Space.ACCUMULATOR:
            self.agenda.write_drains(rows)
        self._pieces[view, ring] = self._take(rows), rows
        self._load(view, rows)
        return rows

    def loaded(self, view: View, ring: Ring) -> LocalRows | None:
        """The rows of `ring` that hold `view` from an earlier load, if there are any."""
        serial, rows = self._pieces.get((view, ring), (0, None))
        return rows if rows is not None and self._owned(rows, serial) else None

    def load_parameters(self, view: View, ring: Ring) -> int:
        """The first parameter row of those that hold `view`, a row of 32-bit elements."""
        count = -(-view.cols // self.config.dim)
        rows = LocalRows(Space.PARAMETERS, ring.take(count), count, 1, count)
        free = self._free(rows)
        self._take(rows)
        self._place(LoadParameters(view, rows), free)
        return rows.row

    def write(
        self, op: Multiply | Products | Transform | Store, counted: View | None = None
    ) -> None:
        """The next step; statistics that a transform uses are of the rows of `counted`."""
        step = len(self._steps)
        if isinstance(op, Transform):
            self._statistics.follow(op, counted)
        for space, first, end in _uses(op, self.config.dim):
            self._last_use[space][first:end] = step
        for rows in _results(op):
            drained = rows.space is not Space.ACCUMULATOR or not self.agenda.awaits(rows)
            assert drained, f"{op}: overwrites sums that are still to be drained"
            self._take(rows)
        if isinstance(op, Store):
            self._stored.setdefault(op.view.tensor, []).append((op.view, step))
        self._steps.append(Written(op, self.operator))
        self.clock += _cycles(op)

    def store(self, view: View, source: LocalRows) -> None:
        """Move scratchpad rows to memory, as many blocks at once as a command can."""
        for part, rows in self._parts(view, source):
            self.write(Store(part, rows))

    # What may be written later.

    def defer(
        self,
        write: Callable[[], None],
        results: tuple[View, ...],
        *,
        delay: int = 0,
        drains: LocalRows | None = None,
        settling: int | None = None,
        slots: range = range(0),
    ) -> None:
        """Let `write` be called between later steps, as an item of the agenda.

        It is not before `delay` cycles of products are over, or `settling` of them behind a drain,
        unless somebody needs the results.
        """
        operator = self.operator

        def write_as_then() -> None:
            now, self.operator = self.operator, operator
            write()
            self.operator = now

        clock = self.clock + delay
        self.agenda.add(
            Item(
                write=write_as_then,
                results=results,
                clock=clock,
                drains=drains,
                settling=settling,
                slots=slots,
            )
        )

    def trickle(self) -> None:
        """Write something that was deferred, if its time has come."""
        self.agenda.write_due(self.clock)

    # The end.

    def finish(self) -> tuple[Written, ...]:
        """All operations in program order."""
        self.agenda.write_all()
        return tuple(self._interleaved())

    def _interleaved(self) -> Iterator[Written]:
        """Steps and loads: each load as early as its rows, its data and the queues allow.

        Not too early, though: the queues run in order, and a load that waits holds up those behind.
        A few loads may overtake others that are not ready.
        """
        lookahead = self.config.load_queue
        times = np.cumsum([0] + [_cycles(step.op) for step in self._steps])
        stores = np.cumsum([0] + [isinstance(step.op, Store) for step in self._steps])
        waiting = deque(self._loads)
        self._needed = np.unique([stores[placed.stored + 1] for placed in waiting])
        ahead: list[int] = []
        """When the loads that were issued early are needed."""
        for number, step in enumerate(self._steps):
            ahead = [need for need in ahead if need > number]
            while waiting and waiting[0].need <= number:
                yield self._issued(waiting.popleft(), number, times, stores)
            if number == 0 or isinstance(self._steps[number - 1].op, Multiply | Products):
                early = self._early(waiting, lookahead, lookahead - len(ahead), number, times)
                ahead += [placed.need for placed in early]
                for placed in early:
                    yield self._issued(placed, number, times, stores)
            yield step

    @staticmethod
    def _early(
        waiting: deque[_PlacedLoad], window: int, most: int, step: int, times: np.ndarray
    ) -> list[_PlacedLoad]:
        """Take up to `most` loads out of the first ones `waiting` that may come before `step`."""
        early: list[_PlacedLoad] = []
        kept: list[_PlacedLoad] = []
        while waiting and len(early) < most and len(early) + len(kept) < window:
            placed = waiting.popleft()
            (early if _is_ready(placed, step, times) else kept).append(placed)
        waiting.extendleft(reversed(kept))
        return early

    def _issued(
        self, placed: _PlacedLoad, step: int, times: np.ndarray, stores: np.ndarray
    ) -> Written:
        """The load, with the number of stores that it comes after.

        If it has to wait for more than those before it, it waits for all that are long over: so
        those behind it need not.  What was not over then is waited for as soon as it is, if loads
        far behind need it: not in the middle of what repeats until these come.
        """
        assert max(placed.free, placed.stored) < step, f"{placed.load}: needed before it can be"
        load = placed.load
        if not isinstance(load, Load):
            return Written(load, placed.operator)
        after = int(stores[placed.stored + 1]) if placed.stored >= 0 else 0
        now = int(times[step])
        settled = int(np.searchsorted(times, now - SETTLING, "right")) - 1
        over = int(stores[max(settled, 0)])
        again = self._again is not None and now >= self._again and self._awaited < over
        if again:
            between = np.searchsorted(self._needed, (self._awaited, over), "right")
            again = bool(between[0] < between[1])
        if after > self._awaited:
            self._again = now + SETTLING + SETTLING // 2
        elif again:
            self._again = None
        if after > self._awaited or again:
            self._awaited = after = max(after, over)
        return Written(replace(load, after=after), placed.operator)

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
        self.agenda.write_results(view)
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
        row_bytes = config.dim * (1 if scratchpad else ACC_BYTES)
        for block in range(0, rows.blocks, most):
            count = min(most, rows.blocks - block)
            # A row of two bytes holds no whole int32, but as many rows as move at once do.
            col = block * row_bytes // size
            width = min(count * row_bytes // size, view.cols - col)
            yield view.part(col=col, cols=width), rows.block(block, count)

    # What is in memory.

    def _step_that_stored(self, view: View) -> int:
        """The last step that stores elements of `view`, or -1."""
        stored = self._stored.get(view.tensor, ())
        return max((step for other, step in stored if view.meets(other)), default=-1)


def _is_ready(placed: _PlacedLoad, step: int, times: np.ndarray) -> bool:
    """Whether a load that is not needed by `step` yet may come before it."""
    following = int(np.searchsorted(times, times[step], "right"))
    nest = int(times[min(following, len(times) - 1)] - times[step])
    lead = min(MAX_LEAD, LEAD_NESTS * nest) if nest >= LONG_NEST else MAX_LEAD
    if max(placed.free, placed.stored) >= step or times[placed.need] > times[step] + lead:
        return False
    return placed.stored < 0 or times[step] >= times[placed.stored] + SETTLING


def _cycles(op: Op) -> int:
    """Cycles that the array works on `op`, about."""
    match op:
        case Multiply():
            return op.rows
        case Products():
            return op.rows * op.count
        case _:
            return 0


def _results(op: Op) -> Iterator[LocalRows]:
    match op:
        case Multiply():
            yield LocalRows(Space.ACCUMULATOR, op.c, op.rows, 1, op.rows)
        case Products():
            yield LocalRows(Space.ACCUMULATOR, op.c, op.rows, op.columns, op.c_column)
        case Transform():
            yield from op.targets
        case _:
            pass


def _uses(
    op: Multiply | Products | Transform | Store, dim: int
) -> Iterator[tuple[Space, int, int]]:
    """Memory, first row and row behind the last of each range that `op` reads or writes."""
    match op:
        case Multiply():
            yield Space.SCRATCHPAD, op.a, op.a + op.rows
            yield Space.SCRATCHPAD, op.w, op.w + (op.cols if op.w_transposed else op.depth)
            yield Space.ACCUMULATOR, op.c, op.c + op.rows
        case Products():
            for each in op.each(dim):
                yield from _uses(each, dim)
        case Transform():
            for rows in (op.source, *op.targets, op.residual):
                if rows is not None:
                    yield rows.space, rows.row, rows.end
            for first, count in op.parameter_rows(dim):
                yield Space.PARAMETERS, first, first + count
        case Store():
            yield op.source.space, op.source.row, op.source.end
