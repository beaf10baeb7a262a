"""The matrix product as a problem: shapes, element types and what happens on the way out."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np

from celosia.isa.documents.record import Added, Rule
from celosia.sw.ir.graphs.tensors import MAX_EXTENT

__all__ = ["MatMul", "verify"]

_Size: TypeAlias = Annotated[int, Rule(minimum=1)]


@dataclass(frozen=True, kw_only=True)
class MatMul:
    """``C = act(scale * (A @ B + bias))``, or the raw ``C = A @ B + bias``.

    A is ``m x k``, B ``k x n`` and C ``m x n``, dense and row-major in memory.  A is int8 or uint8,
    B int8, the bias one int32 for each column.  Sums are int32 and wrap.
    """

    m: _Size
    """Rows of A and C."""
    n: _Size
    """Columns of B and C."""
    k: _Size
    """Columns of A and rows of B."""
    a_unsigned: Added[bool] = False
    """Whether A is uint8, not int8."""
    b_transposed: Added[bool] = False
    """B stands in memory as ``n x k``."""
    bias: Added[bool] = False
    """Whether a bias is added."""
    scale: Added[float | None] = None
    """C is int8, requantized by this float32; null: C is int32."""
    relu: Added[bool] = False
    """Negative results become 0 (int8 only)."""

    @property
    def macs(self) -> int:
        """Useful multiply-accumulates."""
        return self.m * self.n * self.k

    @property
    def b_shape(self) -> tuple[int, int]:
        """Rows and columns of B as it stands in memory."""
        return (self.n, self.k) if self.b_transposed else (self.k, self.n)

    @property
    def c_bytes(self) -> int:
        """Bytes of one element of C."""
        return 4 if self.scale is None else 1

    def __str__(self) -> str:
        parts = [
            f"matmul {self.m}x{self.n}x{self.k}",
            f"{'uint8' if self.a_unsigned else 'int8'} x int8 -> int{8 * self.c_bytes}",
        ]
        parts += ["B transposed"] * self.b_transposed + ["bias"] * self.bias
        parts += [] if self.scale is None else [f"scale {np.float32(self.scale)!s}"]
        return ", ".join(parts + ["ReLU"] * self.relu)


def verify(problem: MatMul) -> MatMul:
    """Return `problem` if it can be computed; raise `ValueError` otherwise."""
    for name in ("m", "n", "k"):
        if not 1 <= getattr(problem, name) <= MAX_EXTENT:
            raise ValueError(f"{name}: {getattr(problem, name)} is not in 1..{MAX_EXTENT}")
    if problem.scale is None:
        if problem.relu:
            raise ValueError("relu: an int32 result is not activated; give a scale, or no ReLU")
    else:
        with np.errstate(over="ignore"):
            scale = np.float32(problem.scale)
        if not np.isfinite(scale):
            raise ValueError(f"scale: {problem.scale} is not a finite float32")
    return problem
