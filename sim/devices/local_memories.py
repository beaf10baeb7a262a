"""Local memories and the array as NumPy arrays, and what each operation does to them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import (
    INT8_MAX,
    INT8_MIN,
    exact_matmul,
    max_pool,
    mvin_scale,
    relu,
    requantize,
    round_shift,
    scale_from_bits,
    wrap32,
)
from celosia.isa.operations.operations import (
    Load,
    LoadParameters,
    Operand,
    Operation,
    Product,
    Resident,
    Store,
)
from celosia.isa.operations.transforms import Transform
from celosia.isa.pooling import Pooling
from celosia.sim.devices.flat_memory import FlatMemory
from celosia.sim.devices.norm_commands import PassingRows
from celosia.sim.devices.transforms import Statistics, TransformUnit

__all__ = ["Machine"]

_INT8 = np.dtype(np.int8)
_INT32 = np.dtype("<i4")


class Machine:
    """The memories of an accelerator, and its operations, one at a time.

    The operations must be legal (`celosia.isa.operations.semantics`).  Rows of one operation that
    meet each other are written one after the other, in order: the last one stays, or all add up.

    Members (all begin as garbage made from `seed`):

    scratchpad : int8, ``(scratchpad_rows, dim)``
    accumulator : int32, ``(accumulator_rows, dim)``
    parameters : int32, ``(parameter_rows, dim)``
    weights : int8, ``(dim, dim)``, what the array holds; element (k, j) meets column k of A
    sums : int32, ``(dim, dim)``, what output-stationary products add to
    statistics : what is known of rows (`Statistics`)
    """

    def __init__(self, config: AcceleratorConfig, memory: FlatMemory, seed: int):
        self.config, self.dim = config, config.dim
        self.memory = memory
        random = np.random.default_rng(seed)
        self.scratchpad = _garbage(random, config.scratchpad_rows, config.dim, np.int8)
        self.accumulator = _garbage(random, config.accumulator_rows, config.dim, np.int32)
        self.parameters = _garbage(random, config.parameter_rows, config.dim, np.int32)
        self.weights = _garbage(random, config.dim, config.dim, np.int8)
        self.sums = _garbage(random, config.dim, config.dim, np.int32)
        self.statistics = Statistics(config.statistics_rows, random)
        self.passing = PassingRows()
        self._transforms = TransformUnit(
            self.dim, self.scratchpad, self.accumulator, self.parameters, self.statistics
        )

    def execute(self, operation: Operation) -> None:
        """Do `operation`, or raise `OutsideMemoryError` and do nothing."""
        match operation:
            case Load():
                self._load(operation)
            case LoadParameters():
                self._load_parameters(operation)
            case Store():
                self._store(operation)
            case Product():
                self._multiply(operation)
            case Transform():
                self._transforms.execute(operation)

    def _load(self, load: Load) -> None:
        data = self._incoming(load)
        pitch = load.pitch
        if load.repeats > 1:
            self._put_copies(load, data)
        elif load.cols > self.dim and pitch < load.rows:  # Blocks meet: row by row is the order.
            for row in range(load.rows):
                self._put_blocks(load, load.local.row + row, data[row : row + 1])
        else:
            self._put_blocks(load, load.local.row, data)

    def _put_copies(self, load: Load, data: NDArray[Any]) -> None:
        """Pixel repeats."""
        for copy in range(load.repeats):
            first = load.local.row - copy
            hidden = max(0, load.first(self.config) - first)
            left = copy * load.cols
            target = self.scratchpad[first + hidden : first + load.rows, left : left + load.cols]
            target[...] = data[hidden:]

    def _incoming(self, load: Load) -> NDArray[Any]:
        """The elements of a load, as they are written or added."""
        shape = (load.rows, load.cols)
        if load.zero:
            return np.zeros(shape, _INT8)
        kind = _INT32 if load.wide else _INT8
        data = self.memory.rows(load.address, load.stride, shape, kind)
        return data if load.wide else mvin_scale(data, scale_from_bits(load.scale))

    def _put_blocks(self, load: Load, first: int, data: NDArray[Any]) -> None:
        memory = self.accumulator if load.local.accumulator else self.scratchpad
        rows, cols = data.shape
        for left in range(0, cols, self.dim):
            block = data[:, left : left + self.dim]
            target = memory[first : first + rows, : block.shape[1]]
            if load.local.accumulator and load.local.accumulate:
                target += block
            else:
                target[...] = block
            first += load.pitch

    def _load_parameters(self, load: LoadParameters) -> None:
        data = self.memory.rows(load.address, 0, (1, load.count), _INT32)
        start = load.row * self.dim
        self.parameters.reshape(-1)[start : start + load.count] = data[0]

    def _store(self, store: Store) -> None:
        if store.silent:
            self._outgoing(store)
            return
        if store.pooling is not None:
            self._store_pooled(store, store.pooling)
            return
        kind = _INT32 if store.wide else _INT8
        target = self.memory.rows(store.address, store.stride, (store.rows, store.cols), kind)
        data = self._outgoing(store)
        if abs(target.strides[0]) >= store.cols * kind.itemsize:
            target[...] = data
        else:  # Rows meet in memory.
            for place, row in zip(target, data, strict=True):
                place[...] = row

    def _store_pooled(self, store: Store, pooling: Pooling) -> None:
        image = self._outgoing(store).reshape(pooling.image_rows, pooling.image_cols, store.cols)
        pixels = max_pool(
            image,
            size=pooling.size,
            stride=pooling.stride,
            top=pooling.top,
            left=pooling.left,
            rows=pooling.rows,
            cols=pooling.cols,
        )
        shape = pooling.cols, store.cols
        starts = [
            (store.address + row * pooling.pitch * store.stride) % (1 << 64)
            for row in range(pooling.rows)
        ]
        # All of memory that is written is looked at before any of it is.
        targets = [self.memory.rows(start, store.stride, shape, _INT8) for start in starts]
        for target, row in zip(targets, pixels, strict=True):
            for place, pixel in zip(target, row, strict=True):
                place[...] = pixel

    def _outgoing(self, store: Store) -> NDArray[Any]:
        """The elements of a store, as they are written."""
        local = store.local
        blocks = store.blocks(self.dim)
        first = np.arange(local.row, local.row + store.rows)[:, np.newaxis]
        rows = first + np.arange(blocks) * store.pitch
        if not local.accumulator:
            return self.scratchpad[rows].reshape(store.rows, blocks * self.dim)[:, : store.cols]
        data = self.accumulator[rows].reshape(store.rows, blocks * self.dim)[:, : store.cols]
        if store.bias_row is not None:
            bias = self.parameters[store.bias_row : store.bias_row + blocks]
            data = data + bias.reshape(-1)[: store.cols]
        if store.wide:
            return data
        scale = scale_from_bits(store.scale)
        if store.passing is not None:
            scaled = self.passing.scaled(data, store.passing, np.float32(scale))
            if scaled is None:
                return np.zeros((0, store.cols), np.int8)
        else:
            scaled = requantize(data, scale)
        return relu(scaled) if store.relu else scaled

    def _multiply(self, product: Product) -> None:
        if product.load_weights:
            self.weights = self._matrix(product.w, self.dim)
        if product.resident is not None:
            self._accumulate_sums(product, product.resident)
            return
        if product.c is None or not product.c.rows:
            return
        cols = product.c.cols
        a = self._matrix(product.a, product.c.rows)
        if product.a_unsigned:
            a = a.view(np.uint8)
        result = exact_matmul(a, self.weights[:, :cols])
        if product.d is not None:
            result += self._matrix(product.d, product.c.rows)[:, :cols]
        self._write_result(product, product.c, result)

    def _accumulate_sums(self, product: Product, resident: Resident) -> None:
        """An output-stationary product."""
        a = self._matrix(product.a, self.dim)
        if product.a_unsigned:
            a = a.view(np.uint8)
        if resident.start:
            self.sums = self._matrix(product.d, self.dim).astype(np.int32)
        self.sums = wrap32(self.sums + exact_matmul(a, self.weights))
        if product.c is not None and product.c.rows:
            kept = self.sums[: product.c.rows, : product.c.cols]
            self._write_result(product, product.c, round_shift(kept, resident.shift))

    def _matrix(self, operand: Operand | None, rows: int) -> NDArray[np.int8]:
        """The operand's elements, `rows` x `dim`: cut, or filled up with zeros."""
        matrix = np.zeros((rows, self.dim), np.int8)
        if operand is not None:
            lines = _lines(self.scratchpad, operand)
            part = lines[:, : operand.rows].T if operand.transposed else lines[:, : operand.cols]
            kept = min(rows, operand.rows)
            matrix[:kept, : operand.cols] = part[:kept]
        return matrix

    def _write_result(self, product: Product, c: Operand, result: NDArray[np.int64]) -> None:
        if c.local.accumulator:
            memory, data = self.accumulator, wrap32(result)
        else:
            memory, data = self.scratchpad, np.clip(result, INT8_MIN, INT8_MAX).astype(np.int8)
            data = relu(data) if product.relu else data
        accumulate = c.local.accumulator and c.local.accumulate
        if c.stride:
            target = memory[c.local.row : c.last + 1 : c.stride, : c.cols]
        else:  # All rows meet in one.
            target = memory[c.local.row : c.local.row + 1, : c.cols]
            data = wrap32(result.sum(axis=0, keepdims=True)) if accumulate else data[-1:]
        if accumulate:
            target += data
        else:
            target[...] = data


def _lines(memory: NDArray[Any], operand: Operand) -> NDArray[Any]:
    """The local rows that hold `operand`, `lines` x `dim`."""
    start = operand.local.row
    if operand.stride:
        return memory[start : max(start, operand.last + 1) : operand.stride]
    return np.broadcast_to(memory[start : start + 1], (operand.lines, memory.shape[1]))


def _garbage(
    random: np.random.Generator, rows: int, cols: int, kind: type[np.integer[Any]]
) -> NDArray[Any]:
    info = np.iinfo(kind)
    return random.integers(info.min, info.max, (rows, cols), kind, endpoint=True)
