"""The Verilator model that shows what its operations do: another library than the usual one."""

from importlib import import_module
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import MODEL_TOP, model_library
from celosia.sim.verilator.build_options import BuildOptions

__all__ = ["logged_model"]


def logged_model(config: AcceleratorConfig, progress: Progress = silent) -> Path:
    """The model of `config` that can be logged.

    Raises `EnvironmentProblem` when it is not in the cache and a tool to build it is missing.
    """
    return model_library(config, BuildOptions(log=True), progress, _write)


def _write(config: AcceleratorConfig) -> str:
    # Not before it is needed: whoever finds a model in the cache does without the RTL.
    top = import_module("celosia.sim.profile.recorders.top").LoggedTop(config)
    return import_module("celosia.sim.verilator.verilog").to_verilog(
        top, MODEL_TOP, ports=top.ports
    )
