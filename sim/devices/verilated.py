"""The RTL under Verilator: fast, built once per configuration and kept in the cache."""

from ctypes import POINTER, byref, c_uint32
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.rtl_device import DEFAULT_TIMING, MEMORY_BYTES, RtlDevice, Setup
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import model_library
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.verilator.harness.binding import BenchConfig, Goal, bind
from celosia.sim.verilator.harness.settings import bench_config
from celosia.sim.verilator.profiled import profiled

__all__ = ["VerilatorDevice"]


class VerilatorDevice(RtlDevice):
    """The accelerator under Verilator.

    `library` is the model if it is not that of `config`
    (`celosia.sim.verilator.build.build_model`). The constructor raises `EnvironmentProblem` when
    the model is not in the cache and cannot be built, and `ValueError` for a timing or a size that
    no memory has, or a model of another configuration.
    """

    name = "verilator"

    def __init__(
        self,
        config: AcceleratorConfig,
        timing: MemoryTiming = DEFAULT_TIMING,
        memory_bytes: int = MEMORY_BYTES,
        progress: Progress = silent,
        library: Path | None = None,
    ):
        bench = bench_config(config, timing, memory_bytes)
        model = bind(library or _usual(config, progress))
        model.celosia_create.argtypes = [POINTER(BenchConfig), c_uint32]
        handle = model.celosia_create(byref(bench), timing.seed & 0xFFFF_FFFF)
        super().__init__(Setup(config, timing, memory_bytes, progress), model, handle)
        self.power_on()

    def _observable(self) -> bool:
        return bool(self._library.celosia_observable())

    def _advance(self, edges: int, goal: Goal) -> None:
        self._library.celosia_run(self._open(), edges, goal)

    def _reset(self) -> None:
        self._library.celosia_reset(self._open())


def _usual(config: AcceleratorConfig, progress: Progress) -> Path:
    """The simulator of `config`: the one with a profile if the cache has it."""
    plain = model_library(config, BuildOptions(), progress)
    return profiled(plain) or plain
