"""Options of softmax: which columns count, and how numerators are rounded."""

from typing import Annotated

import typer

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.command.options.common import COMPUTES

__all__ = ["CausalOption", "DitheredOption", "KeysOption", "WindowOption"]

KeysOption = Annotated[
    int | None,
    typer.Option(
        "--keys",
        min=0,
        metavar="N",
        help="softmax, attention: only the first N columns count; 0: none, and results are 0.",
        rich_help_panel=COMPUTES,
    ),
]
CausalOption = Annotated[
    bool,
    typer.Option(
        "--causal",
        help="softmax, attention: row r does not see the columns behind r.",
        rich_help_panel=COMPUTES,
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        "--window",
        min=1,
        max=MAX_COLUMNS,
        metavar="N",
        help="softmax, attention: row r sees only the last N of the columns up to r (--causal).",
        rich_help_panel=COMPUTES,
    ),
]
DitheredOption = Annotated[
    bool,
    typer.Option(
        "--dithered",
        help="attention: round numerators by their keys, so that many small ones lose nothing.",
        rich_help_panel=COMPUTES,
    ),
]
