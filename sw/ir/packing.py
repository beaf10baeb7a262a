"""Constants as they stand in memory: weights of four bits, tile by tile."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import WeightType
from celosia.isa.numerics.nibbles import pack_int4
from celosia.sw.ir.graph import Graph, MatMul

__all__ = ["packed", "with_whole_tiles"]


def with_whole_tiles(graph: Graph, dim: int) -> Graph:
    """`graph` with lines of zeros behind packed weights, so that these are whole tiles of `dim`.

    Nobody multiplies by these lines: views of weights stay what they are.  Raises `ValueError` that
    names a product whose weights begin within a tile.
    """
    for op in graph.ops:
        if isinstance(op, MatMul):
            packing = graph.tensors[op.b.tensor].packing
            if packing is not WeightType.INT8 and op.b.row % dim:
                raise ValueError(
                    f"operator {op.name}: {op.b} is {packing.name.lower()}, whose rows are packed "
                    f"in tiles of {dim}, but {op.b.row} is no multiple of that"
                )
    lines = {
        name: -tensor.rows % dim
        for name, tensor in graph.tensors.items()
        if tensor.packing is not WeightType.INT8 and tensor.rows % dim
    }
    if not lines:
        return graph
    tensors, constants = dict(graph.tensors), dict(graph.constants)
    for name, count in lines.items():
        tensors[name] = replace(tensors[name], rows=tensors[name].rows + count)
        constants[name] = np.pad(constants[name], ((0, count), (0, 0)))
    return replace(graph, tensors=tensors, constants=constants)


def packed(value: NDArray[Any], packing: WeightType, dim: int) -> NDArray[Any]:
    """Rows of whole tiles of `value` as they stand in memory, for an array of `dim`.

    A tile of int4 is ``dim`` rows of `value`, and half as many of the result.
    """
    if packing is WeightType.INT8:
        return value
    return pack_int4(value.reshape(-1, dim, value.shape[1])).reshape(-1, value.shape[1])
