"""The text that the small language model has not seen in training, as it comes with the project.

It stands in a file, since the documentation of another version of Python is another text.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import ForeignFileError, parse_json, read_text
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.model_file import shipped_folder

__all__ = ["HELD_OUT_FILE", "HeldOutError", "held_out_texts", "save_held_out"]

HELD_OUT_FILE: Final = "held_out.jsonl"
_MOST_BYTES: Final = 64 << 20
"""The largest file of texts that is opened."""


class HeldOutError(LanguageError):
    """A file that does not hold texts."""


def held_out_texts(path: Path | None = None) -> list[tuple[str, str]]:
    """Module and text of each document: those of the project, or of a file of the same form.

    Raises `HeldOutError` for a file that is missing or of another form.
    """
    path = path or shipped_folder() / HELD_OUT_FILE
    try:
        rows = [parse_json(line) for line in read_text(path, _MOST_BYTES).splitlines()]
    except ForeignFileError as error:
        raise HeldOutError(str(error)) from None
    except ValueError as error:
        raise HeldOutError(f"{path}: not a file of JSON lines: {error}") from None
    for number, row in enumerate(rows, 1):
        whole = isinstance(row, list) and len(row) == 2
        if not whole or not all(isinstance(part, str) and part for part in row):
            raise HeldOutError(f"{path}:{number}: is not a module and a text")
    return [(module, text) for module, text in rows]


def save_held_out(path: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write module and text of each document, a line of JSON for each."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in texts), "utf-8")
