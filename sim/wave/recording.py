"""What waveforms of both simulators have in common: files that appear complete, beside views."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from celosia.isa.encoding import Command
from celosia.sim.devices.rtl_device import RtlDevice
from celosia.sim.support.output import replace_atomically
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.verilator.build import MODEL_TOP
from celosia.sim.verilator.harness.binding import Goal
from celosia.sim.verilator.probe import WAVE_SCOPE
from celosia.sim.wave.request import WHOLE, WaveRequest, check_scope
from celosia.sim.wave.views import Hierarchy, write_views
from celosia.sw.driver.device import DeviceError, RunResult

__all__ = ["Recorder", "Recording"]


_PART: Final = 0.005
"""The share of a run after which its waveform's size is known well enough."""
_LARGE: Final = 20e6
"""Bytes from which on a waveform is announced."""
_LOG: Final = logging.getLogger("celosia")


class Recording:
    """A waveform that is being written: `partial` becomes the file that `request` names.

    Raises `InputError` for a scope that is not in `hierarchy`.
    """

    def __init__(self, request: WaveRequest, hierarchy: Hierarchy):
        check_scope(request.scope, [*hierarchy])
        self.request = request
        self._hierarchy = hierarchy
        self._files = ExitStack()
        self._announced = False
        self.partial: Path = self._files.enter_context(_replacing(request.path))

    def open_partial(self) -> TextIO:
        """The partial file, closed at the latest when it is kept or discarded."""
        return self._files.enter_context(open(self.partial, "w", encoding="ascii"))

    @property
    def scopes(self) -> tuple[str, ...]:
        """What is written; the lines of text always are."""
        scope = self.request.scope
        return (scope, f"{MODEL_TOP}.{WAVE_SCOPE}") if scope else (MODEL_TOP,)

    def keep(self, cycles: int) -> None:
        """Let the file appear, with its views; the simulation took `cycles`.

        Raises `InputError`, and leaves no file, if they ended before the window.
        """
        first, stop = self.request.start, min(self.request.stop, cycles)
        if first >= stop:
            error = InputError(
                f"--wave-window: it begins with cycle {first}, but there were only {cycles} cycles"
            )
            self.discard(error)
            raise error
        self._files.close()
        write_views(self.request, self._hierarchy, MODEL_TOP, range(first, stop))

    def announce(self, share: float | None) -> None:
        """Say how large the file becomes, if that is large, as soon as a part of it tells."""
        whole = self.request.start == 0 and self.request.stop == WHOLE
        if self._announced or not whole or share is None or share < _PART:
            return
        self._announced = True
        expected = self.partial.stat().st_size / share
        if expected >= _LARGE:
            _LOG.warning(
                "celosia: %s will have about %s MB; --wave-window START:STOP and --wave-scope PATH "
                "write less",
                self.request.path,
                f"{expected / 1e6:,.0f}",
            )

    def discard(self, error: BaseException) -> None:
        """Leave no file, because of `error`."""
        self._files.pop_all().__exit__(type(error), error, error.__traceback__)


class Recorder(RtlDevice):
    """A device whose signals, from its first run to `close`, are in a waveform.

    The file appears, with its views, when the device is closed, also after a run that stopped; not
    if a run was interrupted.  A cycle is 1 ns in it.
    """

    _recording: Recording | None = None

    def _finish(self, recording: Recording) -> int:
        """Complete the partial file; the number of cycles since it was begun."""
        raise NotImplementedError

    def run(self, program: Sequence[Command], *arguments: Any, **options: Any) -> RunResult:
        """Run `program` on the recorded device; leave no file if something interrupts it."""
        try:
            return super().run(program, *arguments, **options)
        except DeviceError:
            raise
        except BaseException as error:
            recording, self._recording = self._recording, None
            if recording:
                recording.discard(error)
            raise

    def _advance(self, edges: int, goal: Goal) -> None:
        super()._advance(edges, goal)
        if self._recording and goal is Goal.RUN_OVER:
            self._recording.announce(self._share(self._status()))

    def close(self) -> None:
        """Complete the file, and give back memory."""
        recording, self._recording = self._recording, None
        try:
            if recording:
                _complete(self, recording)
        finally:
            super().close()


def _complete(recorder: Recorder, recording: Recording) -> None:
    try:
        cycles = recorder._finish(recording)
    except BaseException as error:
        recording.discard(error)
        raise
    recording.keep(cycles)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    try:
        with replace_atomically(path) as partial:
            yield partial
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: not written: {error.strerror or error}") from error
