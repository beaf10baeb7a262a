"""Devices that keep a log of what their operations do when."""

from ctypes import byref
from dataclasses import replace

from celosia.sim.devices.rtl_device import RtlDevice, Setup
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.profile.log import MOST_OPERATIONS, MOST_SPANS, read_log
from celosia.sim.profile.recorders.model import logged_model
from celosia.sim.verilator.harness.binding import LogView, Status
from celosia.sw.driver.device import RunResult

__all__ = ["Logger", "VerilatorLogDevice"]


class Logger(RtlDevice):
    """A device whose results have a `RunLog`: it takes as many cycles as without."""

    def keep_log(self) -> None:
        """Log each run from the next one on: the last step of a constructor."""
        self._library.celosia_keep_log(self._open(), MOST_OPERATIONS, MOST_SPANS)

    def _result(
        self, status: Status, counters: dict[str, int], seconds: float, marks: int
    ) -> RunResult:
        result, view = super()._result(status, counters, seconds, marks), LogView()
        if not status.cycles:  # No command was taken: there is nothing to count from.
            return result
        self._library.celosia_view_log(self._open(), byref(view))
        return replace(result, log=read_log(view, self.config, status.cycles, self._commands))


class VerilatorLogDevice(Logger, VerilatorDevice):
    """A `VerilatorDevice` that keeps a log."""

    def __init__(self, setup: Setup):
        super().__init__(
            setup.config,
            setup.timing,
            setup.memory_bytes,
            setup.progress,
            logged_model(setup.config, setup.progress),
        )
        self.keep_log()
