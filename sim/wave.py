"""The RTL under Amaranth's simulator, with every signal written to a waveform."""

from collections.abc import Sequence
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path

from amaranth.lib import wiring
from amaranth.sim import Simulator

from celosia.isa.encoding import Command
from celosia.sim.output import open_atomically
from celosia.sim.rtl import AmaranthDevice
from celosia.sim.rtl_device import Setup
from celosia.sw.driver.device import DeviceError, RunResult

__all__ = ["WaveDevice"]


class WaveDevice(AmaranthDevice):
    """An `AmaranthDevice` whose signals, from power-on to `close`, are in the VCD file `path`.

    The file appears when the device is closed, also after a run that stopped; not if a run was
    interrupted.  Time in it is 1 us for each cycle.
    """

    def __init__(self, path: Path, setup: Setup, top: wiring.Component | None = None):
        self._path = path
        self._files = ExitStack()
        try:
            super().__init__(setup.config, setup.timing, setup.memory_bytes, setup.progress, top)
        except BaseException as error:
            self._discard(error)
            raise

    def _make_simulator(self) -> Simulator:
        simulator = super()._make_simulator()
        file = self._files.enter_context(open_atomically(self._path))
        text = self._files.enter_context(TextIOWrapper(file))
        self._files.enter_context(simulator.write_vcd(text))
        return simulator

    def run(self, program: Sequence[Command]) -> RunResult:
        """Execute `program` to completion.  Raises `DeviceError` when the accelerator stops."""
        try:
            return super().run(program)
        except DeviceError:
            raise
        except BaseException as error:
            self._discard(error)
            raise

    def close(self) -> None:
        """Complete the file, and give back memory."""
        try:
            self._files.close()
        finally:
            super().close()

    def _discard(self, error: BaseException) -> None:
        """Close the file as something that failed."""
        self._files.pop_all().__exit__(type(error), error, error.__traceback__)
