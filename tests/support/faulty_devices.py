"""Devices that do not do what they are asked for."""

from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import DeviceError, RunResult


class Idle(FunctionalDevice):
    """Does nothing at all."""

    def run(self, program, issue="stream", marks=()):
        return RunResult(cycles=None)


class Stopping(FunctionalDevice):
    """Stops at once."""

    def run(self, program, issue="stream", marks=()):
        raise DeviceError("watchdog: no progress", command=3)
