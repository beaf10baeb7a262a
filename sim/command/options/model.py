"""The options of `celosia run` for a model that another tool has written."""

from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.sim.support.problems import InputError
from celosia.sw.quantize.ranges import Clip

__all__ = [
    "BesideOption",
    "CalibrateOption",
    "ClipOption",
    "FileWeightsOption",
    "FixedOption",
    "InputOption",
    "LeastOption",
    "MostOption",
    "OptimizeOption",
    "PerTensorOption",
    "PrecisionOption",
    "SizesOption",
    "head_columns",
]

_PANEL: Final = "MODEL.onnx"

InputOption = Annotated[
    Path | None,
    typer.Option(
        "--input",
        metavar="X.npz",
        help="Inputs of the model, or of OPERATOR.py, by name; default: random ones.",
        rich_help_panel=_PANEL,
    ),
]
CalibrateOption = Annotated[
    Path | None,
    typer.Option(
        "--calibrate",
        metavar="C.npz",
        help="What to choose ranges by: inputs with an axis of samples before their own.",
        rich_help_panel=_PANEL,
    ),
]
ClipOption = Annotated[
    Clip,
    typer.Option(
        "--clip", help="Where values of 8 bits are clipped: docs/models.md.", rich_help_panel=_PANEL
    ),
]
PerTensorOption = Annotated[
    bool,
    typer.Option(
        "--per-tensor",
        help="One scale for each product, for accelerators without a normalization unit.",
        rich_help_panel=_PANEL,
    ),
]
FileWeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="TYPE",
        help="int8 (the default), int4: two in a byte, or int4-vocabulary: the last products', "
        "too.",
        rich_help_panel=_PANEL,
    ),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="FILE.toml|auto",
        help="Which products have int4 weights: a file names them, or auto measures what each "
        "costs, and takes as many as cost 1 dB.",
        rich_help_panel=_PANEL,
    ),
]
LeastOption = Annotated[
    float | None,
    typer.Option(
        "--least-sqnr",
        metavar="DB",
        help="--precision auto: as few cycles as keep so much and a standard error more, on "
        "samples left out of the calibration.",
        rich_help_panel=_PANEL,
    ),
]
MostOption = Annotated[
    int | None,
    typer.Option(
        "--most-cycles",
        metavar="N",
        help="--precision auto: as close to float as so many predicted cycles let.",
        rich_help_panel=_PANEL,
    ),
]
SizesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        metavar="NAME=N|N",
        help="A size of the inputs that has a name, or INPUT.AXIS=N of one that has none; "
        "attention: columns of each head.",
        rich_help_panel=_PANEL,
    ),
]
BesideOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--beside",
        metavar="OTHER.onnx",
        help="A model that runs at the same time: names of each begin with its file's, as in "
        "--dim other/batch=1.",
        rich_help_panel=_PANEL,
    ),
]
FixedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set-input",
        metavar="NAME=VALUE",
        help="An input that is this number in all of its elements, such as a condition of an If.",
        rich_help_panel=_PANEL,
    ),
]
OptimizeOption = Annotated[
    bool,
    typer.Option("--optimize", help="Rewrite the graph first: what celosia optimize finds."),
]


def head_columns(texts: list[str] | None) -> int | None:
    """The one number that ``--dim`` is for attention.  Raises `InputError`."""
    if not texts:
        return None
    text = texts[-1]
    if len(texts) > 1 or not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 31:
        raise InputError(f"--dim {' '.join(texts)}: is not one whole number of columns")
    return int(text)
