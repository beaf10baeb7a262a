"""What makes a program well formed.

Rows exist.  What an operation reads stands there as one operation has left it; what an operation
has made is used before its rows are.  Products continue the sums in their rows.  Statistics are
complete when they are used.  Every element of a tensor is stored once, and loads come after the
stores of what they read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Function
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Drain,
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

__all__ = ["verify"]

_COUNTS = (Function.SUM, Function.EXPONENT, Function.MOMENTS)
_NEEDS = (Function.PROBABILITY, Function.CONTEXT, Function.LAYERNORM)
"""Functions that need complete statistics."""


def verify(
    ops: Iterable[Op],
    config: AcceleratorConfig,
    tensors: Mapping[str, Tensor],
    given: Iterable[str],
) -> None:
    """Raise `ValueError` that names the operation if a program is not well formed.

    `given` are inputs and constants: they are never stored, and other tensors not until then.
    """
    checker = _Checker(config, tensors, given)
    for index, op in enumerate(ops):
        try:
            checker.take(op)
        except ValueError as error:
            raise ValueError(f"op {index}: {op}: {error}") from None
    checker.finish()


@dataclass
class _Made:
    """What an operation has left in local rows."""

    op: Op
    used: bool = False


class _Rows:
    """Who has made what is in each row of a local memory."""

    def __init__(self, rows: int):
        self.maker = np.zeros(rows, np.int64)
        """Number of the operation; 0: nobody."""
        self.made: dict[int, _Made] = {}

    def write(self, first: int, end: int, op: Op, number: int) -> None:
        """`op` overwrites rows."""
        self._check_range(first, end)
        for old in set(self.maker[first:end].tolist()) - {0, number}:
            if not self.made[old].used:
                raise ValueError(f"overwrites what nobody has used: {self.made[old].op}")
        self.maker[first:end] = number
        self.made.setdefault(number, _Made(op))

    def read(self, first: int, end: int) -> _Made:
        """Rows that one operation has made."""
        self._check_range(first, end)
        makers = set(self.maker[first:end].tolist())
        if makers == {0}:
            raise ValueError(f"rows {first}..{end - 1} hold nothing")
        if len(makers) > 1:
            names = ", ".join(str(self.made[m].op) if m else "nobody" for m in sorted(makers))
            raise ValueError(f"rows {first}..{end - 1} are not of one operation: {names}")
        made = self.made[makers.pop()]
        made.used = True
        return made

    def _check_range(self, first: int, end: int) -> None:
        if not 0 <= first < end <= len(self.maker):
            raise ValueError(f"rows {first}..{end - 1} are not in 0..{len(self.maker) - 1}")


@dataclass(frozen=True)
class _Corner:
    """The first element of a tile of A or W in memory: where it is along K, and across."""

    tensor: str
    depth: int
    across: int

    def moved(self, depth: int) -> "_Corner":
        """The tile behind it along K."""
        return _Corner(self.tensor, self.depth + depth, self.across)

    @staticmethod
    def of_a(op: Multiply, a: Op, dim: int) -> "_Corner | None":
        """None if A comes from a transform."""
        if not isinstance(a, Load):
            return None
        block, row = divmod(op.a - a.to.row, a.to.pitch)
        return _Corner(a.view.tensor, a.view.col + block * dim, a.view.row + row)

    @staticmethod
    def of_w(op: Multiply, w: Load, dim: int) -> "_Corner":
        block, row = divmod(op.w - w.to.row, w.to.pitch)
        row, col = w.view.row + row, w.view.col + block * dim
        depth, across = (col, row) if op.w_transposed else (row, col)
        return _Corner(w.view.tensor, depth, across)


class _Slots:
    """How far the statistics of each row are."""

    EMPTY, OPEN, COMPLETE, USED = range(4)

    def __init__(self, slots: int):
        self.state = np.full(slots, self.EMPTY)

    def take(self, op: Transform) -> None:
        """What `op` does to them."""
        counts = op.function in _COUNTS or bool(op.settings.get("moments"))
        if not counts and op.function not in (Function.MAXIMUM, *_NEEDS):
            return
        first = op.settings.get("statistics", 0)
        if first + op.source.rows > len(self.state):
            raise ValueError(f"slots {first}.. of {op.source.rows} rows do not exist")
        state = self.state[first : first + op.source.rows]
        if op.function in _NEEDS:
            if (state < self.COMPLETE).any():
                raise ValueError("its statistics are not complete")
            state[:] = self.USED
            return
        begins = op.begins_statistics
        if begins and ((state == self.OPEN) | (state == self.COMPLETE)).any():
            raise ValueError("starts statistics before those in their place have been used")
        if not begins and (state != self.OPEN).any():
            raise ValueError("goes on with statistics that nobody has started")
        state[:] = self.COMPLETE if counts and op.settings.get("finish") else self.OPEN


class _Checker:
    """The state of all memories."""

    def __init__(
        self, config: AcceleratorConfig, tensors: Mapping[str, Tensor], given: Iterable[str]
    ):
        self.dim = config.dim
        self.tensors = tensors
        self.given = set(given)
        self.local = {
            Space.SCRATCHPAD: _Rows(config.scratchpad_rows),
            Space.ACCUMULATOR: _Rows(config.accumulator_rows),
            Space.PARAMETERS: _Rows(config.parameter_rows),
        }
        self.slots = _Slots(config.statistics_rows)
        self.stored: dict[str, np.ndarray] = {}
        """Of each element the number of its store, from 1 on; 0: none so far."""
        self.stores = 0
        self.number = 0
        self.corners: dict[int, tuple[_Corner | None, _Corner]] = {}
        """By first row of sums: what the last product there was of."""

    def take(self, op: Op) -> None:
        self.number += 1
        match op:
            case Load():
                self._read_memory(op.view, op.after)
                self._write(op.to, op)
            case LoadParameters():
                if op.view.tensor not in self.given:
                    raise ValueError(f"{op.view} is not given")
                self._write(op.to, op)
            case Multiply():
                self._multiply(op)
            case Products():
                for each in op.each(self.dim):
                    self._multiply(each)
                    self.number += 1
            case Transform():
                self._transform(op)
            case Store():
                self._drain(op)
                self._store(op.view)

    def finish(self) -> None:
        """After the last operation."""
        for rows in self.local.values():
            for number in set(rows.maker.tolist()) - {0}:
                if not rows.made[number].used:
                    raise ValueError(f"nobody has used what is made by {rows.made[number].op}")
        for name, elements in self.stored.items():
            if not elements.all():
                raise ValueError(f"{name}: not all of it is stored")

    # Local rows.

    def _blocks(self, place: LocalRows) -> Iterator[tuple[int, int]]:
        """First row of each block, and the row behind its last."""
        if place.blocks > 1 and place.pitch < place.rows:
            raise ValueError(f"{place}: blocks meet")
        for block in range(place.blocks):
            first = place.row + block * place.pitch
            yield first, first + place.rows

    def _write(self, place: LocalRows, op: Op) -> None:
        for first, end in self._blocks(place):
            self.local[place.space].write(first, end, op, self.number)

    def _read(self, place: LocalRows) -> None:
        for first, end in self._blocks(place):
            self.local[place.space].read(first, end)

    def _multiply(self, op: Multiply) -> None:
        scratchpad, sums = self.local[Space.SCRATCHPAD], self.local[Space.ACCUMULATOR]
        a = scratchpad.read(op.a, op.a + op.rows)
        w = scratchpad.read(op.w, op.w + (op.cols if op.w_transposed else op.depth)).op
        for made in (a.op, w):
            if isinstance(made, Store | Multiply | LoadParameters):
                raise ValueError(f"{made}: is no operand of a product")
        if not isinstance(w, Load):
            raise ValueError(f"its weights are not loaded: {w}")
        here = _Corner.of_a(op, a.op, self.dim), _Corner.of_w(op, w, self.dim)
        if op.accumulate:
            before = sums.read(op.c, op.c + op.rows).op
            if not isinstance(before, Multiply):
                raise ValueError(f"does not go on with a product: {before}")
            if (before.c, before.rows, before.cols) != (op.c, op.rows, op.cols):
                raise ValueError(f"does not go on with the sums in its rows: {before}")
            for corner, last in zip(here, self.corners[op.c], strict=True):
                if corner and last and corner != last.moved(before.depth):
                    raise ValueError(f"goes on with {corner}, behind {last} of {before}")
        self.corners[op.c] = here
        sums.write(op.c, op.c + op.rows, op, self.number)

    def _transform(self, op: Transform) -> None:
        self._read(op.source)
        if op.residual is not None:
            self._read(op.residual)
        for first, count in op.parameter_rows(self.dim):
            self.local[Space.PARAMETERS].read(first, first + count)
        self.slots.take(op)
        others = [rows for rows in (op.source, op.residual) if rows is not None]
        for index, target in enumerate(op.targets):
            for other in (*others, *op.targets[:index]):
                if target.space is other.space and _meet(target, other):
                    raise ValueError(f"{target} meets {other}")
            self._write(target, op)

    def _drain(self, op: Store) -> None:
        if op.drain != Drain() and op.source.space is not Space.ACCUMULATOR:
            raise ValueError("only sums have a drain")
        self._read(op.source)
        for first, count in op.parameter_rows(self.dim):
            self.local[Space.PARAMETERS].read(first, first + count)

    # Tensors in memory.

    def _elements(self, view: View) -> np.ndarray:
        shape = self.tensors[view.tensor].shape
        numbers = self.stored.setdefault(view.tensor, np.zeros(shape, np.int64))[view.slices]
        if numbers.shape != view.shape or 0 in view.shape:
            raise ValueError(f"{view} is not inside of {shape[0]}x{shape[1]}")
        return numbers

    def _store(self, view: View) -> None:
        if view.tensor in self.given:
            raise ValueError(f"{view} is given")
        self.stores += 1
        numbers = self._elements(view)
        if numbers.any():
            raise ValueError(f"{view} is stored a second time")
        numbers[...] = self.stores

    def _read_memory(self, view: View, after: int) -> None:
        if after > self.stores:
            raise ValueError(f"waits for {after} stores, but only {self.stores} come before it")
        if view.tensor in self.given:
            return
        numbers = self._elements(view)
        if not numbers.all():
            raise ValueError(f"{view} is loaded before it is stored")
        if numbers.max() > after:
            raise ValueError(f"waits for {after} stores, not for {numbers.max()}")


def _meet(one: LocalRows, other: LocalRows) -> bool:
    return one.row < other.end and other.row < one.end
