"""Devices by name."""

from importlib import import_module

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.rtl_device import DEFAULT_TIMING, MEMORY_BYTES
from celosia.sim.support.progress import Progress, silent
from celosia.sw.driver.device import Device

__all__ = ["DEVICES", "open_device"]

DEVICES = ("functional", "amaranth", "verilator")


def open_device(
    name: str,
    config: AcceleratorConfig,
    timing: MemoryTiming = DEFAULT_TIMING,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = silent,
) -> Device:
    """A device of one of the `DEVICES`; the garbage in its memories is that of `timing.seed`.

    Raises `ValueError` for an unknown name or an impossible memory, and `EnvironmentProblem` when
    a tool is missing.
    """
    # Each is loaded when it is asked for: Amaranth alone takes a good part of a second.
    match name:
        case "functional":
            functional = import_module("celosia.sim.devices.functional")
            return functional.FunctionalDevice(
                config, memory_bytes=memory_bytes, seed=timing.seed, progress=progress
            )
        case "amaranth":
            rtl = import_module("celosia.sim.devices.rtl")
            return rtl.AmaranthDevice(config, timing, memory_bytes, progress)
        case "verilator":
            verilated = import_module("celosia.sim.devices.verilated")
            return verilated.VerilatorDevice(config, timing, memory_bytes, progress)
    raise ValueError(f"simulator: there is no {name!r}; there are {', '.join(DEVICES)}")
