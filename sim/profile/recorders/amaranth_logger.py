"""A log under Amaranth's simulator."""

from typing import Any

from celosia.sim.devices.rtl import AmaranthDevice
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.profile.recorders.logger import Logger
from celosia.sim.profile.recorders.top import LoggedTop

__all__ = ["AmaranthLogDevice"]


class AmaranthLogDevice(Logger, AmaranthDevice):
    """An `AmaranthDevice` that keeps a log."""

    def __init__(self, setup: Setup):
        top: Any = LoggedTop(setup.config, memory_seed=setup.timing.seed)
        super().__init__(setup.config, setup.timing, setup.memory_bytes, setup.progress, top)
        self.keep_log()
