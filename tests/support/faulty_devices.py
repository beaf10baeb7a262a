"""Devices that do not do what they are asked for, or more."""

from dataclasses import replace

from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.profile.log import RunLog
from celosia.sw.driver.device import DeviceError, RunResult


class Idle(FunctionalDevice):
    """Does nothing at all."""

    def run(self, program, issue="stream", marks=()):
        return RunResult(cycles=None)


class Stopping(FunctionalDevice):
    """Stops at once."""

    def run(self, program, issue="stream", marks=()):
        raise DeviceError("watchdog: no progress", command=3)


EMPTY_LOG = RunLog(cycles=9, queues={}, owners={}, activity={}, slot_cycles=1, lost=0)


class Logging(FunctionalDevice):
    """Keeps a log, in which nothing stands."""

    def run(self, program, issue="stream", marks=()):
        return replace(super().run(program, issue, marks), log=EMPTY_LOG)
