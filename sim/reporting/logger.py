"""Devices that keep a log of what their operations do when."""

from collections.abc import Sequence
from ctypes import byref
from dataclasses import replace

from celosia.isa.encoding import Command
from celosia.sim.harness.binding import LogView
from celosia.sim.reporting.log import MOST_OPERATIONS, MOST_SPANS, read_log
from celosia.sim.reporting.model import logged_model
from celosia.sim.rtl_device import RtlDevice, Setup
from celosia.sim.verilated import VerilatorDevice
from celosia.sw.driver.device import Issue, RunResult

__all__ = ["Logger", "VerilatorLogDevice"]


class Logger(RtlDevice):
    """A device whose results have a `RunLog`: it takes as many cycles as without."""

    def keep_log(self) -> None:
        """Log each run from the next one on: the last step of a constructor."""
        self._library.celosia_keep_log(self._open(), MOST_OPERATIONS, MOST_SPANS)

    def run(
        self, program: Sequence[Command], issue: Issue = "stream", marks: Sequence[int] = ()
    ) -> RunResult:
        """As `Device.run`."""
        result = super().run(program, issue, marks)
        view, first = LogView(), self._commands - len(program)
        self._library.celosia_view_log(self._open(), byref(view))
        return replace(result, log=read_log(view, self.config, result.cycles or 0, first))


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
