"""The outer form of FST files."""

import struct
from pathlib import Path
from typing import Final

__all__ = ["is_whole"]

_BLOCK: Final = struct.Struct(">BQ")
_HEADER: Final = 0
_GEOMETRY: Final = 3
_HIERARCHIES: Final = frozenset((4, 6, 7))


def is_whole(path: Path) -> bool:
    """Whether `path` is a chain of blocks to its very end, all those that must be there included.

    Verilator's writer does not notice when a disk is full.
    """
    kinds, position, size = [], 0, path.stat().st_size
    with open(path, "rb") as file:
        while position + _BLOCK.size <= size:
            file.seek(position)
            kind, length = _BLOCK.unpack(file.read(_BLOCK.size))
            kinds.append(kind)
            position += 1 + length  # The length counts itself, but not the kind.
    parts = {_HEADER, _GEOMETRY} <= set(kinds) and bool(_HIERARCHIES & set(kinds))
    return position == size and parts
