"""ONNX Runtime's products with weights of few bits (MatMulNBits): with the floats these stand for.

The layout is that of `onnxruntime/core/graph/contrib_ops/contrib_defs.cc`: each row of weights, one
for each column of the result, is blocks of numbers with a scale and a zero point each; numbers
stand in bytes one after the other, the lowest bits first.
"""

from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.products import matmul
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.nn.operators.operator import Array, expect

__all__ = ["FEW_BITS"]

FEW_BITS: Final = Handlers()


@FEW_BITS.of("MatMulNBits", but="weights known only when the model runs, blocks by g_idx")
def _matmul_nbits(call: Call) -> str:
    weights = call.build.constant(_weights(call).T.copy(), name=f"{call[1]}_floats")
    call.ignore("accuracy_level")
    found = matmul(call, call[0], weights)
    bias = call.optional(5)
    return found if bias is None else call.op("add", found, bias)


def _weights(call: Call) -> Array:
    """The floats of each row (N x K)."""
    columns, depth = call.attribute("N"), call.attribute("K")
    size, bits = call.attribute("block_size"), call.attribute("bits", 4)
    expect(min(columns, depth, size) > 0, f"N {columns}, K {depth} or block_size {size} is below 1")
    expect(2 <= bits <= 8, f"numbers of {bits} bits: 2 to 8 are possible")
    blocks = -(-depth // size)
    scales = call.known(2, "scales")
    expect(scales.size == columns * blocks, f"{scales.size} scales of {columns} x {blocks} blocks")
    scales = scales.reshape(columns, blocks)
    kept = _numbers(call.known(1, "weights"), columns, bits, blocks * size)[:, :depth]
    zeros = np.full((columns, blocks), 1 << (bits - 1), scales.dtype)
    if call.optional(3) is not None:
        given = call.known(3, "zero points")
        if given.dtype == np.uint8:
            zeros = _numbers(given, columns, bits, blocks)
        else:
            expect(given.size == scales.size, f"{given.size} zero points of {scales.size} blocks")
            zeros = given.reshape(scales.shape)
    block = np.arange(depth) // size
    return (kept.astype(scales.dtype) - zeros[:, block].astype(scales.dtype)) * scales[:, block]


def _numbers(packed: Array, rows: int, bits: int, count: int) -> Array:
    """The first `count` numbers of `bits` bits in the bytes of each of `rows`."""
    expect(packed.dtype == np.uint8, f"its numbers are {packed.dtype}, not bytes")
    whole = packed.size % rows == 0 and packed.size // rows * 8 >= count * bits
    expect(whole, f"{packed.size} bytes for {rows} rows of {count} numbers of {bits} bits")
    each = np.unpackbits(packed.reshape(rows, -1), axis=1, bitorder="little")
    apart = each[:, : count * bits].reshape(rows, count, bits)
    return np.packbits(apart, axis=2, bitorder="little")[:, :, 0]
