"""The table: a row for each compiler that the survey names."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from celosia.lab.compilers.dialects import mlir
from celosia.lab.compilers.expressions import expressions
from celosia.lab.compilers.latency import tvm, tvm_of
from celosia.lab.compilers.memory import glow
from celosia.lab.compilers.row import Row
from celosia.lab.compilers.schedules import halide, halide_of
from celosia.lab.compilers.stages import ios
from celosia.lab.compilers.substitutions import metaflow, run_graphs
from celosia.lab.compilers.tactics import tensorrt
from celosia.lab.compilers.tuning import autotvm, autotvm_of
from celosia.lab.compilers.workload import ModelFiles, Workload, workload_of
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.recognize import recognized_loudly
from celosia.sw.models.steps import Model

__all__ = ["OF_A_MODEL", "ROWS", "run_compilers"]

ROWS: Final[Sequence[Callable[[Progress], Row]]] = (
    halide,
    tvm,
    expressions,
    autotvm,
    glow,
    tensorrt,
    mlir,
    metaflow,
    ios,
)
"""A function for each row, in the survey's order of systems."""


OF_A_MODEL: Final[Sequence[Callable[[Progress, Workload], Row]]] = (
    halide_of,
    tvm_of,
    autotvm_of,
    glow,
    partial(tensorrt, calibrate=None),
    mlir,
    ios,
)
"""A function for each row that is measured on the quantized graphs of a model; an operator of one's
own is in no file."""


def run_compilers(tell: Progress, asked: ModelFiles | None = None) -> tuple[Row, ...]:
    """Measure all rows, one after the other, or those of each file that is asked for.

    Raises `InputError` and `ImportProblem` for a file that cannot be read, and `InputError` for one
    of which the accelerator computes nothing.
    """
    models = asked.graphs() if asked else ()
    rows = [row for each in models for row in _of_model(*each)] or ROWS
    steps, found = Steps(tell, len(rows)), []
    for number, row in enumerate(rows):
        steps.begin(f"row {number + 1}")
        found.append(row(steps))
    return tuple(found)


def _of_model(name: str, graph: FloatGraph) -> Iterator[Callable[[Progress], Row]]:
    workload = workload_of(name, Model.of(recognized_loudly(graph)))
    if not workload.cases:
        raise InputError(f"{name}: the accelerator computes nothing of it")
    for row in OF_A_MODEL:
        yield partial(row, workload=workload)
    yield partial(metaflow, run=partial(run_graphs, graphs={name: lambda: graph}))
