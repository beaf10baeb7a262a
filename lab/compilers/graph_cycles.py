"""A compiled graph on the RTL: its cycles, and whether every tensor in memory is right."""

from contextlib import closing

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import needed_memory
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case

__all__ = ["graph_cycles"]


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
