"""The options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.presets import PRESETS

__all__ = [
    "COMPUTES",
    "BudgetOption",
    "ChannelStallOption",
    "DimOption",
    "ExecutorOption",
    "FaultOption",
    "FileOption",
    "HeadsOption",
    "IssueChoice",
    "IssueOption",
    "JsonOption",
    "LateReadyOption",
    "LatencyOption",
    "LayersOption",
    "ModelOption",
    "OutOption",
    "OutType",
    "OutTypeOption",
    "PlanOption",
    "PresetOption",
    "RateOption",
    "ReluOption",
    "ReorderOption",
    "ReuseOption",
    "ScaleOption",
    "ScheduleOption",
    "SeedOption",
    "SeqOption",
    "SetOption",
    "ShapeOption",
    "SimOption",
    "Simulator",
    "StagesOption",
    "StallOption",
    "TextOption",
    "TransposeOption",
    "TunedOption",
    "UnsignedOption",
    "WaveOption",
    "WaveScopeOption",
    "WaveWindowOption",
    "WeightsOption",
]


class Simulator(StrEnum):
    """The simulators that run a program."""

    FUNCTIONAL = "functional"
    AMARANTH = "amaranth"
    VERILATOR = "verilator"


class OutType(StrEnum):
    """Types of a result."""

    UINT8 = "uint8"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"


class IssueChoice(StrEnum):
    """How commands reach the accelerator."""

    STREAM = "stream"
    RING = "ring"


COMPUTES = "What is computed"
_MEMORY = "Memory"
_WAVES = "Waveforms"

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
IssueOption = Annotated[
    IssueChoice,
    typer.Option("--issue", help="Commands come from a port, or from a ring in memory."),
]
BudgetOption = Annotated[
    int,
    typer.Option(
        "--cycle-budget",
        min=0,
        max=2**64 - 1,
        metavar="CYCLES",
        help="Stop a program with an error after so many busy cycles, on functional after so many "
        "commands; 0: never.",
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.npy",
        help="matmul: an operand, in this file.",
        rich_help_panel=COMPUTES,
    ),
]
ShapeOption = Annotated[
    str | None,
    typer.Option(
        metavar="MxNxK|RxC",
        help="Random operands of this shape: matmul MxNxK; softmax, layernorm, rmsnorm, residual, "
        f"multiply, rotate, {', '.join(ACTIVATIONS)} RxC.",
        rich_help_panel=COMPUTES,
    ),
]
ScaleOption = Annotated[
    float | None,
    typer.Option(help="matmul: int8 results are requantized by this.", rich_help_panel=COMPUTES),
]
ReluOption = Annotated[
    bool,
    typer.Option("--relu", help="matmul: negative results become 0.", rich_help_panel=COMPUTES),
]
TransposeOption = Annotated[
    bool,
    typer.Option(
        "--transpose-b", help="matmul: B stands in memory as N x K.", rich_help_panel=COMPUTES
    ),
]
UnsignedOption = Annotated[
    bool,
    typer.Option(
        "--unsigned-a",
        help="matmul: A is uint8 (of files: their type).",
        rich_help_panel=COMPUTES,
    ),
]
OutTypeOption = Annotated[
    OutType | None,
    typer.Option(
        help="matmul: int8 (default) or int32; softmax: uint8 (default), int8 or int16.",
        rich_help_panel=COMPUTES,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="C.npy",
        help="matmul, OPERATOR.py: write the result there if it is right.",
        rich_help_panel=COMPUTES,
    ),
]
HeadsOption = Annotated[
    int | None, typer.Option(min=1, help="attention: heads.", rich_help_panel=COMPUTES)
]
SeqOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="TOKENS",
        help="attention, encoder-layer, encoder: tokens of random input.",
        rich_help_panel=COMPUTES,
    ),
]
DimOption = Annotated[
    int | None,
    typer.Option(min=1, help="attention: columns of each head.", rich_help_panel=COMPUTES),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="encoder-layer: minilm, bert-base or bert-large, with random weights; encoder: minilm "
        "(the published one), bert-base or bert-large (random), or a quantized model "
        "FILE.plan; decoder, decoder-layer: gpt2-small, opt-125m or tinyllama (random).",
        rich_help_panel=COMPUTES,
    ),
]
LayersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="encoder with random weights, decoder: so many layers.",
        rich_help_panel=COMPUTES,
    ),
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="N[,N...]",
        help="decoder: tokens in the caches, of each text of the step.",
        rich_help_panel=COMPUTES,
    ),
]
RowsOption = Annotated[
    int | None,
    typer.Option(min=1, help="decoder: tokens of each text (1).", rich_help_panel=COMPUTES),
]
WeightsOption = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help="decoder, MODEL.onnx: int8 (the default), int4 or int4-vocabulary, as celosia "
        "generate --help says.",
        rich_help_panel=COMPUTES,
    ),
]
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        help="encoder, minilm-linears: a text (encoder: repeatable).", rich_help_panel=COMPUTES
    ),
]
ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="local:N|dask:ADDRESS",
        help="Processes of this machine, or the workers of a Dask scheduler: docs/cluster.md.",
    ),
]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="This plan, as celosia compile --print-after plan prints it.",
        rich_help_panel=COMPUTES,
    ),
]
ScheduleOption = Annotated[
    str | None,
    typer.Option(
        "--schedule",
        metavar="FILE",
        help="A plan by these primitives: docs/schedules.md.",
        rich_help_panel=COMPUTES,
    ),
]
StagesOption = Annotated[
    str | None,
    typer.Option(
        "--stages",
        metavar="best|dp|greedy|sequential",
        help="Graphs: branches that do not depend on each other are computed beside each other.",
        rich_help_panel=COMPUTES,
    ),
]
TunedOption = Annotated[
    str | None,
    typer.Option(
        "--tuned",
        metavar="FILE",
        help="The best plans of a log of celosia tune, rather than the compiler's.",
        rich_help_panel=COMPUTES,
    ),
]
ReuseOption = Annotated[
    bool,
    typer.Option(
        "--reuse-memory",
        help="Tensors take the bytes of others that nobody needs any more, as they do with "
        "--check outputs or none; what is overwritten is not compared.",
        rich_help_panel=COMPUTES,
    ),
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
ChannelStallOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mem-channel-stall",
        metavar="CHANNEL=PERCENT",
        help="Another chance for ar, r, aw, w or b (repeatable).",
        rich_help_panel=_MEMORY,
    ),
]
ReorderOption = Annotated[
    bool,
    typer.Option(
        "--mem-reorder",
        help="Responses keep their order within an ID only, and take up to twice the latency.",
        rich_help_panel=_MEMORY,
    ),
]
LateReadyOption = Annotated[
    bool,
    typer.Option(
        "--mem-late-ready",
        help="Ready waits for valid, and that of AW for write data, too.",
        rich_help_panel=_MEMORY,
    ),
]
FaultOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mem-fault",
        metavar="WAY:PLACE:RESPONSE",
        help="Fail bursts: read|write, an address or #NUMBER, slverr|decerr (repeatable).",
        rich_help_panel=_MEMORY,
    ),
]
WaveOption = Annotated[
    Path | None,
    typer.Option(
        "--wave",
        metavar="FILE.vcd|.fst",
        help="Write a waveform, and views of it for GTKWave and Surfer (amaranth, verilator).",
        rich_help_panel=_WAVES,
    ),
]
WaveWindowOption = Annotated[
    str | None,
    typer.Option(
        "--wave-window",
        metavar="START:STOP",
        help="Only cycles from START to before STOP; either may be left out.",
        rich_help_panel=_WAVES,
    ),
]
WaveScopeOption = Annotated[
    str | None,
    typer.Option(
        "--wave-scope",
        metavar="PATH",
        help="Only signals in this scope (celosia_axi.accelerator.load), and those in words.",
        rich_help_panel=_WAVES,
    ),
]
