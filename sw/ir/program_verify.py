"""What makes a program well formed.

Rows exist.  What an operation reads stands there as one operation has left it; what an operation
has made is used before its rows are.  Products continue the sums in their rows.  Statistics are
complete when they are used.  Every element of a tensor is stored once (of scratch tensors, again:
`celosia.sw.scheduling.memory.check_scratch` says when), and loads come after the stores of what
they read.  Of causal scores, those that the mask hides need not be there.
"""

from collections.abc import Iterable

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import FUNCTIONS
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.product_verify import ProductChecker
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.ir.program_rows import MadeRows

__all__ = ["verify"]


def verify(ops: Iterable[Op], config: AcceleratorConfig, graph: Graph) -> None:
    """Raise `ValueError` that names the operation if a program of `graph` is not well formed.

    Inputs and constants are never stored, and others are not there until they are.  Of caches, just
    the elements that are appended are stored, before they are read.
    """
    checker = _Checker(config, graph)
    for index, op in enumerate(ops):
        try:
            checker.take(op)
        except ValueError as error:
            raise ValueError(f"op {index}: {op}: {error}") from None
    checker.finish()


class _Slots:
    """How far the statistics of each row are."""

    EMPTY, OPEN, COMPLETE, USED = range(4)

    def __init__(self, slots: int):
        self.state = np.full(slots, self.EMPTY)

    def take(self, op: Transform) -> None:
        """What `op` does to them."""
        if not op.uses_statistics:
            return
        first = op.settings.get("statistics", 0)
        if first + op.source.rows > len(self.state):
            raise ValueError(f"slots {first}.. of {op.source.rows} rows do not exist")
        state = self.state[first : first + op.source.rows]
        entry = FUNCTIONS[op.function]
        if entry.facts:
            if (state < self.COMPLETE).any():
                raise ValueError("its statistics are not complete")
            state[:] = self.USED
            return
        begins = entry.begins and bool(op.settings.get("start"))
        if begins and ((state == self.OPEN) | (state == self.COMPLETE)).any():
            raise ValueError("starts statistics before those in their place have been used")
        if not begins and (state != self.OPEN).any():
            raise ValueError("goes on with statistics that nobody has started")
        state[:] = self.COMPLETE if op.counts and op.settings.get("finish") else self.OPEN


class _Checker:
    """The state of all memories."""

    def __init__(self, config: AcceleratorConfig, graph: Graph):
        self.dim = config.dim
        self.tensors = tensors = graph.tensors
        known = (*graph.inputs, *graph.constants)
        self.given = {name for name in known if not tensors[name].cache}
        self.local = {
            Space.SCRATCHPAD: MadeRows(config.scratchpad_rows),
            Space.ACCUMULATOR: MadeRows(config.accumulator_rows),
            Space.PARAMETERS: MadeRows(config.parameter_rows),
        }
        self.products = ProductChecker(
            config.dim, self.local[Space.SCRATCHPAD], self.local[Space.ACCUMULATOR]
        )
        self.slots = _Slots(config.statistics_rows)
        self.scratch = {name for name, tensor in tensors.items() if tensor.scratch}
        self.stored: dict[str, np.ndarray] = {}
        """The number of the store of each element of a tensor, from 1 on; 0: none so far, -1: it
        has a value, and is not to be stored."""
        self.stores = 0
        self.complete: dict[View, int] = {}
        """The number of the last store to each view that is all stored."""
        for name, tensor in tensors.items():
            if tensor.cache:
                self.stored[name] = np.full(tensor.shape, -1, np.int32)
        for view in graph.appended:
            self.stored[view.tensor][view.slices] = 0

    def take(self, op: Op) -> None:
        match op:
            case Load():
                self._read_memory(op.view, op.after)
                self._write(op.to, op)
            case Products():
                self.products.take(op)
            case LoadParameters():
                if op.view.tensor not in self.given:
                    raise ValueError(f"{op.view} is not given")
                self._write(op.to, op)
            case Transform():
                self._transform(op)
            case Store():
                self._drain(op)
                self._store(op.view)

    def finish(self) -> None:
        """Check, after the last operation, that all results are used and all tensors stored."""
        for rows in self.local.values():
            for number in rows.unused:
                raise ValueError(f"nobody has used what is made by {rows.ops[number]}")
        for name, elements in self.stored.items():
            if not elements.all() and name not in self.scratch:
                raise ValueError(f"{name}: not all of it is stored")

    # Local rows.

    def _blocks(self, place: LocalRows) -> list[tuple[int, int]]:
        """First row of each block, and the row behind its last."""
        if place.blocks > 1 and place.pitch < place.rows:
            raise ValueError(f"{place}: blocks meet")
        firsts = [place.row + block * place.pitch for block in range(place.blocks)]
        return [(first, first + place.rows) for first in firsts]

    def _write(self, place: LocalRows, op: Op) -> None:
        adjoin = place.blocks > 0 and place.pitch == place.rows
        ranges = [(place.row, place.end)] if adjoin else self._blocks(place)
        self.local[place.space].write(op, *ranges)

    def _read(self, place: LocalRows) -> None:
        for first, end in self._blocks(place):
            self.local[place.space].read(first, end)

    def _read_source(self, op: Transform) -> None:
        """Read the rows of each block that the mask lets count; others may hold anything."""
        rows, mask = self.local[op.source.space], op.mask or {}
        width = self.dim // 2 if op.source.space is Space.SCRATCHPAD else self.dim
        for block, (first, end) in enumerate(self._blocks(op.source)):
            key = mask.get("first_key", 0) + block * width
            begin, behind = first, end
            if mask.get("causal") and not mask.get("ring"):
                own = first + key - mask.get("first_row", 0)
                begin = min(end, max(first, own))
                if mask.get("window"):
                    behind = max(begin, min(end, own + width - 1 + mask["window"]))
            for hidden in ((first, begin), (behind, end)):
                if hidden[0] < hidden[1]:
                    rows.touch(*hidden)
            if begin < behind:
                rows.read(begin, behind)

    def _transform(self, op: Transform) -> None:
        self._read_source(op)
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
        if view.tensor not in self.stored:
            self.stored[view.tensor] = np.zeros(shape, np.int32)
        numbers = self.stored[view.tensor][view.slices]
        if numbers.shape != view.shape or 0 in view.shape:
            raise ValueError(f"{view} is not inside of {shape[0]}x{shape[1]}")
        return numbers

    def _store(self, view: View) -> None:
        if view.tensor in self.given:
            raise ValueError(f"{view} is given")
        self.stores += 1
        numbers = self._elements(view)
        if numbers.any() and view.tensor not in self.scratch:
            raise ValueError(f"{view} is stored a second time")
        numbers[...] = self.stores

    def _read_memory(self, view: View, after: int) -> None:
        if after > self.stores:
            raise ValueError(f"waits for {after} stores, but only {self.stores} come before it")
        if view.tensor in self.given:
            return
        last = self.complete.get(view)
        if last is None:
            numbers = self._elements(view)
            if not numbers.all():
                raise ValueError(f"{view} is loaded before it is stored")
            last = int(numbers.max())
            if view.tensor not in self.scratch:
                self.complete[view] = last
        if last > after:
            raise ValueError(f"waits for {after} stores, not for {last}")


def _meet(one: LocalRows, other: LocalRows) -> bool:
    return one.row < other.end and other.row < one.end
