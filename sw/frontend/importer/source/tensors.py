"""Tensors of an ONNX file to arrays: sizes are checked before a byte is read.

Numbers of 16 bits become float32; one that stands alone and is a number of GELU, rounded, is that
number (1.4140625 is the root of 2): with another one, an exporter's GELU is none.  Data outside of
the file are mapped into memory, from the model's own folder only.
"""

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Final

import numpy as np
from onnx import TensorProto

from celosia.isa.foreign_file import ForeignFileError, check_foreign
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.operators.neural import GELU_NUMBERS
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["HALVES", "element_name", "graph_dtype", "read_tensor", "stored_bytes", "tensor_type"]

HALVES: Final[Mapping[int, str]] = {
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
}
"""Types of 16 bits, which the float graph computes in float32."""

_STORED: Final[Mapping[int, tuple[str, str]]] = {
    TensorProto.FLOAT: ("float32", "float_data"),
    TensorProto.DOUBLE: ("float64", "double_data"),
    TensorProto.FLOAT16: ("float16", "int32_data"),
    TensorProto.BFLOAT16: ("uint16", "int32_data"),
    TensorProto.INT8: ("int8", "int32_data"),
    TensorProto.INT16: ("int16", "int32_data"),
    TensorProto.INT32: ("int32", "int32_data"),
    TensorProto.INT64: ("int64", "int64_data"),
    TensorProto.UINT8: ("uint8", "int32_data"),
    TensorProto.UINT16: ("uint16", "int32_data"),
    TensorProto.UINT32: ("uint32", "uint64_data"),
    TensorProto.UINT64: ("uint64", "uint64_data"),
    TensorProto.BOOL: ("bool", "int32_data"),
}
"""The type of an element in memory, and the field of those that are not raw bytes."""

_MOST_BYTES: Final = 1 << 40
_TYPED_BITS: Final = {"int32_data": np.int32, "int64_data": np.int64, "uint64_data": np.uint64}


def element_name(kind: int) -> str:
    """The name that ONNX has for an element type; the number of one that has none."""
    names = TensorProto.DataType
    return names.Name(kind) if kind in names.values() else str(kind)


def graph_dtype(kind: int) -> str:
    """The element type of the float graph for one of ONNX.  Raises `ImportProblem`."""
    if kind in HALVES:
        return "float32"
    if kind not in _STORED:
        raise ImportProblem(f"elements of type {element_name(kind)} are not supported")
    return _STORED[kind][0]


def tensor_type(tensor: TensorProto) -> TensorType:
    """The type that a tensor has in the float graph.  Raises `ImportProblem`."""
    if min(tensor.dims, default=0) < 0:
        raise ImportProblem(f"tensor {tensor.name}: its sizes are {tuple(tensor.dims)}")
    try:
        return TensorType(graph_dtype(tensor.data_type), tuple(tensor.dims))
    except ImportProblem as error:
        raise ImportProblem(f"tensor {tensor.name}: {error}") from None


def stored_bytes(tensor: TensorProto) -> int:
    """How many bytes the elements of a tensor have in its file; 0 for types that none has."""
    if tensor.data_type not in _STORED:
        return 0
    return prod(tensor.dims) * np.dtype(_STORED[tensor.data_type][0]).itemsize


def read_tensor(
    tensor: TensorProto, folder: Path | None, tell: Callable[[str, int], None]
) -> Array:
    """The elements of `tensor`, as the float graph has them.

    `folder` is that of the model, None if it came from no file; `tell` is told the type and the
    bytes of numbers of 16 bits.  Raises `ImportProblem` that names the tensor.
    """
    kind = tensor_type(tensor)
    if tensor.HasField("segment"):
        raise ImportProblem(f"tensor {tensor.name}: segments of tensors are not supported")
    stored, field = _STORED[tensor.data_type]
    if tensor.data_location == TensorProto.EXTERNAL:
        flat = _external(tensor, np.dtype(stored), kind.size, folder)
    elif tensor.HasField("raw_data"):
        flat = _raw(tensor, np.dtype(stored))
    else:
        flat = _typed(getattr(tensor, field), field, np.dtype(stored))
    if flat.size != kind.size:
        raise ImportProblem(
            f"tensor {tensor.name}: it has {flat.size} elements, not {kind.size} of shape "
            f"{kind.shape}"
        )
    if tensor.data_type in HALVES:
        tell(HALVES[tensor.data_type], flat.nbytes)
        flat = _meant(_widened(flat), HALVES[tensor.data_type])
    return flat.reshape(kind.shape)


def _widened(flat: Array) -> Array:
    """float32 of float16, or of bfloat16 as bits."""
    if flat.dtype == np.uint16:
        return (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.astype(np.float32)


def _meant(flat: Array, kind: str) -> Array:
    """A number of GELU where one is rounded to the type of this name, else what is given."""
    if flat.size != 1:
        return flat
    exact = np.array(GELU_NUMBERS, np.float32)
    same = OPERATORS["round_float"].compute([exact], {"to": kind}) == flat
    return exact[same] if same.any() else flat


def _raw(tensor: TensorProto, stored: np.dtype) -> Array:
    data = tensor.raw_data
    if len(data) % stored.itemsize:
        raise ImportProblem(f"tensor {tensor.name}: {len(data)} bytes are no {stored} numbers")
    return _native(np.frombuffer(data, stored.newbyteorder("<")), stored)


def _native(flat: Array, stored: np.dtype) -> Array:
    if stored == np.bool_:
        return flat.view(np.uint8) != 0
    return flat.astype(stored, copy=False)


def _typed(values: object, field: str, stored: np.dtype) -> Array:
    if field not in _TYPED_BITS:
        return np.array(values, dtype=stored)
    wide = np.array(values, dtype=_TYPED_BITS[field])
    if stored == np.float16:
        return wide.astype(np.uint16).view(np.float16)
    return wide.astype(stored)


def _external(tensor: TensorProto, stored: np.dtype, size: int, folder: Path | None) -> Array:
    """Elements that are mapped from a file of the model's folder."""
    name, entries = tensor.name, {entry.key: entry.value for entry in tensor.external_data}
    if folder is None:
        raise ImportProblem(f"tensor {name}: its data are in a file, but the model is in none")
    location = entries.get("location", "")
    path = folder / location
    if not location or Path(location).is_absolute() or not _is_inside(path, folder):
        raise ImportProblem(f"tensor {name}: its data, {location!r}, are not in the model's folder")
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length", size * stored.itemsize))
    except ValueError:
        raise ImportProblem(f"tensor {name}: offset or length of its data is no number") from None
    if length != size * stored.itemsize:
        wanted = f"{size} elements of {stored.itemsize} bytes"
        raise ImportProblem(f"tensor {name}: its data have {length} bytes, not {wanted}")
    try:
        check_foreign(path, _MOST_BYTES)
    except ForeignFileError as error:
        raise ImportProblem(f"tensor {name}: {error}") from None
    there = path.stat().st_size
    if offset < 0 or offset + length > there:
        raise ImportProblem(
            f"tensor {name}: bytes {offset} to {offset + length} are not in the {there} of {path}"
        )
    if not size:
        return np.empty(0, stored)
    mapped = np.memmap(path, stored.newbyteorder("<"), mode="r", offset=offset, shape=(size,))
    return _native(mapped, stored)


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether `path`, behind all links, is below `folder`."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # A loop of links, or a zero byte in a name.
        return False
