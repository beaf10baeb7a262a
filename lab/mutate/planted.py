"""The planted faults of the checkout, in tables of `tests/faults`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.isa.foreign_file import MIB
from celosia.lab.mutate.edit import Edit, apply_edit
from celosia.lab.mutate.mirrors import LAYERS
from celosia.lab.mutate.tables import edit_of, entries_of
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["Planted", "load_faults", "parse_faults"]


@dataclass(frozen=True)
class Planted:
    """A fault: what it is, which tests must notice it, and what it changes."""

    name: str
    title: str
    tests: tuple[str, ...]
    """Arguments of pytest, one string per run."""
    edit: Edit

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes, below the root."""
        return (self.edit.file,)

    def changed(self, root: Path) -> dict[str, str | None]:
        """What becomes of its files below `root`.  Raises `InputError` that names the fault."""
        try:
            return {self.edit.file: apply_edit(self.edit, root)}
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


def load_faults(root: Path) -> list[Planted]:
    """The faults of the checkout at `root`, table by table.  Raises `InputError`."""
    folder = root / "tests" / "faults"
    paths = [folder / f"{layer}.toml" for layer in LAYERS]
    faults = [each for path in paths for each in parse_faults(read_text(path, MIB), path.name)]
    names: set[str] = set()
    for fault in faults:
        if fault.name in names:
            raise InputError(f"{folder}: two faults have the name {fault.name!r}")
        names.add(fault.name)
    return faults


def parse_faults(text: str, file: str) -> list[Planted]:
    """The faults of a table, in its order.  Raises `InputError` that names `file`."""
    return [_fault(entry, place) for entry, place in entries_of(text, file, "fault")]


def _fault(entry: Mapping[str, Any], place: str) -> Planted:
    edit = edit_of(entry, place, ("name", "fault"), ("caught_by",))
    tests = entry.get("caught_by", [])
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise InputError(f"{place}: caught_by: {tests!r} is not a list of texts")
    return Planted(entry["name"], entry["fault"], tuple(tests), edit)
