"""The options for what foretells the tokens of a text."""

from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.sw.decoding.drafts.draft import MOST
from celosia.sw.reference.language.model_file import model_folder

__all__ = ["DraftModelOption", "DraftTextOption", "SpeculateOption"]

_PANEL: Final = "Speculative decoding"

SpeculateOption = Annotated[
    int | None,
    typer.Option(
        "--speculate",
        min=1,
        max=MOST,
        metavar="K",
        help="Foretell up to K tokens on the host, and take them in one step. The text stays the "
        "same.",
        rich_help_panel=_PANEL,
    ),
]
DraftTextOption = Annotated[
    Path | None,
    typer.Option(
        "--draft-text",
        metavar="TEXT",
        help="A text file whose n-grams foretell; default: those beside the project's model.",
        rich_help_panel=_PANEL,
    ),
]
DraftModelOption = Annotated[
    Path | None,
    typer.Option(
        "--draft-model",
        parser=model_folder,
        metavar="MODEL",
        help="A little model that foretells, in float32 on the host: small, what train wrote, or "
        "an ONNX file of the same tokens.",
        rich_help_panel=_PANEL,
    ),
]
