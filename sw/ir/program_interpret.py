"""What a program means: its operations one after the other, on NumPy arrays of local rows.

Order among operations on local rows is that of the program.  A store reaches memory as late as it
may: when a load says that it comes after it, or at the end.  So a load that does not say for which
stores it waits reads what was in memory before.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa import numerics
from celosia.isa.config import AcceleratorConfig
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
from celosia.sw.ir.transform_interpret import RowStatistics, results

__all__ = ["UNWRITTEN", "Array", "LocalMemories", "interpret"]

Array = NDArray[Any]

UNWRITTEN: Final = 0xA5
"""Every byte of a tensor that no store has reached, and of local rows at first."""


class LocalMemories:
    """The local memories, byte by byte, and matrices in them."""

    def __init__(self, config: AcceleratorConfig):
        self.dim = config.dim
        self._bytes = {
            space: np.full((rows, row_bytes), UNWRITTEN, np.uint8)
            for space, rows, row_bytes in (
                (Space.SCRATCHPAD, config.scratchpad_rows, config.scratchpad_row_bytes),
                (Space.ACCUMULATOR, config.accumulator_rows, config.accumulator_row_bytes),
                (Space.PARAMETERS, config.parameter_rows, config.accumulator_row_bytes),
            )
        }

    def put(self, place: LocalRows, matrix: Array) -> None:
        """Write `matrix` to `place`, as many bytes of its rows as it has."""
        memory = self._bytes[place.space]
        data = np.ascontiguousarray(matrix).view(np.uint8).reshape(place.rows, -1)
        size = memory.shape[1]
        for block in range(place.blocks):
            part = data[:, block * size : (block + 1) * size]
            memory[_rows(place, block), : part.shape[1]] = part

    def get(self, place: LocalRows, cols: int, kind: np.dtype[Any]) -> Array:
        """The first `cols` columns of the matrix at `place`."""
        memory = self._bytes[place.space]
        parts = [memory[_rows(place, block)] for block in range(place.blocks)]
        data = np.ascontiguousarray(np.concatenate(parts, axis=1)[:, : cols * kind.itemsize])
        return data.view(kind)

    def parameters(self, row: int, cols: int, kind: np.dtype[Any]) -> Array:
        """32-bit elements from parameter row `row` on, as a vector."""
        rows = LocalRows(Space.PARAMETERS, row, -(-cols // self.dim), 1, 0)
        return self.get(rows, self.dim, kind).reshape(-1)[:cols]

    def put_parameters(self, place: LocalRows, vector: Array) -> None:
        """Write 32-bit elements to parameter rows."""
        first = place.row * self._bytes[Space.PARAMETERS].shape[1]
        data = np.ascontiguousarray(vector).view(np.uint8).reshape(-1)
        self._bytes[Space.PARAMETERS].reshape(-1)[first : first + len(data)] = data


def _rows(place: LocalRows, block: int) -> slice:
    first = place.row + block * place.pitch
    return slice(first, first + place.rows)


def interpret(
    ops: Iterable[Op],
    config: AcceleratorConfig,
    tensors: Mapping[str, Tensor],
    values: Mapping[str, Array],
) -> dict[str, Array]:
    """What a well-formed program leaves behind of each tensor that is not one of `values`.

    `values` are inputs and constants.  Tensors that stay on the chip remain unwritten.
    """
    machine = _Machine(config, tensors, values)
    for op in ops:
        machine.take(op)
    machine.drain(None)
    return {name: machine.values[name] for name in tensors if name not in values}


class _Machine:
    """The memories so far."""

    def __init__(
        self,
        config: AcceleratorConfig,
        tensors: Mapping[str, Tensor],
        values: Mapping[str, Array],
    ):
        self.local = LocalMemories(config)
        self.statistics = RowStatistics(config.statistics_rows)
        self.values: dict[str, Array] = dict(values)
        for name, tensor in tensors.items():
            if name not in values:
                poison = np.full(tensor.bytes, UNWRITTEN, np.uint8).view(tensor.type)
                self.values[name] = poison.reshape(tensor.shape)
        self.under_way: deque[tuple[View, Array]] = deque()
        """What stores have sent off."""
        self.stored = 0
        """Stores that have reached memory."""

    def take(self, op: Op) -> None:
        match op:
            case Load():
                self.drain(op.after)
                self.local.put(op.to, self.values[op.view.tensor][op.view.slices])
            case LoadParameters():
                self.local.put_parameters(op.to, self.values[op.view.tensor][op.view.slices])
            case Multiply():
                self._multiply(op)
            case Products():
                for each in op.each(self.local.dim):
                    self._multiply(each)
            case Transform():
                for place, result in results(op, self.local, self.statistics):
                    self.local.put(place, result)
            case Store():
                self.under_way.append((op.view, self._drained(op)))

    def _drained(self, op: Store) -> Array:
        """What a store takes to memory."""
        drain, cols = op.drain, op.view.cols
        if drain == Drain():
            return self.local.get(op.source, cols, self.values[op.view.tensor].dtype)
        sums = self.local.get(op.source, cols, np.dtype(np.int32))
        if drain.bias_row is not None:
            bias = self.local.parameters(drain.bias_row, cols, np.dtype(np.int32))
            sums = numerics.wrap32(sums.astype(np.int64) + bias)
        if drain.scale is None:
            return sums
        return numerics.requantize_to(sums, drain.scale, np.int8, rectify=drain.relu)

    def drain(self, count: int | None) -> None:
        """Let the program's first `count` stores reach memory; None: all of them."""
        while self.under_way and (count is None or self.stored < count):
            view, value = self.under_way.popleft()
            self.values[view.tensor][view.slices] = value
            self.stored += 1

    def _multiply(self, op: Multiply) -> None:
        a_kind, int8 = np.dtype(np.uint8 if op.a_unsigned else np.int8), np.dtype(np.int8)
        int32 = np.dtype(np.int32)
        a = self.local.get(_tile(Space.SCRATCHPAD, op.a, op.rows), op.depth, a_kind)
        lines, width = (op.cols, op.depth) if op.w_transposed else (op.depth, op.cols)
        w = self.local.get(_tile(Space.SCRATCHPAD, op.w, lines), width, int8)
        c = _tile(Space.ACCUMULATOR, op.c, op.rows)
        sums = numerics.exact_matmul(a, w.T if op.w_transposed else w)
        if op.accumulate:
            sums = sums + self.local.get(c, op.cols, int32)
        self.local.put(c, numerics.wrap32(sums))


def _tile(space: Space, row: int, rows: int) -> LocalRows:
    return LocalRows(space, row, rows, 1, rows)
