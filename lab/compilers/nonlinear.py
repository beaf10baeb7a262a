"""What the normalization unit and the hiding of latency buy: the same layer in several modes.

Cycles of the accelerator are those of its RTL.  Cycles of a host are a model: elements times the
cycles per element with which the survey's baseline is reproduced.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import As, Hidden, Inline, Key, Named
from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.serialize import Unit, serialize
from celosia.lab.graphs.offloaded import host_elements, offloaded
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.run.report import Measurement
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.quantized import random_model
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case, encoder_layer_case
from celosia.sw.reference.encoder import BERT_BASE, EncoderShape

__all__ = [
    "HOST_CYCLES",
    "MODES",
    "Mode",
    "ModeLine",
    "Nonlinear",
    "by_turns",
    "measure_mode",
    "run_nonlinear",
]

HOST_CYCLES: Final[Mapping[str, int]] = {
    "softmax": 48,
    **dict.fromkeys(ACTIVATIONS, 48),
    "gelu": 50,
    "layernorm": 40,
    "residual": 110,
    "quantize": 54,
}
"""Cycles per element of a floating-point host, derived from the survey's figures: its baseline
takes 9.4 G cycles for BERT-base at l = 512 with the shares that it gives.  It has no curve but
GELU: the others take what softmax does, as an exponential and a division would."""
SURVEY_SPEEDUP: Final = 39.6
VTA_UTILIZATION: Final = (0.70, 0.88)
"""The shares of its peak that VTA reaches, without and with latency hiding."""
SEQ: Final = 512


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A way to run the layer."""

    name: str
    """The mode."""
    text: Annotated[str, Named("meaning")]
    """What it is."""
    host: Hidden[bool] = False
    """Everything but products is a host's work."""
    overlap: Hidden[bool] = True
    serial: Hidden[bool] = False


MODES: Final = (
    Mode(
        name="offloaded",
        text="products on the accelerator, int32 results to memory; all else on a host",
        host=True,
    ),
    Mode(
        name="serial",
        text="all on the accelerator, its units by turns: no latency is hidden",
        overlap=False,
        serial=True,
    ),
    Mode(
        name="no overlap",
        text="all on the accelerator; results leave before the next block's products",
        overlap=False,
    ),
    Mode(name="as compiled", text="all on the accelerator, as the compiler has it"),
)


@dataclass(frozen=True)
class ModeLine:
    """A mode and its run."""

    mode: Inline[Mode]
    measured: Hidden[Measurement]
    """The accelerator's part: RTL."""
    host: Annotated[Mapping[str, int], Named("host_model_cycles")]
    """The host's part, by kinds of work: elements times `host_cycles_per_element`, a model."""

    @Key
    def cycles(self) -> int | None:
        """Cycles of both parts, one after the other; null if the accelerator's are not known."""
        own = self.measured.cycles
        return None if own is None else own + sum(self.host.values())

    @Key
    def accelerator_cycles(self) -> int | None:
        """The accelerator's part, on the RTL."""
        return self.measured.cycles

    @Key
    def macs(self) -> int:
        """Useful multiply-accumulates."""
        return self.measured.macs

    @Key
    def mismatches(self) -> int | None:
        """Elements that differ from the definition; null: nothing was compared."""
        return self.measured.mismatches

    @Key
    def elements_checked(self) -> int:
        """Elements that were compared."""
        return self.measured.elements_checked

    @Key
    def right(self) -> bool:
        """Whether all results are right."""
        return self.measured.right


@dataclass(frozen=True)
class ShownMode:
    """A mode, beside the others."""

    line: Inline[ModeLine]
    speedup: float | None
    """How many times as fast it is as the mode `offloaded`; null: one is not known."""
    mac_utilization: float | None
    """Useful products over all that the array could have made in these cycles."""


def _text(shape: EncoderShape) -> str:
    return str(shape)


@dataclass(frozen=True)
class Nonlinear:
    """All modes of one layer."""

    shape: Annotated[EncoderShape, Named("model"), As(_text)]
    """The shape of the layer."""
    seq: int
    """Its tokens."""
    config: Hidden[AcceleratorConfig]
    lines: Hidden[tuple[ModeLine, ...]]
    host_cycles_per_element: Mapping[str, int] = field(default_factory=lambda: HOST_CYCLES)
    """Cycles of a floating-point host, by kinds of work, derived from the survey's figures."""
    survey_speedup: float = SURVEY_SPEEDUP
    """What the survey's accelerator gains over its host."""
    vta_utilization: tuple[float, float] = VTA_UTILIZATION
    """The shares of its peak that VTA reaches, without and with latency hiding."""

    @Key
    def right(self) -> bool:
        """Whether all results are right."""
        return all(line.measured.right for line in self.lines)

    @Key
    def modes(self) -> list[ShownMode]:
        """All modes."""
        return [ShownMode(line, self.speedup(line), self.utilization(line)) for line in self.lines]

    def line(self, name: str) -> ModeLine:
        """The line of the mode called `name`."""
        return next(line for line in self.lines if line.mode.name == name)

    def speedup(self, line: ModeLine) -> float | None:
        """How many times as fast `line` is as the offloaded mode; None if one is not known."""
        base, cycles = self.line("offloaded").cycles, line.cycles
        return base / cycles if base and cycles else None

    def utilization(self, line: ModeLine) -> float | None:
        """Useful products over all that the array could have made in these cycles."""
        if not line.cycles:
            return None
        return line.measured.macs / (self.config.macs_per_cycle * line.cycles)


Measure = Callable[[Mode, Case, AcceleratorConfig, Progress], Measurement]
"""`measure_mode`, or what takes its place in a test."""


def measure_mode(
    mode: Mode,
    case: Case,
    config: AcceleratorConfig,
    tell: Progress,
    simulator: str = "verilator",
) -> Measurement:
    """Run the accelerator's part of a mode, and compare every tensor that is in memory."""
    if mode.host:
        values = interpret(case.graph, case.inputs)
        graph = offloaded(case.graph)
        case = Case(graph, {name: values[name] for name in graph.inputs})
    choices = choose(case.graph, config)
    if not mode.overlap:
        choices = replace(choices, overlap=False)
    compiled = compile_graph(case.graph, config, Decide(choices))
    if mode.serial:
        compiled = by_turns(compiled)
    opened = partial(open_device, simulator, config, progress=tell)
    return measure_compiled(mode.name, compiled, case, opened).whole


def by_turns(compiled: CompiledGraph, beside: Collection[Unit] = ()) -> CompiledGraph:
    """`compiled` with the fences of `serialize` in place of counters."""
    ops = [written.op for written in compiled.ops]
    tensors = compiled.graph.tensors
    commands = tuple(serialize(ops, compiled.config, tensors, compiled.addresses, beside))
    program = tuple(command for each in commands for command in each)
    return replace(compiled, commands=commands, program=program)


def run_nonlinear(
    tell: Progress,
    seq: int | None = None,
    measure: Measure = measure_mode,
    shape: EncoderShape = BERT_BASE,
    modes: Sequence[Mode] = MODES,
) -> Nonlinear:
    """Measure all modes of a layer of `shape`, on `seq` tokens."""
    seq = SEQ if seq is None else seq
    if not 1 <= seq <= SEQ:
        raise InputError(f"--seq {seq}: not in 1..{SEQ}")
    config = resolve_config("base")
    steps = Steps(tell, len(modes))
    model = random_model(shape.with_layers(2), 0, tell)
    case = encoder_layer_case(model, [seq], 0)
    elements = host_elements(case.graph, gelu_by={"silu"})  # As quantization chooses by error.
    lines = []
    for mode in modes:
        steps.begin(mode.name)
        host = {kind: HOST_CYCLES[kind] * count for kind, count in elements.items()}
        measured = measure(mode, case, config, steps)
        lines.append(ModeLine(mode, measured, host if mode.host else {}))
    return Nonlinear(shape, seq, config, tuple(lines))
