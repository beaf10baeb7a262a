"""Drains of the accumulator and normalizations, one behind each nest of products.

In order of meaning, they stand between a block of products and the next one, which would wait for
them.  Here they come between the products of what follows, so that all nests look alike, and what
repeats in the program repeats in its schedule.  Time is that of the array: cycles of the products
so far.  Drains keep their order, and so do normalizations; a drain may pass normalizations.
Whatever overwrites sums, reads results or begins statistics has those before it that use these:
its dependences say so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.sw.ir.program import Load, Op, Products, Store, Transform, Unit
from celosia.sw.planning.extents import tiles

__all__ = ["array_cycles", "trickled"]

_STATISTICS_CYCLES: Final = 48
"""Cycles from the last sum of a block of rows to its statistics, for each row: the sum is computed,
then root and reciprocal."""
_ISSUED_AHEAD: Final = 48
"""Products that are issued before the array comes to them: each takes a cycle for each row."""
_NORM_CYCLES: Final = 16
"""Cycles from one transform of a normalization to the next, for each row and tile of columns: they
share banks with all else."""
_DRAIN_CYCLES: Final = 4
"""Cycles from one transform of a drain to the next, for each row and tile of columns: the queues
that its stores wait in are short."""
_NORMS: Final = (Function.MOMENTS, Function.LAYERNORM)


def array_cycles(op: Op) -> int:
    """Cycles that the array works on `op`, about."""
    return op.rows * op.count if isinstance(op, Products) else 0


def trickled(ops: Sequence[Op], needs: Sequence[tuple[int, ...]], dim: int) -> list[int]:
    """The indices of `ops`, which are in order of meaning, with drains and normalizations later.

    Each operation comes behind those that it `needs`.
    """
    return _Trickle(ops, needs, dim).order()


@dataclass(eq=False)
class _Step:
    """An operation that is no load, the loads before it, and the stores of what it computes."""

    indices: list[int]
    op: Op
    clock: int
    """Cycles of products before it, in order of meaning."""
    first: bool = True
    """It is not one of several drains, or transforms of one normalization, that follow another."""
    due: int = 0
    """The time before which it does not come, unless it must."""
    settling: int | None = None
    """A normalization with this one comes so long behind a drain, and no other one between."""

    @property
    def is_norm(self) -> bool:
        """Whether it normalizes rows, or counts the moments of rows from memory for that."""
        return isinstance(self.op, Transform) and self.op.function in _NORMS

    @property
    def run(self) -> tuple[str, int]:
        """What it has in common with those that it is one of: drains, or the rows normalized."""
        # The next products or transforms wait for what becomes of scores.
        if not isinstance(self.op, Transform) or FUNCTIONS[self.op.function].scores:
            return "at once", 0
        return ("norm", self.op.settings["statistics"]) if self.is_norm else ("drain", 0)


class _Trickle:
    def __init__(self, ops: Sequence[Op], needs: Sequence[tuple[int, ...]], dim: int):
        self.ops, self.needs = ops, needs
        self.steps = list(_steps(ops))
        self._step_of = {index: step for step in self.steps for index in step.indices}
        _set_dues(self.steps, self._first_reads(), dim)
        self._done = [False] * len(ops)
        self._order: list[int] = []
        self._waiting: list[_Step] = []
        self._drained: int | None = None
        """When the last drain came; None: a normalization came behind it."""
        self._clock = 0

    def _first_reads(self) -> dict[_Step, int]:
        """When results of a step are loaded for the first time."""
        found: dict[_Step, int] = {}
        for index, needs in enumerate(self.needs):
            for each in needs:
                if isinstance(self.ops[index], Load) and isinstance(self.ops[each], Store):
                    found.setdefault(self._step_of[each], self._step_of[index].clock)
        return found

    def order(self) -> list[int]:
        """All indices."""
        for step in self.steps:
            if step.run[0] == "at once":
                self._put(step)
                self._clock += array_cycles(step.op)
                if array_cycles(step.op):
                    self._trickle()
                continue
            if step.first and step.is_norm:
                # The statistics are those of two blocks of rows at most.
                self._put_all([each for each in self._waiting if each.is_norm])
            self._waiting.append(step)
            if step.first and not step.is_norm:
                self._trickle()
        self._put_all(self._waiting)
        return self._order

    def _trickle(self) -> None:
        """Put the first drain that is due, or else the first normalization."""
        drains = [step for step in self._waiting if not step.is_norm]
        for first in (*drains[:1], *self._waiting[:1]):
            if self._is_due(first):
                self._put(first)
                self._drained = None if first.is_norm else self._clock
                return

    def _is_due(self, step: _Step) -> bool:
        if step.settling is not None:
            return self._drained is not None and self._drained + step.settling <= self._clock
        return step.due <= self._clock

    def _put_all(self, steps: Sequence[_Step]) -> None:
        for step in list(steps):
            self._put(step)

    def _put(self, step: _Step) -> None:
        """Put a step behind all that it needs, and behind those that it must not pass."""
        if step in self._waiting:
            ahead = self._waiting[: self._waiting.index(step)]
            self._put_all([each for each in ahead if step.is_norm or not each.is_norm])
            if step in self._waiting:
                self._waiting.remove(step)
        for index in step.indices:
            self._put_op(index)

    def _put_op(self, index: int) -> None:
        if self._done[index]:
            return
        for each in self.needs[index]:
            if self._done[each]:
                continue
            if self.ops[each].unit is Unit.LOAD:
                self._put_op(each)
            else:
                self._put(self._step_of[each])
        if not self._done[index]:
            self._done[index] = True
            self._order.append(index)


def _steps(ops: Sequence[Op]) -> Iterator[_Step]:
    """All `ops` in order; loads behind the last step are a part of it."""
    steps: list[_Step] = []
    loads: list[int] = []
    clock = 0
    for index, op in enumerate(ops):
        stores = isinstance(op, Store) and bool(steps) and isinstance(steps[-1].op, Transform)
        if op.unit is Unit.LOAD:
            loads.append(index)
        elif stores and not loads:
            steps[-1].indices.append(index)
        else:
            steps.append(_Step([*loads, index], op, clock))
            clock += array_cycles(op)
            loads = []
    if loads:
        steps.append(_Step(loads, ops[loads[-1]], clock))
    yield from steps


def _set_dues(steps: Sequence[_Step], reads: Mapping[_Step, int], dim: int) -> None:
    """When drains and normalizations are due."""
    begin = end = 0
    """When the products of the last block of sums begin and end."""
    for (kind, _), run in groupby(steps, lambda step: step.run):
        if kind == "at once":
            continue
        found = list(run)
        for step in found[1:]:
            step.first = False
        if kind == "drain":
            if found[0].clock > end:
                begin, end = end, found[0].clock
            _set_due(found, 0, _DRAIN_CYCLES, dim)
            continue
        counted = [step for step in found if _transform(step).function is Function.MOMENTS]
        rows = _transform(found[0]).source.rows
        delay = rows * (_STATISTICS_CYCLES + _ISSUED_AHEAD)
        delay += _set_due(counted, 0, _NORM_CYCLES, dim)
        whole = _set_due(found[len(counted) :], delay, _NORM_CYCLES, dim)
        soon = min(reads.get(step, end) for step in found) <= 2 * end - begin
        for step in found:
            step.settling = None if soon or whole <= end - begin else delay


def _set_due(run: Sequence[_Step], delay: int, tile_cycles: int, dim: int) -> int:
    """One after the other after a `delay`; returns how long all of them take with it."""
    for step in run:
        op = _transform(step)
        step.due = step.clock + delay
        delay += op.source.rows * tiles(op.cols, dim) * tile_cycles
    return delay


def _transform(step: _Step) -> Transform:
    assert isinstance(step.op, Transform)
    return step.op
