"""The table: a row for each compiler that the survey names."""

from collections.abc import Callable, Sequence
from typing import Final

from celosia.sim.bench.compilers.dialects import mlir
from celosia.sim.bench.compilers.latency import tvm
from celosia.sim.bench.compilers.row import Row, System, unbuilt
from celosia.sim.bench.compilers.substitutions import metaflow
from celosia.sim.bench.compilers.tuning import autotvm
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress

__all__ = ["COMPILERS", "ROWS", "run_compilers"]

COMPILERS: Final = "compilers"
"""The benchmark's name."""

HALIDE: Final = System(
    system="Halide",
    mechanism="schedules as text: primitives that split, reorder, keep and fuse",
    claim="up to 5 x over hand-tuned code for images, with far fewer lines",
    source="Ragan-Kelley et al., PLDI 2013",
)
GLOW: Final = System(
    system="Glow",
    mechanism="static memory planning with reuse",
    claim="up to 2.7 x over TensorFlow, 1.3 x over TVM without tuning, on a CPU",
    source="Rotem et al., 2018",
)
TENSORRT: Final = System(
    system="TensorRT",
    mechanism="calibration, and tactics that are timed and recorded with their alternatives",
    claim="no paper",
    source="NVIDIA's documentation",
)
IOS: Final = System(
    system="IOS",
    mechanism="stages of operators that run at once, by dynamic programming",
    claim="1.1 to 1.5 x over TensorRT for networks with branches",
    source="Ding et al., MLSys 2021",
)

ROWS: Final[Sequence[Callable[[Progress], Row]]] = (
    lambda tell: unbuilt(HALIDE),
    tvm,
    autotvm,
    lambda tell: unbuilt(GLOW),
    lambda tell: unbuilt(TENSORRT),
    mlir,
    metaflow,
    lambda tell: unbuilt(IOS),
)
"""A function for each row, in the survey's order."""


def run_compilers(
    tell: Progress, rows: Sequence[Callable[[Progress], Row]] = ROWS
) -> tuple[Row, ...]:
    """Measure all rows, one after the other."""
    steps, found = Steps(tell, len(rows)), []
    for number, row in enumerate(rows):
        steps.begin(f"row {number + 1}")
        found.append(row(steps))
    return tuple(found)
