"""Files that are a byte larger than they may be, and who reads files of others."""

import re
from pathlib import Path

__all__ = ["larger_file", "readers_of_files"]

ROOT = Path(__file__).parents[2]
OPENING = re.compile(
    r"(?<!def )(?<!\.)\b(check_foreign|open_foreign|read_foreign|read_text|read_bytes)\("
)
"""Uses of functions of `celosia.isa.foreign_file`, and of those that stand on them."""


def larger_file(folder: Path, most: int) -> tuple[Path, str]:
    """A sparse file that has a byte more than `most`, and the message for it: nobody reads it."""
    folder.mkdir()
    path = folder / "file"
    with path.open("wb") as file:
        file.truncate(most + 1)
    return path, rf"{most + 1:,} bytes are more than the {most:,} that are permitted"


def readers_of_files(layer: str) -> set[str]:
    """The files of a layer that open files which somebody else wrote."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / layer).rglob("*.py"))
        if OPENING.search(path.read_text())
    }
