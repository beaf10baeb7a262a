"""What the normalization unit and the hiding of latency buy: the same layer in several modes.

Cycles of the accelerator are those of its RTL.  Cycles of a host are a model: elements times the
cycles per element with which the survey's baseline is reproduced.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
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
from celosia.sw.compiler.pipeline import Decide, compile_graph
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
    text: str
    host: bool = False
    """Everything but products is a host's work."""
    overlap: bool = True
    serial: bool = False


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

    mode: Mode
    measured: Measurement
    """The accelerator's part: RTL."""
    host: Mapping[str, int]
    """The host's part, by kinds of work: a model."""

    @property
    def cycles(self) -> int | None:
        """Cycles of both parts, one after the other; None if the accelerator's are not known."""
        own = self.measured.cycles
        return None if own is None else own + sum(self.host.values())

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "name": self.mode.name,
            "meaning": self.mode.text,
            "cycles": self.cycles,
            "accelerator_cycles": self.measured.cycles,
            "host_model_cycles": dict(self.host),
            "macs": self.measured.macs,
            "mismatches": self.measured.mismatches,
            "elements_checked": self.measured.elements_checked,
            "right": self.measured.right,
        }


@dataclass(frozen=True)
class Nonlinear:
    """All modes of one layer."""

    shape: EncoderShape
    seq: int
    config: AcceleratorConfig
    lines: tuple[ModeLine, ...]

    @property
    def right(self) -> bool:
        """Whether all results are right."""
        return all(line.measured.right for line in self.lines)

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

    def document(self) -> dict[str, Any]:
        """The comparison as an object for JSON."""
        return {
            "model": str(self.shape),
            "seq": self.seq,
            "host_cycles_per_element": dict(HOST_CYCLES),
            "survey_speedup": SURVEY_SPEEDUP,
            "vta_utilization": list(VTA_UTILIZATION),
            "right": self.right,
            "modes": [
                {
                    **line.document(),
                    "speedup": self.speedup(line),
                    "mac_utilization": self.utilization(line),
                }
                for line in self.lines
            ],
        }


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
