"""Waveforms of Amaranth's simulator."""

import shutil
import tempfile
from contextlib import ExitStack
from ctypes import sizeof
from pathlib import Path
from typing import Any

from amaranth.sim import Simulator

from celosia.sim.devices.rtl import DOMAIN, PERIOD, AmaranthDevice
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator.build import MODEL_TOP
from celosia.sim.verilator.probe import Probe
from celosia.sim.verilator.toolchain import run_tools
from celosia.sim.wave.narrator import Narrator
from celosia.sim.wave.recording import Recorder, Recording
from celosia.sim.wave.request import FST, VCD_TO_FST, WaveRequest
from celosia.sim.wave.top import WaveTop
from celosia.sim.wave.vcd_filter import VcdFilter

__all__ = ["AmaranthWaveDevice"]

_FEMTOSECONDS = 10**15


class AmaranthWaveDevice(Recorder, AmaranthDevice):
    """An `AmaranthDevice` that writes the waveform of `request`."""

    def __init__(self, request: WaveRequest, setup: Setup):
        self._watched: Any = WaveTop(setup.config, memory_seed=setup.timing.seed)
        self._writing = ExitStack()
        self._filter = VcdFilter("bench.top.top", MODEL_TOP, round(PERIOD * _FEMTOSECONDS))
        try:
            super().__init__(
                setup.config, setup.timing, setup.memory_bytes, setup.progress, self._watched
            )
            recording = Recording(request, self._filter.hierarchy)
        except BaseException:
            self._writing.close()
            raise
        self._file = recording.open_partial()
        self._filter.begin(self._file, request.start, request.stop, recording.scopes)
        self._recording = recording

    def close(self) -> None:
        """Complete the file, and give back memory."""
        try:
            super().close()
        finally:
            self._filter.abandon()
            self._writing.close()

    def _make_simulator(self) -> Simulator:
        simulator = super()._make_simulator()
        simulator.add_testbench(self._narrate, background=True)
        self._writing.enter_context(simulator.write_vcd(self._filter))
        return simulator

    async def _narrate(self, ctx: Any) -> None:
        """Show in every cycle what it does, for ever."""
        narrator, last = Narrator(), b""
        while True:
            image = ctx.get(self._watched.probe).to_bytes(sizeof(Probe), "little")
            if image[0] or image != last:
                last = image
                ctx.set(self._watched.text, int.from_bytes(narrator.narrate(image), "little"))
            await ctx.tick(DOMAIN)

    def _finish(self, recording: Recording) -> int:
        self._writing.close()
        self._filter.finish()
        self._file.close()
        if recording.request.path.suffix == FST:
            _convert(recording.partial)
        return self._filter.cycles


def _convert(path: Path) -> None:
    """Make an FST file of the VCD file `path`, in its place."""
    program = shutil.which(VCD_TO_FST)
    if not program:
        raise EnvironmentProblem(f"{VCD_TO_FST} is not on PATH any more")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as work:
        run_tools([[program, "-v", str(path), "-f", "wave.fst"]], Path(work))
        Path(work, "wave.fst").replace(path)
