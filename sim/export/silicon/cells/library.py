"""The cell libraries that designs are mapped to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.isa.foreign_file import MIB, ForeignFileError, read_text
from celosia.sim.export.silicon.cells.liberty import (
    Cell,
    LibertyError,
    gate_equivalent,
    read_cells,
)
from celosia.sim.export.silicon.cells.sky130 import sky130_identity, sky130_liberty
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

__all__ = ["LIBRARIES", "CellLibrary", "choose_library"]

_MOST_BYTES: Final = 256 * MIB
_OSU018: Final = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")


@dataclass(frozen=True)
class CellLibrary:
    """Cells to map to."""

    name: str
    identity: str
    liberty: str
    """The text of the Liberty file."""
    cells: Mapping[str, Cell]
    gate_um2: float
    """The area of a gate equivalent: of the smallest NAND of two inputs."""


def choose_library(source: str) -> CellLibrary:
    """The library called `source`, or the Liberty file of that name.

    Raises `InputError` for an unknown name and for a file that cannot be used,
    `EnvironmentProblem` for a library whose package is not installed.
    """
    if source in LIBRARIES:
        identity, liberty = LIBRARIES[source]()
    elif source.endswith(".lib"):
        identity, liberty = source, _read(source)
    else:
        raise InputError(
            f"--cells {source}: there is no such cell library; there are "
            f"{', '.join(LIBRARIES)}, and Liberty files (FILE.lib){did_you_mean(source, LIBRARIES)}"
        )
    try:
        cells = read_cells(liberty)
        return CellLibrary(source, identity, liberty, cells, gate_equivalent(cells))
    except LibertyError as error:
        raise InputError(f"{identity}: {error}") from None


def _read(path: str | Path) -> str:
    try:
        return read_text(path, _MOST_BYTES)
    except ForeignFileError as error:
        raise InputError(str(error)) from None


def _sky130() -> tuple[str, str]:
    return sky130_identity(), sky130_liberty()


def _osu018() -> tuple[str, str]:
    if not _OSU018.exists():
        raise EnvironmentProblem(
            f"{_OSU018}: not there; the Debian package qflow-tech-osu018 has it "
            "(or name the file elsewhere: --cells FILE.lib)"
        )
    return f"OSU018 ({_OSU018})", _read(_OSU018)


LIBRARIES: Final[Mapping[str, Callable[[], tuple[str, str]]]] = {
    "sky130": _sky130,
    "osu018": _osu018,
}
"""How the identity and the Liberty file of each library that has a name are found."""
