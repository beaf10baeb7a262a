"""Waveforms of Verilator."""

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
    memmove,
    sizeof,
    string_at,
)
from typing import Any

from celosia.sim.devices.rtl_device import Setup
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.support.problems import OutputError
from celosia.sim.verilator.build_options import Wave
from celosia.sim.verilator.harness.binding import Goal
from celosia.sim.verilator.probe import TEXT_BYTES, Probe
from celosia.sim.wave.fst import is_whole
from celosia.sim.wave.model import WaveModel, wave_model
from celosia.sim.wave.narrator import Narrator
from celosia.sim.wave.recording import Recorder, Recording
from celosia.sim.wave.request import WaveRequest

__all__ = ["VerilatorWaveDevice"]

_Narrate = CFUNCTYPE(None, POINTER(c_uint8), POINTER(c_uint8))


class _TraceRequest(Structure):
    """`TraceRequest` of `trace.h`."""

    _fields_ = [
        ("path", c_char_p),
        ("scopes", POINTER(c_char_p)),
        ("windows", POINTER(c_uint64)),
        ("window_count", c_uint64),
        ("narrate", _Narrate),
    ]


class VerilatorWaveDevice(Recorder, VerilatorDevice):
    """A `VerilatorDevice` that writes the waveform of `request`.

    `model` is the one that runs if it is not `wave_model`'s.
    """

    _raised: BaseException | None = None

    def __init__(self, request: WaveRequest, setup: Setup, model: WaveModel | None = None):
        wave = Wave(request.path.suffix[1:])
        model = model or wave_model(setup.config, wave, setup.progress)
        super().__init__(
            setup.config, setup.timing, setup.memory_bytes, setup.progress, model.library
        )
        self._wave, self._narrator = wave, Narrator()
        recording = Recording(request, model.hierarchy)
        self._begin(recording)
        self._recording = recording

    def _begin(self, recording: Recording) -> None:
        library, request = self._library, recording.request
        library.celosia_open_trace.restype = c_uint32
        library.celosia_open_trace.argtypes = [c_void_p, POINTER(_TraceRequest)]
        library.celosia_close_trace.restype = c_char_p
        library.celosia_close_trace.argtypes = [c_void_p]
        library.celosia_trace_cycles.restype = c_uint64
        library.celosia_trace_cycles.argtypes = [c_void_p]
        names = [scope.encode() for scope in recording.scopes]
        windows = [bound for window in request.windows for bound in window]
        self._kept_alive = _TraceRequest(
            str(recording.partial).encode(),
            (c_char_p * (len(names) + 1))(*names, None),
            (c_uint64 * len(windows))(*windows),
            len(request.windows),
            _Narrate(self._narrate),
        )
        if not library.celosia_open_trace(self._open(), byref(self._kept_alive)):
            error = OutputError(f"{request.path}: cannot be written")
            recording.discard(error)
            raise error

    def _narrate(self, probe: Any, text: Any) -> None:
        """Called from C, which exceptions cannot pass: from Ctrl-C, for one."""
        try:
            lines = self._narrator.narrate(string_at(probe, sizeof(Probe)))
            memmove(text, lines, TEXT_BYTES)
        except BaseException as error:
            self._raised = error

    def _advance(self, edges: int, goal: Goal) -> None:
        super()._advance(edges, goal)
        raised, self._raised = self._raised, None
        if raised:
            raise raised

    def _finish(self, recording: Recording) -> int:
        message = self._library.celosia_close_trace(self._open()).decode()
        if self._wave is Wave.FST and not message and not is_whole(recording.partial):
            message = "the file system took only a part of it"
        if message:
            raise OutputError(f"{recording.request.path}: not written: {message}")
        return self._library.celosia_trace_cycles(self._open())
