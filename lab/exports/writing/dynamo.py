"""Writes nodes as torch's newer exporter does, before and after it has optimized them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx import numpy_helper

from celosia.lab.exports.writing.tape import Size, Tape

__all__ = ["DynamoTape"]


class DynamoTape(Tape):
    """A graph in the making, whose values are numbered.

    As written first, weights keep their names and are transposed by a node each, numbers are
    Constants cast to the type of what they meet, and sizes are reshaped from scalars.  Optimized,
    constants are initializers.
    """

    def __init__(self, name: str, opset: int, *, optimized: bool):
        super().__init__(name, opset)
        self.optimized = optimized
        self._values = 0
        self._known: dict[tuple[str, bytes], str] = {}

    def node_name(self, kind: str) -> str:
        self._values += 1
        return f"node_{kind}_{self._values}"

    def result_names(self, node: str, results: int) -> list[str]:
        name = f"val_{node.rpartition('_')[2]}"
        return [name] if results == 1 else [f"{name}_split_{index}" for index in range(results)]

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.int64) -> str:
        """An initializer if optimized; else a Constant with a list, or a tensor."""
        array = np.asarray(value, dtype)
        if self.optimized:
            key = (f"{array.dtype}{array.shape}", array.tobytes())
            if key not in self._known:
                self._values += 1
                self._known[key] = self.weight(f"val_{self._values}", array)
            return self._known[key]
        if array.dtype == np.int64 and array.ndim == 1:
            return self.op("Constant", value_ints=array.tolist())
        return self.op("Constant", value=numpy_helper.from_array(array))

    def like(self, value: float, x: str) -> str:
        """A number in the type of `x`."""
        if self.optimized:
            return self.number(value)
        return self.op("CastLike", self.op("Constant", value_float=value), x)

    def matrix(self, name: str, array: NDArray[Any]) -> str:
        """The (inputs, outputs) matrix of a MatMul: folded, or the transposed weights."""
        if self.optimized:
            self._values += 1
            return self.weight(f"val_{self._values}", array)
        return self.op("Transpose", self.weight(name, array.T), perm=[1, 0])

    def size(self, value: str, axis: int) -> str:
        """The size of an axis: of shape [1] if optimized, else a scalar."""
        part = self.op("Shape", value, start=axis, end=axis + 1)
        return part if self.optimized else self.op("Squeeze", part)

    def vector(self, *sizes: Size) -> str:
        return self.op("Concat", *(self._one(size) for size in sizes), axis=0)

    def slice(self, value: str, start: Size, end: Size, axis: int, step: int = 1) -> str:
        bounds = (self._one(bound) for bound in (start, end, axis))
        return self.op("Slice", value, *bounds, self.constant([step]))

    def expand(self, value: str, *sizes: Size) -> str:
        return self.op("Expand", value, self.vector(*sizes))

    def _one(self, size: Size) -> str:
        if not isinstance(size, str):
            return self.constant([size])
        return size if self.optimized else self.op("Reshape", size, self.constant([-1]))
