"""Keeps what a simulator was compiled from, so that it can be compiled again.

That is the C++ of each cycle, its headers, and the object file of what runs once: a tenth of the
bytes when they are packed.
"""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

__all__ = ["kept_name", "pack", "unpack"]

_PATTERNS = ("model/*.h", "model/*.cpp", "ports.h", "rare.o")
_RARE = "Slow.cpp"
_FAST = 1
"""zlib's level: others take seconds, for a fifth of the bytes."""


def kept_name(key: str) -> str:
    """Where the cache has what the simulator `key` was compiled from."""
    return f"kept/{key}.zip"


def pack(work: Path) -> Path:
    """Pack what a build has left in `work`; the archive there."""
    archive = work / "kept.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=_FAST) as file:
        for pattern in _PATTERNS:
            for path in sorted(work.glob(pattern)):
                if not path.name.endswith(_RARE):
                    file.write(path, path.relative_to(work))
    return archive


def unpack(archive: Path, work: Path) -> None:
    """Put back into `work` what was packed."""
    with ZipFile(archive) as file:
        file.extractall(work)
