"""Tables of edits in TOML: planted faults, and changes that make no difference."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from celosia.isa.foreign_file import parse_toml
from celosia.lab.mutate.edit import Edit
from celosia.sim.support.problems import InputError

__all__ = ["edit_of", "entries_of"]

_NEEDED: Final = ("file", "change", "to")
_OPTIONAL: Final = ("inside", "which")


def entries_of(text: str, file: str, kind: str) -> list[tuple[dict[str, Any], str]]:
    """The tables ``[[kind]]`` of `text`, each with the place to name in messages.

    Raises `InputError` that names `file`, for text that is something else.
    """
    try:
        tables = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    entries = tables.pop(kind, [])
    if tables or not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise InputError(f"{file}: there are other things than tables [[{kind}]]")
    return [
        (entry, f"{file}: {kind} {number} ({entry.get('name', entry.get('file', '?'))})")
        for number, entry in enumerate(entries, 1)
    ]


def edit_of(
    entry: Mapping[str, Any], place: str, texts: Sequence[str], others: Sequence[str] = ()
) -> Edit:
    """The edit that `entry` describes beside `texts`, which it must have, and `others`.

    Raises `InputError` that names `place` for keys that are missing, unknown or not text.
    """
    needed = (*_NEEDED, *texts)
    allowed = (*needed, *_OPTIONAL, *others)
    for key in (*needed, *entry):
        if key not in entry or key not in allowed:
            problem = "is missing" if key in allowed else "is not a key"
            raise InputError(f"{place}: {key} {problem}; keys are {', '.join(allowed)}")
    for key in (*needed, "inside"):
        if not isinstance(entry.get(key, ""), str):
            raise InputError(f"{place}: {key}: {entry[key]!r} is not text")
    which = entry.get("which", 0)
    if type(which) is not int or which < 0:
        raise InputError(f"{place}: which: {which!r} is not a number from 1")
    path = PurePosixPath(entry["file"])
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{place}: file: {entry['file']!r} is not a file below the root")
    change, to = (entry[key].strip("\n") for key in ("change", "to"))
    return Edit(entry["file"], entry.get("inside", ""), change, to, which)
