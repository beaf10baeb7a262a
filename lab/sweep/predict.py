"""What a run of a workload is expected to show, without running it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.graph_run import compile_for
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.progress import silent
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.program import Load, LoadParameters, Store

__all__ = ["Predicted", "predict_graphs", "predict_workload"]


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """Programs one after the other: what they are expected to take, and what they move."""

    cycles: int
    read_bytes: int
    matrix_bytes: Mapping[tuple[int, int], int]
    """The bytes of constant matrices of int8 among them, by their size."""
    write_bytes: int


def predict_workload(options: RunOptions, config: AcceleratorConfig) -> Predicted:
    """What `celosia run` would show of the workload of `options` on `config`.

    Programs are compiled as they are for a run; the timeline has the cycles, bytes are exact.
    Raises `InputError` for what cannot be run.
    """
    return predict_graphs(options.job(silent).graphs, config, options.target.timing)


def predict_graphs(
    graphs: Iterable[Graph], config: AcceleratorConfig, timing: MemoryTiming
) -> Predicted:
    """The same of integer graphs that run one after the other."""
    cycles = read = written = 0
    matrices = Counter[tuple[int, int]]()
    for graph in graphs:
        compiled = compile_for(graph, config, timing)
        cycles += compiled.expected(timing).cycles
        read += _bytes(compiled, (Load, LoadParameters))
        written += _bytes(compiled, (Store,))
        matrices.update(_matrix_bytes(compiled))
    return Predicted(cycles=cycles, read_bytes=read, write_bytes=written, matrix_bytes=matrices)


def _matrix_bytes(compiled: CompiledGraph) -> Counter[tuple[int, int]]:
    found = Counter[tuple[int, int]]()
    for op in (written.op for written in compiled.ops):
        if isinstance(op, Load) and op.view.tensor in compiled.graph.constants:
            tensor = compiled.graph.tensors[op.view.tensor]
            found[tensor.rows, tensor.cols] += op.view.rows * op.view.cols
    return found


def _bytes(compiled: CompiledGraph, kinds: Iterable[type[Load | LoadParameters | Store]]) -> int:
    """Bytes that operations of some kinds move."""
    size = {name: np.dtype(each.type).itemsize for name, each in compiled.graph.tensors.items()}
    chosen = tuple(kinds)
    views = [
        op.view
        for op in (written.op for written in compiled.ops)
        if isinstance(op, Load | LoadParameters | Store) and isinstance(op, chosen)
    ]
    return sum(view.rows * view.cols * size[view.tensor] for view in views)
