"""What a product must be, on the original operands: the definition that results are held against.

Shares no code with the compiler or with any simulator, and none with `celosia.isa.numerics`.
"""

import numpy as np

__all__ = ["matmul_reference", "requantize_reference"]

_EXACT = 1 << 53
"""Integers below this are exact in float64, and so are their sums."""


def matmul_reference(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    scale: float | None = None,
    relu: bool = False,
) -> np.ndarray:
    """``act(scale * (a @ b + bias))`` as int8, or without a scale ``a @ b + bias`` as int32.

    `a` is M x K int8 or uint8, `b` K x N int8 (pass ``.T`` of a transposed one), `bias` N int32.
    Sums wrap at 32 bits.
    """
    assert a.shape[1] * 255 * 128 < _EXACT
    total = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    if bias is not None:
        total += bias.astype(np.int64)
    accumulator = (total & 0xFFFF_FFFF).astype(np.uint32).view(np.int32)
    if scale is None:
        return accumulator
    result = requantize_reference(accumulator, scale)
    return np.maximum(result, np.int8(0)) if relu else result


def requantize_reference(accumulator: np.ndarray, scale: float) -> np.ndarray:
    """int32 to int8: to float32, times `scale` in float32, to the nearest integer, saturated."""
    with np.errstate(over="ignore"):
        product = accumulator.astype(np.float32) * np.float32(scale)
    return np.clip(np.rint(product), -128, 127).astype(np.int8)
