"""Single changes that make no difference, as `tests/faults/equivalents.toml` lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB
from celosia.lab.mutate.edit import Edit
from celosia.lab.mutate.tables import edit_of, entries_of
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["Equivalent", "load_equivalents"]

_KEYS: Final = ("reason",)


@dataclass(frozen=True)
class Equivalent:
    """A change, and why nobody can notice it."""

    edit: Edit
    reason: str


def load_equivalents(root: Path) -> list[Equivalent]:
    """The equivalent changes that the checkout at `root` lists.

    Raises `InputError` that names the entry.
    """
    path = root / "tests" / "faults" / "equivalents.toml"
    return [
        _equivalent(entry, place)
        for entry, place in entries_of(read_text(path, MIB), path.name, "equivalent")
    ]


def _equivalent(entry: Mapping[str, Any], place: str) -> Equivalent:
    edit = edit_of(entry, place, _KEYS)
    if not entry["reason"].strip():
        raise InputError(f"{place}: reason: it is empty; say why nobody can notice")
    return Equivalent(edit, entry["reason"])
