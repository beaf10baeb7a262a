"""Constants as they stand in memory: weights of four bits, tile by tile."""

from typing import Any

from numpy.typing import NDArray

from celosia.isa.encoding import WeightType
from celosia.isa.numerics.nibbles import pack_int4
from celosia.sw.ir.graph import Graph, MatMul

__all__ = ["check_whole_tiles", "packed"]


def check_whole_tiles(graph: Graph, dim: int) -> None:
    """Raise `ValueError` that names a product whose packed weights are no whole tiles of `dim`."""
    for op in graph.ops:
        if isinstance(op, MatMul):
            packing = graph.tensors[op.b.tensor].packing
            if packing is not WeightType.INT8 and (op.b.row % dim or op.b.rows % dim):
                raise ValueError(
                    f"operator {op.name}: {op.b} is {packing.name.lower()}, whose rows are packed "
                    f"in tiles of {dim}, but {op.b.rows} is no multiple of that"
                )


def packed(value: NDArray[Any], packing: WeightType, dim: int) -> NDArray[Any]:
    """Rows of whole tiles of `value` as they stand in memory, for an array of `dim`.

    A tile of int4 is ``dim`` rows of `value`, and half as many of the result.
    """
    if packing is WeightType.INT8:
        return value
    return pack_int4(value.reshape(-1, dim, value.shape[1])).reshape(-1, value.shape[1])
