"""A product as Gemmini's own library cuts it, in loops of Gemmini's LOOP_WS.

The rule is that of `tiled_matmul_auto` (gemmini-rocc-tests, `include/gemmini.h`): half of the
scratchpad for the operands of a loop and half of the accumulator for its results, results as square
as they can be, and what fits still is filled up column by row by depth.  Loops go over rows, then
columns, then depth, and an operand that two loops have all of is loaded once.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from time import monotonic
from typing import Any, Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EX, CONFIG_LD, CONFIG_ST, Command, float_bits
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.numerics import requantize
from celosia.lab.survey.parts.jobs import Job, Run, WrongRunError
from celosia.sim.devices.devices import open_device
from celosia.sim.support.cache import digest
from celosia.sim.support.version import source_version
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.operands import fitting_scale, parse_shape, random_operands
from celosia.sw.driver.device import Device
from celosia.sw.ir.matmul import MatMul

__all__ = ["GemminiJob", "Tiles", "gemmini_loops", "gemmini_tiles"]

_BOUNDS, _ADDRESSES_AB, _ADDRESSES_DC, _STRIDES_AB, _STRIDES_DC = LOOP_WS_CONFIGS
_HALVES: Final = 2
"""An operand of so many pieces at most stays in the scratchpad, each piece in a half."""
_IN_PLACE: Final = 0
"""The address of an operand that is in the scratchpad already."""
_NONE: Final = 0
"""The address of D if there is none, and of results that later loops add to."""
_OTHER: Final = 0
"""An operand takes the half that the loop before did not take."""
_MOVED: Final = ("read_bytes", "write_bytes")


@dataclass(frozen=True)
class Tiles:
    """What a loop computes, in tiles of `dim` x `dim`."""

    i: int
    """Rows of A and C."""
    j: int
    """Columns of B and C."""
    k: int
    """Columns of A, rows of B."""

    def fits(self, rows: int, sums: int) -> bool:
        """Whether A and B fit `rows` tiles, and C fits `sums`."""
        return (self.i + self.j) * self.k <= rows and self.i * self.j <= sums


def gemmini_tiles(config: AcceleratorConfig, problem: MatMul) -> Tiles:
    """The loop that Gemmini's library chooses for `problem`."""
    most = Tiles(*(-(-size // config.dim) for size in (problem.m, problem.n, problem.k)))
    rows = config.scratchpad_rows // 2 // config.dim
    sums = config.accumulator_rows // 2 // config.dim
    square = math.isqrt(sums)
    deep = rows // 2 // square
    found, before = Tiles(min(most.i, square), min(most.j, square), min(most.k, deep)), None
    while found != before:
        before = found
        for axis in "jik":
            size = getattr(found, axis)
            longer = replace(found, **{axis: size + 1})
            if size < getattr(most, axis) and longer.fits(rows, sums):
                found = longer
    return found


def gemmini_loops(
    config: AcceleratorConfig, problem: MatMul, a: int, b: int, c: int
) -> Iterator[Command]:
    """The commands of `problem`, int8 from memory to memory, without a bias.

    `a`, `b` and `c` are the addresses of its matrices, whose rows stand one behind the other.
    """
    dim, transposed = config.dim, problem.b_transposed
    sizes = {"i": problem.m, "j": problem.n, "k": problem.k}
    cut = {axis: tiles * dim for axis, tiles in vars(gemmini_tiles(config, problem)).items()}
    starts = {axis: range(0, size, cut[axis]) for axis, size in sizes.items()}
    a_stays = len(starts["i"]) * len(starts["k"]) <= _HALVES
    b_stays = len(starts["j"]) * len(starts["k"]) <= _HALVES
    b_stride = sizes["k" if transposed else "j"]
    yield CONFIG_EX.encode(b_transpose=transposed)
    yield CONFIG_LD.encode(set=0, stride=problem.k, block_stride=dim)
    yield CONFIG_LD.encode(set=1, stride=b_stride, block_stride=dim)
    yield CONFIG_ST.encode(stride=problem.n, scale=float_bits(problem.scale or 0))
    yield _STRIDES_AB.encode(a_stride=problem.k, b_stride=b_stride)
    yield _STRIDES_DC.encode(d_stride=0, c_stride=problem.n)
    for i, j, k in product(*starts.values()):
        extents = {
            axis: min(cut[axis], sizes[axis] - start)
            for axis, start in zip("ijk", (i, j, k), strict=True)
        }
        tiles = {axis: -(-extent // dim) for axis, extent in extents.items()}
        lacking = {f"pad_{axis}": tiles[axis] * dim - extents[axis] for axis in tiles}
        yield _BOUNDS.encode(**tiles, **lacking)
        b_from = b + (j * b_stride + k if transposed else k * b_stride + j)
        yield _ADDRESSES_AB.encode(
            a=_IN_PLACE if a_stays and j else a + i * problem.k + k,
            b=_IN_PLACE if b_stays and i else b_from,
        )
        last = k == starts["k"][-1]
        yield _ADDRESSES_DC.encode(d=_NONE, c=c + i * problem.n + j if last else _NONE)
        yield LOOP_WS.encode(
            accumulate=k > 0,
            b_transpose=transposed,
            a_half=1 + (i + k > 0) if a_stays else _OTHER,
            b_half=1 + (j + k > 0) if b_stays else _OTHER,
        )


@dataclass(frozen=True, kw_only=True)
class GemminiJob(Job):
    """A product as Gemmini's library cuts it, on an accelerator with LOOP_WS."""

    @property
    def key(self) -> str:
        """Names the job, the RTL and all sources: the loops are made here."""
        return digest([repr(self), self.netlist, source_version()])

    def run(self) -> Run:
        """Run it on Verilator, with every result compared."""
        assert isinstance(self.details, Matmul)
        assert self.details.shape is not None
        m, n, k = parse_shape(self.details.shape)
        transposed = self.details.form.transpose_b
        problem = MatMul(m=m, n=n, k=k, b_transposed=transposed, scale=fitting_scale(k))
        device = open_device("verilator", self.config, self.timing)
        try:
            return run_loops(device, self.config, problem)
        finally:
            device.close()

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again."""
        return {**super().settings(), "tiling": "tiled_matmul_auto"}


def run_loops(device: Device, config: AcceleratorConfig, problem: MatMul) -> Run:
    """Run `problem` with random operands, cut as Gemmini's library cuts it.

    Raises `WrongRunError` if a result is wrong.
    """
    began, operands = monotonic(), random_operands(problem, 0)
    a = MEMORY_BASE
    b = a + operands.a.nbytes
    c = b + operands.b.nbytes
    device.write(a, operands.a.tobytes() + operands.b.tobytes())
    result = device.run(list(gemmini_loops(config, problem, a, b, c)))
    found = np.frombuffer(device.read(c, problem.m * problem.n), np.int8)
    # Exact for sums of int8 products, and many times faster than with integers.
    factor = (operands.b.T if problem.b_transposed else operands.b).astype(np.float64)
    sums = (operands.a.astype(np.float64) @ factor).astype(np.int32)
    if wrong := np.count_nonzero(found != requantize(sums, problem.scale or 0).ravel()):
        raise WrongRunError(f"{problem}, cut as Gemmini does: {wrong:,} elements are wrong")
    return Run(
        cycles=result.cycles or 0,
        macs=problem.macs,
        limit_cycles=0,
        dram_bytes=sum(result.counters.get(name, 0) for name in _MOVED),
        elements_checked=found.size,
        seconds=monotonic() - began,
    )
