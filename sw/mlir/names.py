"""What tensors and operators are called in dialect ``cel``."""

from typing import Final

from celosia.sw.ir.graph import Combine, LayerNorm, MatMul, Transform

__all__ = ["ELEMENTS", "OPERATORS", "memref"]

OPERATORS: Final = {
    "cel.matmul": MatMul,
    "cel.transform": Transform,
    "cel.layernorm": LayerNorm,
    "cel.combine": Combine,
}
"""The class of each operator."""
ELEMENTS: Final = {
    "int8": "si8",
    "uint8": "ui8",
    "int16": "si16",
    "int32": "si32",
    "float32": "f32",
}
"""MLIR's name of each type of elements."""


def memref(rows: int, cols: int, kind: str) -> str:
    """The type of a matrix, or of a view of one."""
    return f"memref<{rows}x{cols}x{ELEMENTS[kind]}>"
