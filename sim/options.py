"""The options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.presets import PRESETS

__all__ = [
    "FileOption",
    "JsonOption",
    "LatencyOption",
    "OutType",
    "PresetOption",
    "RateOption",
    "SeedOption",
    "SetOption",
    "SimOption",
    "Simulator",
    "StallOption",
]


class Simulator(StrEnum):
    """The simulators that run a program."""

    FUNCTIONAL = "functional"
    AMARANTH = "amaranth"
    VERILATOR = "verilator"


class OutType(StrEnum):
    """Types of a product's result."""

    INT8 = "int8"
    INT32 = "int32"


_MEMORY = "Memory"

PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME|FILE.toml",
        help=f"Configuration: {', '.join(PRESETS)}, or a file of parameters.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace one parameter (repeatable)."),
]
SimOption = Annotated[Simulator, typer.Option("--sim", help="What runs the program.")]
FileOption = Annotated[
    Path | None, typer.Option(metavar="FILE.npy", help="matmul: an operand, in this file.")
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**32 - 1,
        help="Of random operands, garbage in memories and stalls.",
    ),
]
JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the report there; - is standard output, and nothing else goes there.",
    ),
]
LatencyOption = Annotated[
    int,
    typer.Option(
        "--mem-latency",
        min=1,
        max=1_000_000,
        metavar="CYCLES",
        help="From a read's address to its data, and from a write's last data to its response.",
        rich_help_panel=_MEMORY,
    ),
]
RateOption = Annotated[
    int,
    typer.Option(
        "--mem-bytes-per-cycle",
        min=1,
        max=1 << 20,
        metavar="BYTES",
        help="Bandwidth of reads, and of writes.",
        rich_help_panel=_MEMORY,
    ),
]
StallOption = Annotated[
    int,
    typer.Option(
        "--mem-stall-percent",
        min=0,
        max=95,
        metavar="PERCENT",
        help="Chance that a channel of the memory refuses in a cycle.",
        rich_help_panel=_MEMORY,
    ),
]
