"""Cycles and bytes of float graphs as they would be quantized: predicted, and on the RTL."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.prune.parts.limit import skipped
from celosia.lab.sweep.predict import predict_graphs
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_for, measure_compiled
from celosia.sim.support.progress import Progress, silent
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.models.cases import Case
from celosia.sw.quantize.graphs.sketch import sketch

__all__ = ["Cost", "Machine", "Meter", "decoder_costs", "together"]

PREFILL: Final = Text(0, 128)
STEP: Final = Text(128, 1)
"""What a decoder costs is for: the first tokens of a text, and the one behind them."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a model takes for one input."""

    input: str
    """The input, in words."""
    cycles: int
    """Cycles as the compiler's cost model expects them."""
    rtl_cycles: int | None
    """Cycles of the RTL, every tensor compared with the integer graph; null: it did not run."""
    read_bytes: int
    """Bytes that loads ask for."""
    write_bytes: int
    """Bytes that stores write."""
    best_cycles: int | None = None
    """Cycles at best, if programs skipped tiles of zero weights, which they do not; null: no tile
    is zero."""
    best_read_bytes: int | None = None
    """Bytes that loads would ask for then."""


@dataclass(frozen=True)
class Machine:
    """An accelerator and its memory."""

    config: AcceleratorConfig
    timing: MemoryTiming


@dataclass(frozen=True)
class Meter:
    """What tells the costs of models on a machine."""

    machine: Machine
    rtl: bool = False
    """Whether programs run on the RTL, too."""
    tell: Progress = silent

    def cost(self, name: str, graph: FloatGraph) -> Cost:
        """What the integer graphs that `graph` would become take, for the input of this name.

        Raises `InputError` for what cannot be compiled, `ValueError` for what is not quantized.
        """
        self.tell(f"predicting cycles: {name}", None)
        graphs, _ = sketch(graph)
        found = predict_graphs(graphs, self.machine.config, self.machine.timing)
        best: dict[str, int] = {}
        less = skipped(graph, self.machine.config.dim)
        if less is not None:
            gone = round(
                sum(found.matrix_bytes[size] * share for size, share in less.shares.items())
            )
            waited = max(less.cycles, gone // self.machine.timing.bytes_per_cycle)
            best = {
                "best_cycles": found.cycles - waited,
                "best_read_bytes": found.read_bytes - gone,
            }
        return Cost(
            input=name,
            cycles=found.cycles,
            rtl_cycles=self._measured(name, graphs) if self.rtl else None,
            read_bytes=found.read_bytes,
            write_bytes=found.write_bytes,
            **best,
        )

    def _measured(self, name: str, graphs: Sequence[Graph]) -> int:
        """Cycles of the RTL, of all graphs one after the other, on random inputs."""
        cycles, config, timing = 0, self.machine.config, self.machine.timing
        for graph in graphs:
            compiled = compile_for(graph, config, timing)
            random = np.random.default_rng(timing.seed)
            inputs = {each: _drawn(graph.tensors[each], random) for each in graph.inputs}
            self.tell(f"running on the RTL: {name}", None)
            opened = partial(open_device, "verilator", config, timing, progress=self.tell)
            whole = measure_compiled(name, compiled, Case(graph, inputs), opened).whole
            assert whole.right, f"{name}: {whole.failure or whole.mismatches}"
            assert whole.cycles is not None
            cycles += whole.cycles
        return cycles


def _drawn(tensor: Tensor, random: np.random.Generator) -> NDArray[Any]:
    """Any numbers of the tensor's type: cycles do not depend on them."""
    limits = np.iinfo(tensor.type)
    size = tensor.rows, tensor.cols
    return random.integers(limits.min, limits.max, size, tensor.type, endpoint=True)


def together(costs: Sequence[Cost]) -> Cost:
    """What programs take that run one after the other, for one input."""
    first, *_ = costs
    rtl = [each.rtl_cycles for each in costs if each.rtl_cycles is not None]
    return Cost(
        input=first.input,
        cycles=sum(each.cycles for each in costs),
        rtl_cycles=sum(rtl) if len(rtl) == len(costs) else None,
        read_bytes=sum(each.read_bytes for each in costs),
        write_bytes=sum(each.write_bytes for each in costs),
        best_cycles=_at_best((each.cycles, each.best_cycles) for each in costs),
        best_read_bytes=_at_best((each.read_bytes, each.best_read_bytes) for each in costs),
    )


def _at_best(numbers: Iterable[tuple[int, int | None]]) -> int | None:
    """The sum of numbers at best, where there are some; None: there is none."""
    pairs = list(numbers)
    if all(best is None for _, best in pairs):
        return None
    return sum(number if best is None else best for number, best in pairs)


def decoder_costs(meter: Meter, graph: FloatGraph) -> list[Cost]:
    """What a decoder's graph of a whole text takes for its first 128 tokens, and for one behind."""
    texts = {"prefill of 128": PREFILL, "step behind 128": STEP}
    layout = CacheLayout(1, STEP.keys)
    return [
        meter.cost(name, step_graph(graph, [text], layout).graph) for name, text in texts.items()
    ]
