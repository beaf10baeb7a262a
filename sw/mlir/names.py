"""What tensors and operators are called in dialect ``cel``."""

from typing import Final, get_args

from celosia.sw.ir.graph import Op

__all__ = ["ELEMENTS", "OPERATORS", "memref"]

OPERATORS: Final = {f"cel.{kind.__name__.lower()}": kind for kind in get_args(Op)}
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
