"""Predicted cycles and bytes of float graphs as they would be quantized."""

from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.sweep.predict import Predicted, predict_graphs
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.quantize.graphs.sketch import sketch

__all__ = ["Machine", "decoder_costs"]

PREFILL: Final = Text(0, 128)
STEP: Final = Text(128, 1)
"""What a decoder is predicted for: the first tokens of a text, and the one behind them."""


@dataclass(frozen=True)
class Machine:
    """An accelerator and its memory."""

    config: AcceleratorConfig
    timing: MemoryTiming

    def predicted(self, graph: FloatGraph) -> Predicted:
        """What the integer graphs that `graph` would become take.

        Raises `InputError` for what cannot be compiled, `ValueError` for what is not quantized.
        """
        graphs, _ = sketch(graph)
        return predict_graphs(graphs, self.config, self.timing)


def decoder_costs(machine: Machine, graph: FloatGraph) -> dict[str, Predicted]:
    """What a decoder's graph of a whole text takes for its first 128 tokens, and for one behind."""
    texts = {"prefill of 128": PREFILL, "step behind 128": STEP}
    layout = CacheLayout(1, STEP.keys)
    return {
        name: machine.predicted(step_graph(graph, [text], layout).graph)
        for name, text in texts.items()
    }
