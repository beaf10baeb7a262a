"""Local memories that hold matrices, and the commands that transform them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_TRANSFORM,
    NO_KEY_LIMIT,
    TRANSFORM,
    Command,
    Function,
    float_bits,
)
from celosia.isa.operations.transforms import Transform

__all__ = [
    "accumulator_row",
    "blocks_of",
    "operation",
    "put_blocks",
    "scratchpad_row",
    "transform",
]


def accumulator_row(row: int) -> int:
    """A local address in the accumulator."""
    return LocalAddress(row=row, accumulator=True).encode()


def scratchpad_row(row: int) -> int:
    """A local address in the scratchpad."""
    return LocalAddress(row=row).encode()


def put_blocks(memory: NDArray[Any], first: int, stride: int, matrix: NDArray[Any]) -> None:
    """Put the bytes of a matrix into local rows: block b of row r into ``first + r + b*stride``."""
    row_bytes = memory.shape[1] * memory.itemsize
    data = np.ascontiguousarray(matrix).view(np.uint8).reshape(len(matrix), -1)
    flat = memory.view(np.uint8)
    for number, left in enumerate(range(0, data.shape[1], row_bytes)):
        block = data[:, left : left + row_bytes]
        top = first + number * stride
        flat[top : top + len(matrix), : block.shape[1]] = block


def blocks_of(
    memory: NDArray[Any], first: int, stride: int, shape: tuple[int, int], kind: Any
) -> NDArray[Any]:
    """The matrix that local rows hold; the inverse of `put_blocks`."""
    rows, cols = shape
    row_bytes = memory.shape[1] * memory.itemsize
    count = -(-cols * np.dtype(kind).itemsize // row_bytes)
    flat = memory.view(np.uint8)
    parts = [flat[first + b * stride : first + b * stride + rows] for b in range(count)]
    return np.ascontiguousarray(np.concatenate(parts, axis=1)).view(kind)[:, :cols]


def transform(
    function: Function,
    *,
    shape: tuple[int, int],
    source: int,
    target: int = 0,
    target2: int = 0,
    scale: float = 1.0,
    scale2: float = 1.0,
    rows: dict[str, int] | None = None,
    norm: dict[str, int] | None = None,
    mask: dict[str, int] | None = None,
    **settings: int,
) -> list[Command]:
    """A TRANSFORM of `shape` and all its configuration; `settings` are CONFIG_TRANSFORM's."""
    height, width = shape
    return [
        CONFIG_TRANSFORM.encode(
            function=function,
            scale=float_bits(scale),
            scale2=float_bits(scale2),
            **settings,
        ),
        CONFIG_ROWS.encode(**(rows or {})),
        CONFIG_NORM.encode(**(norm or {})),
        CONFIG_MASK.encode(**({"keys": NO_KEY_LIMIT} | (mask or {}))),
        TRANSFORM.encode(
            local=source,
            local_rows=height,
            local_cols=width,
            target=target,
            target2=target2,
        ),
    ]


def operation(transform: Transform, config: AcceleratorConfig) -> dict[str, Any]:
    """`TransformOp` of a legal `transform`."""
    get = transform.setting
    fields = {
        name: get(name)
        for name in (
            "function",
            "bias",
            "column_scale",
            "relu",
            "start",
            "finish",
            "moments",
            "zero_point",
            "scale",
            "scale2",
        )
    }
    norm, rows, mask = (
        transform.state.fields[known.name] for known in (CONFIG_NORM, CONFIG_ROWS, CONFIG_MASK)
    )
    source, halves = transform.source(config.dim), transform.blocks(2, config.dim)
    apart = rows["residual_stride"]
    visible = transform.cols
    if mask["keys"] != NO_KEY_LIMIT:
        visible = min(visible, mask["keys"] - mask["first_key"])
    return fields | {
        "staged": transform.staged,
        "kind": get("type"),
        "kind2": norm["type2"],
        "two": transform.two,
        "slot": get("statistics"),
        "shift": norm["shift"],
        "shift2": norm["shift2"],
        "rows": transform.rows,
        "cols": transform.cols,
        "row": transform.local.row,
        "stride": rows["source_stride"],
        "target": transform.target.row,
        "target_stride": rows["target_stride"],
        "target2": transform.target2.row,
        "target2_stride": norm["target2_stride"],
        "residual": LocalAddress.decode(rows["residual"]).row,
        "residual_stride": rows["residual_stride"],
        "halfway": ((source.blocks - 1) * source.stride + source.stride) // 2,
        "residual_halfway": ((halves - 1) * apart + apart) // 2,
        "bias_row": rows["bias_row"],
        "scale_row": rows["scale_row"],
        "gamma_row": norm["parameter_row"],
        "visible": visible,
        "causal": mask["causal"],
        "diagonal": mask["first_row"] - mask["first_key"] + 1,
        "window": mask["window"],
        "ring": mask["ring"],
        "norm": {name: norm[name] for name in ("channels", "epsilon", "rms")},
        "constants": {
            "exponent": transform.state.fields[CONFIG_EXPONENT.name],
            "gelu": transform.state.fields[CONFIG_GELU.name],
        },
    }
