"""Files of waveforms appear complete or not at all."""

import os

import pytest

from celosia.sim.devices.rtl_device import RtlDevice
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.wave.recording import Recorder, Recording
from celosia.sim.wave.request import WaveRequest
from celosia.sw.driver.device import DeviceError, RunResult

HIERARCHY = {"celosia_axi": {"clk": 1}, "celosia_axi.load": {}, "celosia_axi.wave": {}}


class Base(RtlDevice):
    """A device that does what it is told."""

    def __init__(self, error: BaseException | None):
        self.error = error

    def run(self, program, issue="stream", marks=()):
        if self.error:
            raise self.error
        return RunResult(len(program))

    def close(self) -> None:
        self.error = None

    def _advance(self, edges, goal) -> None:
        raise AssertionError

    def _reset(self):
        raise AssertionError


class Stub(Recorder, Base):
    """A recorded device of some cycles."""

    def __init__(self, request, error=None, failure=None, cycles=100):
        super().__init__(error)
        self.failure, self.cycles = failure, cycles
        self._recording = Recording(request, HIERARCHY)

    def _finish(self, recording) -> int:
        if self.failure:
            raise self.failure
        recording.partial.write_text("waves")
        return self.cycles


@pytest.fixture
def request_(tmp_path):
    return WaveRequest(path=tmp_path / "out.vcd")


def files(request) -> list[str]:
    return sorted(os.listdir(request.path.parent))


def test_the_file_takes_its_place_at_the_end(request_):
    request_.path.write_text("old")
    device = Stub(request_)
    assert device.run([]).cycles == 0
    assert request_.path.read_text() == "old"
    device.close()
    assert request_.path.read_text() == "waves"
    assert files(request_) == ["out.gtkw", "out.sucl", "out.vcd"]
    device.close()


def test_an_accelerator_that_stops_leaves_the_file(request_):
    device = Stub(request_, DeviceError("stopped"))
    with pytest.raises(DeviceError):
        device.run([])
    device.close()
    assert request_.path.read_text() == "waves"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("bad")])
def test_an_interruption_leaves_what_was_there(request_, error):
    request_.path.write_text("old")
    device = Stub(request_, error)
    with pytest.raises(type(error)):
        device.run([])
    device.close()
    assert files(request_) == ["out.vcd"]
    assert request_.path.read_text() == "old"


def test_a_full_disk_is_a_message(request_):
    device = Stub(request_, failure=OSError(28, "No space left on device"))
    with pytest.raises(OutputError, match=r"out\.vcd: not written: No space left on device"):
        device.close()
    assert not files(request_)
    device = Stub(request_, OSError(28, "No space left on device"))
    with pytest.raises(OutputError, match=r"out\.vcd: not written: No space left on device"):
        device.run([])
    device.close()
    assert not files(request_)


def test_a_window_that_is_not_reached(tmp_path):
    request = WaveRequest(path=tmp_path / "out.vcd", start=100)
    device = Stub(request, cycles=100)
    with pytest.raises(InputError, match="begins with cycle 100, but there were only 100 cycles"):
        device.close()
    assert not files(request)
    Stub(request, cycles=101).close()
    assert files(request)


def test_an_unknown_scope_leaves_nothing(tmp_path):
    request = WaveRequest(path=tmp_path / "out.vcd", scope="celosia_axi.lod")
    with pytest.raises(InputError, match=r"there are celosia_axi\.load, celosia_axi\.wave"):
        Stub(request)
    assert not files(request)


def test_lines_of_text_are_in_every_scope(tmp_path):
    request = WaveRequest(path=tmp_path / "out.vcd", scope="celosia_axi.load")
    assert Recording(request, HIERARCHY).scopes == ("celosia_axi.load", "celosia_axi.wave")


def grown(request, size, share):
    """What is logged where a part of a run has left a part of a file."""
    recording = Recording(request, HIERARCHY)
    with recording.open_partial() as file:
        file.truncate(size)
    recording.announce(share)
    recording.announce(share)
    recording.discard(KeyboardInterrupt())


def test_a_large_waveform_is_announced_once_as_soon_as_a_part_tells(request_, caplog):
    grown(request_, 1_030_000, 0.01)
    said = f"celosia: {request_.path} will have about 103 MB; --wave-window START:STOP and"
    assert [record.getMessage()[: len(said)] for record in caplog.records] == [said]


@pytest.mark.parametrize(
    ("changed", "size", "share"),
    [
        ({}, 10_000, 0.01),
        ({}, 1_030_000, None),
        ({}, 1_030_000, 0.001),
        ({"start": 4}, 1_030_000, 0.01),
        ({"stop": 400}, 1_030_000, 0.01),
    ],
)
def test_what_is_small_unknown_or_chosen_is_not_announced(tmp_path, caplog, changed, size, share):
    grown(WaveRequest(path=tmp_path / "out.vcd", **changed), size, share)
    assert caplog.records == []
