"""What an idea is measured on: graphs with inputs, and the cycles of their programs on the RTL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_for, needed_memory
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.prepare import import_file, random_samples
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Pass
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case
from celosia.sw.models.steps import Calibrate, Instantiate, Model, follow
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, run_model

__all__ = ["ModelFiles", "Workload", "graph_cycles", "run_ways", "segments_of", "workload_of"]


@dataclass(frozen=True, eq=False)
class Workload:
    """Graphs that run one after the other: the segments of a model, or one graph."""

    name: str
    cases: tuple[Case, ...]
    timing: MemoryTiming = field(default_factory=MemoryTiming)

    def compiled(
        self, config: AcceleratorConfig, how: Callable[[Graph], Sequence[Pass]] = lambda _: ()
    ) -> tuple[CompiledGraph, ...]:
        """A program for each graph, by passes that `how` gives for it.

        Raises `InputError` for what the accelerator cannot do.
        """
        graphs = (case.graph for case in self.cases)
        return tuple(compile_for(each, config, self.timing, *how(each)) for each in graphs)


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """Models of a user's own, and how they are looked at."""

    paths: tuple[Path, ...] = ()
    """Files; none: what the benchmark has of its own."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The sizes of their inputs."""
    rtl: bool = False
    """Accelerators are simulated where they need not be, too, with every element compared."""

    def graphs(self) -> Iterator[tuple[str, FloatGraph]]:
        """The name of each file, and what it computes.

        Raises `InputError` and `ImportProblem` for one that cannot be read.
        """
        for path in self.paths:
            yield path.name, import_file(path, self.sizes).imported.graph


def run_ways(
    workload: Workload,
    programs: Mapping[str, Sequence[CompiledGraph]],
    config: AcceleratorConfig,
    tell: Progress,
) -> tuple[dict[str, int], bool]:
    """The cycles of each way to compute `workload`, and whether all leave what its graphs mean."""
    cycles, right = dict[str, int](), True
    for way, compiled in programs.items():
        tell(f"{workload.name}, {way}", None)
        cycles[way] = 0
        for case, program in zip(workload.cases, compiled, strict=True):
            count, good = graph_cycles(case, program, config, workload.timing)
            cycles[way] += count
            right = right and good
    return cycles, right


def graph_cycles(
    case: Case, compiled: CompiledGraph, config: AcceleratorConfig, timing: MemoryTiming
) -> tuple[int, bool]:
    """The cycles of a program of `case`, and whether it leaves what the graph means."""
    device = open_device("verilator", config, timing, needed_memory(compiled))
    with closing(device):
        run = GraphRun(device, compiled)
        run.load(case.inputs)
        result = run.run()
        expected = interpret(case.graph, case.inputs)
        right = all(np.array_equal(run.read(name), expected[name]) for name in run.written)
    return result.cycles or 0, right


def workload_of(name: str, model: Model) -> Workload:
    """A recognized model on random inputs, calibrated on random samples."""
    graph = model.recognized.graph
    quantized = follow(Calibrate(random_samples(graph, 0)), Instantiate(), model=model).quantized
    masks = [each for each in graph.inputs if "mask" in each]
    return Workload(name, segments_of(quantized, random_inputs(graph, masks, 0)))


def segments_of(quantized: QuantizedGraph, inputs: Mapping[str, Array]) -> tuple[Case, ...]:
    """The graphs of a quantized model, each with what those before it leave of `inputs`."""
    cases = list[Case]()

    def interpreted(_: int, graph: Graph, values: Mapping[str, Array]) -> Mapping[str, Array]:
        cases.append(Case(graph, values))
        return interpret(graph, values)

    run_model(quantized, inputs, interpreted)
    return tuple(cases)
