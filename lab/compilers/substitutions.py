"""MetaFlow: graphs as imported, behind greedy substitution, and behind search, on the RTL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System
from celosia.lab.compilers.workload import Workload, run_ways, segments_of
from celosia.lab.graphs.rewritable import REWRITABLE
from celosia.lab.substitute.optimize import Way, optimize_model
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.prepare import random_samples
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.recognize import recognized_loudly
from celosia.sw.models.steps import Calibrate, Instantiate, Model, follow

__all__ = ["GRAPHS", "METAFLOW", "GraphLine", "metaflow", "run_graphs"]

METAFLOW: Final = System(
    system="MetaFlow",
    mechanism="substitutions on graphs, searched with backtracking through dearer ones",
    claim="1.1 to 1.6 x for inference over frameworks with greedy rules, on a V100",
    source="Jia et al., MLSys 2019",
)
CORPUS: Final = "llama"
"""The model of the corpus that is measured as it is."""
_TOKENS: Final = 8
_WAYS: Final[tuple[Way, ...]] = ("greedy", "search")


def _corpus() -> FloatGraph:
    """The corpus model, from its ONNX file."""
    exports = import_extra("celosia.lab.exports.imported", "onnx")
    return exports.imported_export(CORPUS, tokens=_TOKENS).imported.graph


GRAPHS: Final[Mapping[str, Callable[[], FloatGraph]]] = {**REWRITABLE, CORPUS: _corpus}
"""The graphs that are measured, by name."""


@dataclass(frozen=True)
class GraphLine:
    """A graph, and its cycles on the RTL by how it was rewritten."""

    name: str
    cycles: dict[str, int]
    """As ``imported``, and by each way to rewrite it."""
    right: bool

    def gain(self, before: str) -> float:
        """How many times as fast the search's graph is."""
        return self.cycles[before] / self.cycles["search"]


def run_graphs(
    tell: Progress, graphs: Mapping[str, Callable[[], FloatGraph]] = GRAPHS, preset: str = "base"
) -> tuple[GraphLine, ...]:
    """The cycles of each graph, three times: every tensor in memory is compared."""
    config, timing = resolve_config(preset), MemoryTiming()
    lines = []
    for name, make in graphs.items():
        model = Model.of(recognized_loudly(make()))
        graph = model.recognized.graph
        samples = random_samples(graph, 0)
        masks = [each for each in graph.inputs if "mask" in each]
        inputs, costs = random_inputs(graph, masks, 0), Costs(config, timing)
        models = {"imported": follow(Calibrate(samples), Instantiate(), model=model)}
        cycles, right = dict[str, int](), True
        for way in _WAYS:
            found = optimize_model(model, samples, costs, way=way)
            # Where nothing was done, the same graph takes the same cycles.
            models[way] = found.model if found.steps else models["imported"]
        for way, each in models.items():
            if each is models["imported"] and cycles:
                cycles[way] = cycles["imported"]
                continue
            workload = Workload(name, segments_of(each.quantized, inputs), timing)
            found, good = run_ways(workload, {way: workload.compiled(config)}, config, tell)
            cycles, right = cycles | found, right and good
        lines.append(GraphLine(name, cycles, right))
    return tuple(lines)


def metaflow(tell: Progress, run: Callable[[Progress], Sequence[GraphLine]] = run_graphs) -> Row:
    """The geometric mean of what the search gains over graphs as they are imported."""
    lines = run(tell)
    gains = [line.gain("imported") for line in lines]
    return Row(
        about=METAFLOW,
        work=f"{len(lines)} graphs: {', '.join(line.name for line in lines)}; geometric mean",
        gain=prod(gains) ** (1 / len(gains)),
        cycles={
            f"{line.name}, {way}": cycles for line in lines for way, cycles in line.cycles.items()
        },
        right=all(line.right for line in lines),
    )
