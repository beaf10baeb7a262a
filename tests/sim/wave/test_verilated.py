"""Waveforms of Verilator: the same lines in the same cycles as under Amaranth's simulator."""

import os
import resource
import shutil
import subprocess

import pytest

from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.verilator.doctor import absence
from celosia.sim.wave.amaranth import AmaranthWaveDevice
from celosia.sim.wave.fst import is_whole
from celosia.sim.wave.request import WaveRequest
from celosia.sim.wave.verilated import VerilatorWaveDevice
from celosia.sw.driver.assembly import parse_command
from celosia.sw.driver.device import DeviceError
from tests.support.waves import BARE, PROGRAM, SETUP, Waves, check_lines, check_views

# A model with waveforms is built first: most of a minute.
pytestmark = pytest.mark.slow

Recorded = type[VerilatorWaveDevice] | type[AmaranthWaveDevice]

OUTSIDE = parse_command("mvin dram=0x10 local=sp[0] local_cols=4 local_rows=1")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(BARE, id="plain"),
        # With the normalization unit, of which the program uses nothing.
        pytest.param(SETUP, id="tiny", marks=pytest.mark.nightly),
    ],
)
def setup(request):
    """The device whose waves are looked at."""
    return request.param


def record(path, setup, device: Recorded = VerilatorWaveDevice, **options):
    request = WaveRequest(path=path, **options)
    with device(request, setup) as running:
        running.run(PROGRAM)
    return request


@pytest.fixture(scope="module")
def whole(tmp_path_factory, setup):
    return record(tmp_path_factory.mktemp("whole") / "out.vcd", setup)


def test_lines_say_what_happens(whole):
    assert sorted(os.listdir(whole.path.parent)) == ["out.gtkw", "out.sucl", "out.vcd"]
    waves = Waves(whole.path)
    check_lines(waves, PROGRAM)
    check_views(whole, waves)


def test_lines_are_those_of_amaranths_simulator(whole, tmp_path, setup):
    other = Waves(record(tmp_path / "out.vcd", setup, AmaranthWaveDevice).path)
    waves = Waves(whole.path)
    assert waves.timescale == other.timescale == "100ps"
    lines = [name for name in waves.bits if name.startswith("celosia_axi.wave.")]
    assert len(lines) > 10
    for name in lines:
        assert waves.changes[name] == other.changes[name]


def test_every_scope_and_its_signals_are_known(whole, tmp_path, setup):
    waves = Waves(whole.path)
    with pytest.raises(InputError, match=r"in celosia_axi\.accelerator there are .*\.load"):
        record(tmp_path / "out.vcd", setup, scope="celosia_axi.accelerator.lod")
    assert not os.listdir(tmp_path)
    for scope in ("accelerator.issue", "accelerator.load", "accelerator.execute.array.mesh"):
        request = record(tmp_path / "out.vcd", setup, scope=f"celosia_axi.{scope}")
        inside = (f"celosia_axi.{scope}.", "celosia_axi.wave.")
        part = Waves(request.path)
        assert part.bits == {n: b for n, b in waves.bits.items() if n.startswith(inside)}
        check_views(request, part)


def test_a_window(whole, tmp_path, setup):
    waves = Waves(record(tmp_path / "out.vcd", setup, start=100, stop=120).path)
    assert waves.times == [*range(1000, 1200, 5)]
    before = [
        line for cycle, line in Waves(whole.path).text("celosia_axi.wave.array") if cycle <= 100
    ]
    assert waves.text("celosia_axi.wave.array")[0] == (100, before[-1])
    assert (tmp_path / "out.vcd").stat().st_size < whole.path.stat().st_size
    with pytest.raises(InputError, match="begins with cycle 5000, but there were only"):
        record(tmp_path / "late.vcd", setup, start=5000)


def test_a_run_that_fails_has_a_waveform(tmp_path, setup):
    request = WaveRequest(path=tmp_path / "out.vcd")
    with VerilatorWaveDevice(request, setup) as device:
        with pytest.raises(DeviceError):
            device.run([OUTSIDE])
        device.run(PROGRAM)
    lines = [line for _, line in Waves(request.path).text("celosia_axi.wave.store")]
    assert len(lines) == 3


def test_a_full_disk_leaves_nothing(tmp_path, setup):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    device = VerilatorWaveDevice(WaveRequest(path=tmp_path / "out.vcd"), setup)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        device.run(PROGRAM)
        with pytest.raises(OutputError, match=r"out\.vcd: not written: File too large"):
            device.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not os.listdir(tmp_path)


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch, setup):
    device = VerilatorWaveDevice(WaveRequest(path=tmp_path / "out.vcd"), setup)

    def interrupted(_image):
        raise KeyboardInterrupt

    monkeypatch.setattr(device._narrator, "narrate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.run(PROGRAM)
    device.close()
    assert not os.listdir(tmp_path)


def test_commands_of_the_ring_are_shown_too(whole, tmp_path, setup):
    request = WaveRequest(path=tmp_path / "out.vcd")
    with VerilatorWaveDevice(request, setup) as device:
        device.run(PROGRAM, issue="ring")
    check_lines(Waves(request.path), PROGRAM)


def test_fst(whole, tmp_path, setup):
    if message := absence("fst"):
        pytest.skip(message)
    request = record(tmp_path / "out.fst", setup)
    assert is_whole(request.path)
    assert sorted(os.listdir(tmp_path)) == ["out.fst", "out.gtkw", "out.sucl"]
    program = shutil.which("fst2vcd")
    if not program:
        pytest.skip("fst2vcd, of the Debian package gtkwave, is not on PATH")
    subprocess.run([program, "-f", request.path, "-o", tmp_path / "back.vcd"], check=True)
    back = Waves(tmp_path / "back.vcd")
    check_lines(back, PROGRAM)
    check_views(request, back)
    for line in ("command", "load", "execute_next", "store", "array"):
        name = f"celosia_axi.wave.{line}"
        assert back.text(name) == Waves(whole.path).text(name)


def test_fst_of_amaranths_simulator(tmp_path, setup):
    if message := absence("vcd2fst"):
        pytest.skip(message)
    request = record(tmp_path / "out.fst", setup, AmaranthWaveDevice)
    assert is_whole(request.path)
    assert sorted(os.listdir(tmp_path)) == ["out.fst", "out.gtkw", "out.sucl"]
