"""The local memories as NumPy arrays, and matrices in their rows."""

from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.operands import Statistics
from celosia.isa.operations.transforms import Rows

__all__ = ["LocalMemories"]

Array = NDArray[Any]

_WORD: Final = np.dtype("<i4")


class LocalMemories:
    """What an accelerator holds; garbage made from `seed` at first, or the byte `fill` everywhere.

    Members:

    scratchpad : int8, ``(scratchpad_rows, dim)``
    accumulator : int32, ``(accumulator_rows, dim)``
    parameters : int32, ``(parameter_rows, dim)``
    weights : int8, ``(dim, dim)``, what the array holds; element (k, j) meets column k of A
    sums : int32, ``(dim, dim)``, what output-stationary products add to
    statistics : what is known of rows (`Statistics`); zeros with `fill`
    """

    def __init__(self, config: AcceleratorConfig, *, seed: int = 0, fill: int | None = None):
        self.dim = config.dim
        self.scale_bits = config.scale_bits
        random = np.random.default_rng(seed)

        def made(rows: int, kind: type[np.integer[Any]]) -> Array:
            if fill is not None:
                size = rows * config.dim * np.dtype(kind).itemsize
                return np.full(size, fill, np.uint8).view(kind).reshape(rows, config.dim)
            info = np.iinfo(kind)
            return random.integers(info.min, info.max, (rows, config.dim), kind, endpoint=True)

        self.scratchpad = made(config.scratchpad_rows, np.int8)
        self.accumulator = made(config.accumulator_rows, np.int32)
        self.parameters = made(config.parameter_rows, np.int32)
        self.weights = made(config.dim, np.int8)
        self.sums = made(config.dim, np.int32)
        slots = config.statistics_rows
        zeros = fill is not None
        self.statistics = Statistics.zeros(slots) if zeros else Statistics.garbage(slots, random)

    def get(self, place: Rows, rows: int, cols: int, kind: DTypeLike) -> Array:
        """The matrix of `rows` x `cols` elements at `place`; a copy."""
        memory = self.accumulator if place.local.accumulator else self.scratchpad
        first, dtype = place.local.row, np.dtype(kind)
        if place.blocks == 1:
            found = memory[first : first + rows]
        else:
            index = np.arange(rows)[:, np.newaxis] + np.arange(place.blocks) * place.stride
            found = memory[first + index].reshape(rows, -1)
        return np.ascontiguousarray(found).view(dtype)[:, :cols].copy()

    def put(self, place: Rows, matrix: Array) -> None:
        """Write `matrix` to `place`, as many bytes of its rows as it has.

        Rows are written in order, each block by block: where places meet, the last one stays.
        """
        memory = self.accumulator if place.local.accumulator else self.scratchpad
        rows, row_bytes = len(matrix), memory.shape[1] * memory.itemsize
        data = np.ascontiguousarray(matrix).view(np.uint8).reshape(rows, -1)
        flat = memory.view(np.uint8).reshape(-1)
        blocks = -(-data.shape[1] // row_bytes)
        if blocks == 1 or place.stride >= rows:
            lines = flat.reshape(-1, row_bytes)
            for block in range(blocks):
                part = data[:, block * row_bytes : (block + 1) * row_bytes]
                first = place.local.row + block * place.stride
                lines[first : first + rows, : part.shape[1]] = part
            return
        first = place.local.row + np.arange(rows)[:, np.newaxis] + np.arange(blocks) * place.stride
        at = (first[:, :, np.newaxis] * row_bytes + np.arange(row_bytes)).reshape(rows, -1)
        flat[at[:, : data.shape[1]]] = data

    def parameter_vector(self, row: int, count: int, kind: DTypeLike = _WORD) -> Array:
        """`count` 32-bit elements from parameter row `row` on; a view."""
        first = row * self.dim
        return self.parameters.reshape(-1)[first : first + count].view(kind)

    def put_parameters(self, row: int, vector: Array) -> None:
        """Write 32-bit elements to the parameter rows from `row` on."""
        first = row * self.dim
        words = np.ascontiguousarray(vector).reshape(-1).view(_WORD)
        self.parameters.reshape(-1)[first : first + words.size] = words
