"""The options for what a run did, and what of it is compared."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

__all__ = [
    "AnnotateOption",
    "CheckChoice",
    "CheckOption",
    "OwnersOption",
    "ProfileOption",
    "ReportOption",
    "TraceOption",
]

_PANEL: Final = "What the run did"


class CheckChoice(StrEnum):
    """What is compared of a run."""

    ALL = "all"
    OUTPUTS = "outputs"
    NONE = "none"


CheckOption = Annotated[
    CheckChoice,
    typer.Option(
        "--check",
        help="Compare every tensor in memory and the distance to float; only what programs compute "
        "for others; or nothing.",
    ),
]
AnnotateOption = Annotated[
    str | None,
    typer.Option(
        "--annotate",
        metavar="RUN.json",
        help="Write the listing of this run's program instead, with the cycles of each line.",
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="DIR",
        help="Write a page there that shows where the cycles went, and RUN.json beside it.",
        rich_help_panel=_PANEL,
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Write a trace for https://ui.perfetto.dev (.pftrace, or .pftrace.gz).",
        rich_help_panel=_PANEL,
    ),
]
OwnersOption = Annotated[
    bool,
    typer.Option(
        "--owners",
        help="Print every owner of each unit's cycles, not only the largest.",
        rich_help_panel=_PANEL,
    ),
]
AllOption = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Print every layer of a model on its own, also where layers are alike.",
        rich_help_panel=_PANEL,
    ),
]
ProfileOption = Annotated[
    bool,
    typer.Option(
        "--profile",
        help="Follow each instruction: --json then has the cycles of each.",
        rich_help_panel=_PANEL,
    ),
]
