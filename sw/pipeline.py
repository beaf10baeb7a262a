"""The compiler's table of contents: from a problem to commands, pass by pass."""

from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.sw.cost import Prediction, predict_matmul
from celosia.sw.driver.device import MemoryTiming
from celosia.sw.ir.matmul import MatMul, MatMulAddresses, verify
from celosia.sw.ir.schedule import MatMulSchedule
from celosia.sw.ir.tile import TileProgram
from celosia.sw.passes.lower_tiles import lower_tiles
from celosia.sw.passes.order_matmul import order_matmul
from celosia.sw.passes.place_tiles import place_tiles
from celosia.sw.passes.schedule_matmul import schedule_matmul

__all__ = ["CompiledMatMul", "compile_matmul", "tile_matmul"]


@dataclass(frozen=True, kw_only=True)
class CompiledMatMul:
    """A product as commands, with the decisions that led to them."""

    problem: MatMul
    addresses: MatMulAddresses
    schedule: MatMulSchedule
    prediction: Prediction
    commands: tuple[Command, ...]


def compile_matmul(
    problem: MatMul,
    addresses: MatMulAddresses,
    config: AcceleratorConfig,
    *,
    timing: MemoryTiming | None = None,
    schedule: MatMulSchedule | None = None,
) -> CompiledMatMul:
    """Commands for `problem` on operands at `addresses`.

    Without a `schedule`, the cheapest one for `config` and the memory's `timing` is chosen.
    Raises `ValueError` if the problem cannot be computed.
    """
    verify(problem)
    if problem.bias != (addresses.bias is not None):
        raise ValueError(f"bias: the problem says {problem.bias}, its address is {addresses.bias}")
    schedule = schedule or schedule_matmul(problem, config, timing)
    return CompiledMatMul(
        problem=problem,
        addresses=addresses,
        schedule=schedule,
        prediction=predict_matmul(problem, config, schedule, timing),
        commands=lower_tiles(tile_matmul(problem, config, schedule), addresses),
    )


def tile_matmul(
    problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule
) -> TileProgram:
    """`problem` in tiles, as `schedule` says."""
    return place_tiles(problem, config, schedule, order_matmul(problem, config, schedule))
