"""Runs a workload on the exported RTL, in which nothing sleeps, and records signals."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.simulation import Setup
from celosia.sim.export.design import for_any_tool
from celosia.sim.export.models import ram_models
from celosia.sim.export.rams import RamPlatform
from celosia.sim.export.silicon.power.waves import Recorded, read_wave
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.build import MODEL_TOP, build_model
from celosia.sim.verilator.build_options import BuildOptions, Wave
from celosia.sim.verilator.verilog import to_verilog
from celosia.sim.wave.model import WaveModel, hierarchy
from celosia.sim.wave.request import WaveRequest
from celosia.sim.wave.top import WaveTop
from celosia.sim.wave.verilated import VerilatorWaveDevice
from celosia.sw.driver.device import Device

__all__ = ["Design", "record", "write_design"]

_OPTIONS: Final = BuildOptions(wave=Wave.VCD)


@dataclass(frozen=True)
class Design:
    """The RTL that is measured: what is simulated and what is mapped are one text."""

    config: AcceleratorConfig
    verilog: str
    models: str
    """The modules of its memories."""


def write_design(config: AcceleratorConfig) -> Design:
    """The accelerator as `celosia verilog` exports it, with memories as black boxes."""
    platform = RamPlatform()
    top = WaveTop(config)
    text = to_verilog(top, MODEL_TOP, platform, ports=top.ports)
    return Design(config, for_any_tool(text), ram_models(sorted(platform.rams, reverse=True)))


def record(
    design: Design,
    options: RunOptions,
    window: tuple[int, int],
    scopes: Iterable[str],
    tell: Progress,
    *,
    only: str | None = None,
) -> dict[str, Recorded]:
    """The signals of `scopes` in the cycles of `window`.

    `only` is the scope that the file has; None: all.
    Raises what `run_workload` raises, and `EnvironmentProblem` for a run with wrong results.
    """
    # Signals that cross borders of modules without a name are recorded, what Yosys invented not.
    text = (design.verilog + design.models).replace("\\$", "\\_$")
    library = build_model(text, design.config, _OPTIONS, tell)
    model = WaveModel(library, hierarchy(text))

    def opener(
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        return VerilatorWaveDevice(request, Setup(config, timing, memory_bytes, progress), model)

    on = replace(options, target=options.target.on(design.config))
    with tempfile.TemporaryDirectory(prefix="celosia-energy-") as work:
        path = Path(work) / "ports.vcd"
        request = WaveRequest(path=path, start=window[0], stop=window[1], scope=only)
        report = run_workload(on, tell, opener).report
        if not report.right:
            raise EnvironmentProblem(f"{options.workload}: wrong results while ports were recorded")
        tell("reading what was recorded", None)
        return read_wave(path, scopes)
