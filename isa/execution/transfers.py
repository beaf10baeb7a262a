"""What loads and stores move between memory (DRAM) and the local memories."""

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import DTypeLike

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ONE
from celosia.isa.execution.memories import Array, LocalMemories
from celosia.isa.execution.passing import PassingRows
from celosia.isa.numerics import max_pool, mvin_scale, relu, requantize_to, scale_from_bits
from celosia.isa.operations.operations import Load, LoadParameters, Store
from celosia.isa.state.pooling import Pooling

__all__ = ["DeviceMemory", "Transfers"]

_INT8: Final = np.dtype(np.int8)
_INT16: Final = np.dtype("<i2")
_INT32: Final = np.dtype("<i4")


class DeviceMemory(Protocol):
    """Memory (DRAM) as operations reach it."""

    def rows(self, address: int, stride: int, shape: tuple[int, int], dtype: DTypeLike) -> Array:
        """A view of elements in memory: row r starts at ``address + r*stride`` modulo 2^64.

        Raises an exception of its own if a row leaves memory.
        """
        ...


class Transfers:
    """Executes legal loads and stores between `memory` and `local`, one at a time.

    An exception of `memory` passes through, before anything is written.
    """

    def __init__(self, config: AcceleratorConfig, memory: DeviceMemory, local: LocalMemories):
        self.config, self.dim = config, config.dim
        self.memory = memory
        self.local = local
        self.passing = PassingRows()

    def load(self, load: Load) -> None:
        """Execute `load`."""
        data = self._incoming(load)
        pitch = load.pitch
        if load.repeats > 1:
            self._put_copies(load, data)
        elif load.cols > self.dim and pitch < load.rows:  # Blocks meet: row by row is the order.
            for row in range(load.rows):
                self._put_blocks(load, load.local.row + row, data[row : row + 1])
        else:
            self._put_blocks(load, load.local.row, data)

    def load_parameters(self, load: LoadParameters) -> None:
        """Execute `load`."""
        self.local.put_parameters(
            load.row, self.memory.rows(load.address, 0, (1, load.count), _INT32)
        )

    def store(self, store: Store) -> None:
        """Execute `store`."""
        if store.silent:
            self._outgoing(store)
            return
        if store.pooling is not None:
            self._store_pooled(store, store.pooling)
            return
        kind = _INT32 if store.wide else _INT16 if store.int16 else _INT8
        target = self.memory.rows(store.address, store.stride, (store.rows, store.cols), kind)
        data = self._outgoing(store)
        if abs(target.strides[0]) >= store.cols * kind.itemsize:
            target[...] = data
        else:  # Rows meet in memory.
            for place, row in zip(target, data, strict=True):
                place[...] = row

    def _put_copies(self, load: Load, data: Array) -> None:
        """Write the rows of `load` as often as it repeats pixels."""
        for copy in range(load.repeats):
            first = load.local.row - copy
            hidden = min(max(0, load.first(self.config) - first), load.rows)
            left = copy * load.cols
            rows = self.local.scratchpad[first + hidden : first + load.rows]
            rows[:, left : left + load.cols] = data[hidden:]

    def _incoming(self, load: Load) -> Array:
        """The elements of a load, as they are written or added."""
        shape = (load.rows, load.cols)
        if load.zero:
            return np.zeros(shape, _INT8)
        kind = _INT32 if load.wide else _INT8
        data = self.memory.rows(load.address, load.stride, shape, kind)
        if load.wide or load.scale == ONE:
            return data
        return mvin_scale(data, scale_from_bits(load.scale))

    def _put_blocks(self, load: Load, first: int, data: Array) -> None:
        memory = self.local.accumulator if load.local.accumulator else self.local.scratchpad
        rows, cols = data.shape
        blocks, rest = divmod(cols, self.dim)
        end = first + blocks * load.pitch
        apart = not rest and rows <= load.pitch and end <= len(memory)
        if apart and not load.local.accumulate:
            places = memory[first:end].reshape(blocks, load.pitch, self.dim)
            places[:, :rows] = data.reshape(rows, blocks, self.dim).transpose(1, 0, 2)
            return
        for left in range(0, cols, self.dim):
            block = data[:, left : left + self.dim]
            target = memory[first : first + rows, : block.shape[1]]
            if load.local.accumulator and load.local.accumulate:
                target += block
            else:
                target[...] = block
            first += load.pitch

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
        starts = [store.address + r * pooling.pitch * store.stride for r in range(pooling.rows)]
        # All of memory that is written is looked at before any of it is.
        targets = [self.memory.rows(start, store.stride, shape, _INT8) for start in starts]
        for target, row in zip(targets, pixels, strict=True):
            for place, pixel in zip(target, row, strict=True):
                place[...] = pixel

    def _outgoing(self, store: Store) -> Array:
        """The elements of a store, as they are written."""
        data: Array = self._stored(store)
        if not store.local.accumulator:
            return data
        if store.bias_row is not None:
            data = data + self.local.parameter_vector(store.bias_row, store.cols)
        if store.wide:
            return data
        scale = scale_from_bits(store.scale)
        if store.passing is not None:
            scaled: Any = self.passing.scaled(data, store.passing, np.float32(scale))
            if scaled is None:
                return np.zeros((0, store.cols), np.int8)
        else:
            scaled = requantize_to(data, scale, _INT16 if store.int16 else _INT8)
        return relu(scaled) if store.relu else scaled

    def _stored(self, store: Store) -> Array:
        """The elements of a store, as they stand in local rows."""
        local, blocks = store.local, store.blocks(self.dim)
        memory = self.local.accumulator if local.accumulator else self.local.scratchpad
        first = np.arange(local.row, local.row + store.rows)[:, np.newaxis]
        rows = first + np.arange(blocks) * store.pitch
        return memory[rows].reshape(store.rows, blocks * self.dim)[:, : store.cols]
