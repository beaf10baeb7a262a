"""What a product does to the local memories and to what stays in the array."""

import numpy as np
from numpy.typing import NDArray

from celosia.isa.execution.memories import Array, LocalMemories
from celosia.isa.numerics import INT8_MAX, INT8_MIN, exact_matmul, relu, round_shift, wrap32
from celosia.isa.numerics.nibbles import unpack_int4
from celosia.isa.operations.operations import Operand, Product, Resident

__all__ = ["execute_product"]


def execute_product(product: Product, memories: LocalMemories) -> None:
    """Do a legal `product`.  Rows of its result that meet each other are written in order."""
    if product.load_weights:
        memories.weights = _matrix(memories, product.w, memories.dim)
    if product.resident is not None:
        _accumulate_sums(product, product.resident, memories)
        return
    if product.c is None or not product.c.rows:
        return
    cols = product.c.cols
    a = _activations(product, memories, product.c.rows)
    result = exact_matmul(a, memories.weights[:, :cols])
    if product.d is not None:
        result += _matrix(memories, product.d, product.c.rows)[:, :cols]
    _write_result(product, product.c, result, memories)


def _accumulate_sums(product: Product, resident: Resident, memories: LocalMemories) -> None:
    """An output-stationary product."""
    a = _activations(product, memories, memories.dim)
    if resident.start:
        memories.sums = _matrix(memories, product.d, memories.dim).astype(np.int32)
    memories.sums = wrap32(memories.sums + exact_matmul(a, memories.weights))
    if product.c is not None and product.c.rows:
        kept = memories.sums[: product.c.rows, : product.c.cols]
        _write_result(product, product.c, round_shift(kept, resident.shift), memories)


def _activations(product: Product, memories: LocalMemories, rows: int) -> Array:
    a = _matrix(memories, product.a, rows)
    return a.view(np.uint8) if product.a_unsigned else a


def _matrix(memories: LocalMemories, operand: Operand | None, rows: int) -> NDArray[np.int8]:
    """The operand's elements, `rows` x `dim`: cut, or filled up with zeros."""
    matrix = np.zeros((rows, memories.dim), np.int8)
    if operand is not None:
        lines = _lines(memories.scratchpad, operand)
        if operand.fold is not None:
            lines = unpack_int4(lines)[: operand.cols if operand.transposed else operand.rows]
        part = lines[:, : operand.rows].T if operand.transposed else lines[:, : operand.cols]
        kept = min(rows, operand.rows)
        matrix[:kept, : operand.cols] = part[:kept]
    return matrix


def _lines(memory: Array, operand: Operand) -> Array:
    """The local rows that hold `operand`, `lines` x `dim`."""
    start = operand.local.row
    if operand.stride:
        return memory[start : max(start, operand.last + 1) : operand.stride]
    return np.broadcast_to(memory[start : start + 1], (operand.lines, memory.shape[1]))


def _write_result(
    product: Product, c: Operand, result: NDArray[np.int64], memories: LocalMemories
) -> None:
    if c.local.accumulator:
        memory, data = memories.accumulator, wrap32(result)
    else:
        memory, data = memories.scratchpad, np.clip(result, INT8_MIN, INT8_MAX).astype(np.int8)
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
