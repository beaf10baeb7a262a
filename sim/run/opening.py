"""Devices for a run: as they are, or such that write a waveform or keep a log.

Before a run that is long enough, the simulator is compiled again with a profile.
"""

import logging
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.run.options.options import Target, Watching
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.build import model_library
from celosia.sim.verilator.profiled import (
    PAYS,
    PROFILED_VARIABLE,
    Profiled,
    build_profiled,
    profiled_wish,
)
from celosia.sim.wave.request import WaveRequest
from celosia.sw.driver.device import Device

__all__ = ["Opener", "build_faster", "is_long", "open_for", "prepare_run", "watching_opener"]

_LOG: Final = logging.getLogger("celosia")
_STANDARD_RUN: Final = "celosia.sim.run.workload.standard_run"
"""The module that runs what a profile is recorded of."""


class Opener(Protocol):
    """`celosia.sim.devices.devices.open_device`, or what takes its place in a test."""

    def __call__(
        self,
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        """Open a device."""
        ...


def watching_opener(target: Target, watching: Watching, opener: Opener) -> Opener:
    """An opener of devices that write or keep what is asked for; else `opener`.

    Raises `InputError` for what a simulator cannot write.
    """
    if watching.log:
        opener = _logging(target, watching)
    return opener if watching.wave is None else _waving(watching.wave)


def _waving(request: WaveRequest) -> Opener:
    """An opener whose devices write the waveform of `request`."""
    wave = "celosia.sim.wave"
    return _opener(
        (f"{wave}.amaranth", "AmaranthWaveDevice"),
        (f"{wave}.verilated", "VerilatorWaveDevice"),
        request,
    )


def _logging(target: Target, watching: Watching) -> Opener:
    """An opener whose devices keep a log."""
    if target.simulator == "functional":
        raise InputError("--report, --trace, --profile: functional has no clock")
    if watching.wave is not None:
        raise InputError("--wave: not together with --report, --trace or --profile")
    recorders = "celosia.sim.profile.recorders"
    return _opener(
        (f"{recorders}.amaranth_logger", "AmaranthLogDevice"),
        (f"{recorders}.logger", "VerilatorLogDevice"),
    )


def _opener(amaranth: tuple[str, str], verilator: tuple[str, str], *first: Any) -> Opener:
    """An opener of devices of these modules and classes, whose first arguments are `first`."""

    def device(
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        # Loaded when it is asked for: Amaranth takes a good part of a second.
        module, kind = amaranth if name == "amaranth" else verilator
        setup = Setup(config, timing, memory_bytes, progress)
        return getattr(import_module(module), kind)(*first, setup)

    return device


def open_for(
    opener: Opener,
    target: Target,
    config: AcceleratorConfig,
    memory_bytes: int,
    progress: Progress,
) -> Device:
    """A device for runs on `target`.  Raises `InputError` for what cannot be opened."""
    try:
        device = opener(target.simulator, config, target.timing, memory_bytes, progress=progress)
    except ValueError as error:
        raise InputError(str(error)) from error
    device.limit_cycles(target.cycle_budget)
    return device


def is_long(cycles: int) -> bool:
    """Whether a run of so many cycles is worth the build.

    Raises `EnvironmentProblem` for a variable that says nothing known.
    """
    wish = profiled_wish()
    return wish is Profiled.ALWAYS or (wish is Profiled.AUTO and cycles >= PAYS)


def prepare_run(target: Target, opener: Opener, cycles: int, tell: Progress) -> None:
    """Build the simulator of `target` with a profile if a run of so many cycles is worth it.

    Only what `open_device` opens can use it.
    """
    if target.simulator == "verilator" and opener is open_device and is_long(cycles):
        build_faster(target.config, tell)


def build_faster(config: AcceleratorConfig, tell: Progress) -> None:
    """Build the simulator of `config` with a profile; a warning says so if that fails.

    Raises `EnvironmentProblem` if there is not even one without.
    """
    model_library(config, progress=tell)
    values = Target().on(config).overrides

    def record(library: Path) -> list[str]:
        return [sys.executable, "-m", _STANDARD_RUN, str(library), *values]

    try:
        build_profiled(config, record, tell)
    except EnvironmentProblem as problem:
        _LOG.warning(
            "celosia: no simulator with a profile, so the run takes longer (%s=never builds none): "
            "%s",
            PROFILED_VARIABLE,
            problem,
        )
