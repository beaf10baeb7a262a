"""The table: a row for each compiler that the survey names."""

from collections.abc import Callable, Sequence
from typing import Final

from celosia.lab.compilers.dialects import mlir
from celosia.lab.compilers.expressions import expressions
from celosia.lab.compilers.latency import tvm
from celosia.lab.compilers.memory import glow
from celosia.lab.compilers.row import Row
from celosia.lab.compilers.schedules import halide
from celosia.lab.compilers.stages import ios
from celosia.lab.compilers.substitutions import metaflow
from celosia.lab.compilers.tactics import tensorrt
from celosia.lab.compilers.tuning import autotvm
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress

__all__ = ["ROWS", "run_compilers"]

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


def run_compilers(
    tell: Progress, rows: Sequence[Callable[[Progress], Row]] = ROWS
) -> tuple[Row, ...]:
    """Measure all rows, one after the other."""
    steps, found = Steps(tell, len(rows)), []
    for number, row in enumerate(rows):
        steps.begin(f"row {number + 1}")
        found.append(row(steps))
    return tuple(found)
