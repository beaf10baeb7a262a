"""Archives of arrays that somebody else may have written, or damaged."""

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from tokenize import TokenError
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import open_foreign
from celosia.sw.frontend.nn.operators.operator import TensorType

__all__ = ["DAMAGE", "check_archive", "npz_types", "read_npz"]

DAMAGE: Final = (
    *(BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, LookupError, AttributeError, MemoryError),
    *(TokenError, SyntaxError),
)
"""What zipfile, zlib and NumPy raise for archives that are not whole: also its parser of headers,
which is Python's own."""

_MOST_BYTES: Final = 8 << 30
_ZIP_MAGIC: Final = b"PK"
_HEADERS: Final = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""What reads the header of an array, by version; later ones are for names of fields."""


def check_archive(archive: ZipFile, most_bytes: int | None = None) -> None:
    """Raise `ValueError` for members that unpacked have more than `most_bytes`, or than memory.

    No more of a member is ever unpacked than the archive's directory says.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = sum(member.file_size for member in archive.infolist())
    if most_bytes is not None and needed > most_bytes:
        raise ValueError(
            f"unpacked it has {needed:,} bytes, more than the {most_bytes:,} that are permitted"
        )
    if needed > memory:
        raise ValueError(
            f"unpacked it has {needed:,} bytes, more than this machine's memory of {memory:,}"
        )


def npz_types(path: str | Path) -> dict[str, TensorType]:
    """The types of the arrays of an .npz file, by name; nothing is unpacked but their headers.

    Raises as `read_npz` does.
    """
    with open_foreign(path, _MOST_BYTES) as file, _naming(path):
        return _types(file)


def read_npz(
    path: str | Path, check: Callable[[Mapping[str, TensorType]], object] = lambda types: None
) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, by name; `check` is told their types before one is unpacked.

    Raises `ForeignFileError` for what is no regular file, `ValueError` that names the file for
    one that is no archive of arrays, or not whole, and what `check` raises.
    """
    with open_foreign(path, _MOST_BYTES) as file:
        with _naming(path):
            types = _types(file)
        check(types)
        with _naming(path):
            file.seek(0)
            with np.load(file, allow_pickle=False) as found:
                return {name: found[name] for name in found.files}


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Raise `ValueError` that names the file for whatever a damaged archive makes of reading."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(f"{path}: is no .npz file of arrays: {error}") from None


def _types(file: BufferedReader) -> dict[str, TensorType]:
    """Type and sizes of each array of an .npz file, by its header alone."""
    if not file.peek(1).startswith(_ZIP_MAGIC):
        raise ValueError("it is no zip; an .npz is one, and names each array")
    with ZipFile(file) as archive:
        check_archive(archive)
        return {name.removesuffix(".npy"): _type(archive, name) for name in archive.namelist()}


def _type(archive: ZipFile, name: str) -> TensorType:
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in _HEADERS:
            raise ValueError(f"{name}: arrays of version {version} are not supported")
        shape, _, dtype = _HEADERS[version](member)
    if dtype.hasobject:
        raise ValueError(f"{name}: Object arrays cannot be loaded")
    if dtype.kind == "V":
        raise ValueError(f"{name}: its elements are no numbers, but have fields: {dtype}")
    return TensorType(str(dtype), shape)
