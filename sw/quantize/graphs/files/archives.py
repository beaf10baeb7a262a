"""Archives of arrays that somebody else may have written, or damaged."""

import os
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import open_foreign

__all__ = ["DAMAGE", "check_archive", "read_npz"]

DAMAGE: Final = (
    *(BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, LookupError, AttributeError, MemoryError),
    *(TokenError, SyntaxError),
)
"""What zipfile, zlib and NumPy raise for archives that are not whole: also its parser of headers,
which is Python's own."""

_MOST_BYTES: Final = 8 << 30


def check_archive(archive: ZipFile) -> None:
    """Raise `ValueError` for members that unpacked are more than this machine's memory.

    No more of a member is ever unpacked than the archive's directory says.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = sum(member.file_size for member in archive.infolist())
    if needed > memory:
        raise ValueError(
            f"unpacked it has {needed:,} bytes, more than this machine's memory of {memory:,}"
        )


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, by name.

    Raises `ForeignFileError` for what is no regular file, and `ValueError` that names the file for
    one that is no archive of arrays, or not whole.
    """
    with open_foreign(path, _MOST_BYTES) as file:
        try:
            found = np.load(file, allow_pickle=False)
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise ValueError("it is one array; an .npz names each")
            with found:
                assert found.zip is not None, "it is open"
                check_archive(found.zip)
                return {name: found[name] for name in found.files}
        except DAMAGE as error:
            raise ValueError(f"{path}: is no .npz file of arrays: {error}") from None
