"""Bounds of paths, by preset and script: a TOML file that is kept beside the baseline."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from celosia.isa.documents.record import Key
from celosia.isa.foreign_file import MIB, ForeignFileError, parse_toml, read_text
from celosia.sim.export.silicon.timing.measure import Measured
from celosia.sim.export.silicon.timing.scripts import SCRIPTS
from celosia.sim.support.problems import InputError

__all__ = ["Bound", "Bounds", "load_bounds"]

_KINDS: Final[tuple[Literal["within", "between"], ...]] = ("within", "between")
"""Paths within a module, and from a module to another."""


@dataclass(frozen=True)
class Bound:
    """A bound, and the longest path that it is for."""

    script: str
    """The script whose netlists have the path."""
    kind: Literal["within", "between"]
    """Whether paths within a module are bounded, or those from a module to another."""
    most: float
    """The bound, in ns, set-up apart."""
    ns: float
    """The longest path, in ns."""

    @Key
    def holds(self) -> bool:
        """Whether no path is longer."""
        return self.ns <= self.most


@dataclass(frozen=True)
class Bounds:
    """The bounds of a preset: ns by script and kind of path."""

    bounds: Mapping[str, Mapping[str, float]]

    def of(self, measured: Measured) -> list[Bound]:
        """The bounds that `measured` has paths for."""
        paths = {
            "within": [each.path.ns or 0.0 for each in measured.paths],
            "between": [each.path.ns or 0.0 for each in measured.between],
        }
        bounds = self.bounds.get(measured.script, {})
        return [
            Bound(measured.script, kind, bounds[kind], max(paths[kind]))
            for kind in _KINDS
            if kind in bounds and paths[kind]
        ]


def load_bounds(path: str, preset: str) -> Bounds:
    """The bounds of `preset` in the TOML file `path`: tables ``[PRESET.SCRIPT]``.

    Raises `InputError`, with the place, for a file that is none, and for one without that preset.
    """
    try:
        document = parse_toml(read_text(path, MIB))
    except (ForeignFileError, ValueError) as error:
        raise InputError(str(error) if path in str(error) else f"{path}: {error}") from None
    if preset not in document:
        raise InputError(f"{path}: has no bounds of {preset}, but of {', '.join(document) or '-'}")
    scripts = document[preset]
    if not isinstance(scripts, dict) or not scripts.keys() <= SCRIPTS.keys():
        raise InputError(f"{path}: {preset}: bounds stand in tables of {', '.join(SCRIPTS)}")
    return Bounds({
        name: _bounds(each, f"{path}: {preset}.{name}") for name, each in scripts.items()
    })


def _bounds(table: Any, place: str) -> Mapping[str, float]:
    if not isinstance(table, dict) or not table.keys() <= set(_KINDS):
        raise InputError(f"{place}: has {' and '.join(_KINDS)}, in ns, and nothing else")
    for kind, ns in table.items():
        if not isinstance(ns, int | float) or isinstance(ns, bool) or not 0 < ns < float("inf"):
            raise InputError(f"{place}.{kind}: {ns!r} is no number of ns above 0")
    return table
