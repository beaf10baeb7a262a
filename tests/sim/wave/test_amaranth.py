"""Waveforms of Amaranth's simulator."""

import os
import resource
from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.wave.amaranth import AmaranthWaveDevice
from celosia.sim.wave.request import WaveRequest
from celosia.sw.driver.assembly import format_command, parse_command
from celosia.sw.driver.device import DeviceError
from tests.support.exports import SMALLEST
from tests.support.plain import PLAIN_OVERRIDES
from tests.support.waves import BARE, PROGRAM, SETUP, Waves, check_lines, check_views

LEAST = replace(SETUP, config=resolve_config("tiny", [*SMALLEST, *PLAIN_OVERRIDES]))
"""What is made soonest, for devices that run nothing to its end."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(BARE, id="plain"),
        # With the normalization unit, of which the program uses nothing.
        pytest.param(SETUP, id="tiny", marks=pytest.mark.slow),
    ],
)
def setup(request):
    """The device whose waves are looked at."""
    return request.param


@pytest.fixture(scope="module")
def run(tmp_path_factory, setup):
    """A whole run: the request, its waves and its cycles."""
    request = WaveRequest(path=tmp_path_factory.mktemp("run") / "out.vcd")
    with AmaranthWaveDevice(request, setup) as device:
        cycles = device.run(PROGRAM).cycles
        assert len(os.listdir(request.path.parent)) == 1, "the file appears when it is complete"
    assert cycles is not None
    return request, Waves(request.path), cycles


def test_only_the_waveform_and_its_views_are_written(run):
    request, *_ = run
    assert sorted(os.listdir(request.path.parent)) == ["out.gtkw", "out.sucl", "out.vcd"]


def test_a_cycle_is_a_nanosecond(run):
    _, waves, cycles = run
    assert waves.timescale == "100ps"
    clock = waves.changes["celosia_axi.clk"]
    assert clock == [(5 * n, str((n + 1) % 2)) for n in range(len(clock))]
    # All counters are read behind the run.
    assert cycles <= waves.times[-1] // 10 + 1 <= cycles + 1000


def test_lines_say_what_happens(run):
    check_lines(run[1], PROGRAM)


def test_views_show_signals_that_are_there(run):
    check_views(run[0], run[1])


def test_queues_and_hierarchy(run):
    waves = run[1]
    assert max(int(value, 2) for _, value in waves.changes["celosia_axi.wave.load_queued"]) == 2
    assert "celosia_axi.accelerator.issue.load__payload.tag" in waves.bits
    assert not [name for name in waves.bits if "._" in name or ".$" in name]


def test_a_window_of_a_scope_with_a_run_that_fails_before_another(run, setup, tmp_path):
    request = WaveRequest(
        path=tmp_path / "out.vcd", start=100, stop=2000, scope="celosia_axi.accelerator.load"
    )
    outside = parse_command("mvin dram=0x10 local=sp[0] local_cols=4 local_rows=1")
    with AmaranthWaveDevice(request, setup) as device:
        with pytest.raises(DeviceError):
            device.run([outside])
        device.run(PROGRAM)
    waves, whole = Waves(request.path), run[1]
    assert waves.times == [*range(1000, waves.times[-1] + 5, 5)]
    assert waves.times[-1] < 20_000
    inside = ("celosia_axi.accelerator.load.", "celosia_axi.wave.")
    assert waves.bits == {
        name: bits for name, bits in whole.bits.items() if name.startswith(inside)
    }
    check_views(request, waves)
    lines = [line for _, line in waves.text("celosia_axi.wave.store")]
    assert format_command(PROGRAM[-1]) in lines, "after an error, those of the next run are right"


def test_an_unknown_scope_and_an_interruption_leave_nothing(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"in celosia_axi there are .*accelerator, .*wave"):
        AmaranthWaveDevice(WaveRequest(path=tmp_path / "x.vcd", scope="celosia_axi.acc"), LEAST)
    assert not os.listdir(tmp_path)
    device = AmaranthWaveDevice(WaveRequest(path=tmp_path / "x.vcd"), LEAST)

    def interrupted(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(device, "_advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.run(PROGRAM)
    device.close()
    assert not os.listdir(tmp_path)


def test_a_full_disk_leaves_nothing(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    device = AmaranthWaveDevice(WaveRequest(path=tmp_path / "x.vcd"), LEAST)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"x\.vcd: not written: File too large"):
            device.run(PROGRAM)
        device.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not os.listdir(tmp_path)
