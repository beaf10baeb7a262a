"""Waveforms, with a stand-in for the accelerator."""

import os

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.problems import InputError, OutputError
from celosia.sim.progress import silent
from celosia.sim.rtl_device import Setup
from celosia.sim.run import RunOptions, run_workload
from celosia.sim.wave import WaveDevice
from celosia.sim.workloads import WorkloadOptions
from celosia.sw.driver.device import MEMORY_BASE, DeviceError, MemoryTiming
from tests.support import stub_top
from tests.support.stub_top import Command, StubTop, copy

TINY = PRESETS["tiny"]
TIMING = MemoryTiming(latency=10)


SETUP = Setup(TINY, TIMING, 1 << 16, silent)


def make(path):
    return WaveDevice(path, SETUP, StubTop(TINY, memory_seed=0))


def test_every_signal_of_a_run_is_in_the_file(tmp_path):
    path = tmp_path / "out.vcd"
    device = make(path)
    result = device.run([copy(MEMORY_BASE, MEMORY_BASE + 4096)])
    assert not path.exists()
    device.close()
    text = path.read_text()
    assert os.listdir(tmp_path) == ["out.vcd"]
    assert "cmd_valid" in text
    assert result.cycles is not None
    last = max(int(line[1:]) for line in text.splitlines() if line.startswith("#"))
    assert last >= result.cycles * 10**9  # Femtoseconds, 1 us for each cycle.


def test_a_run_that_stops_has_a_waveform(tmp_path):
    device = make(tmp_path / "out.vcd")
    with pytest.raises(DeviceError):
        device.run([Command(stub_top.FAIL, 0x1234)])
    device.close()
    assert os.listdir(tmp_path) == ["out.vcd"]


def test_a_run_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    device = make(tmp_path / "out.vcd")

    def interrupted(_edges):
        raise KeyboardInterrupt

    monkeypatch.setattr(device, "_advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.run([copy(MEMORY_BASE, MEMORY_BASE + 4096)])
    device.close()
    assert not os.listdir(tmp_path)


def test_an_accelerator_that_cannot_start_leaves_nothing(tmp_path, monkeypatch):
    def broken(_device):
        raise NotImplementedError

    monkeypatch.setattr(WaveDevice, "_reset", broken)
    with pytest.raises(NotImplementedError):
        make(tmp_path / "out.vcd")
    assert not os.listdir(tmp_path)


def test_a_full_disk_is_a_message():
    device = make("/dev/full")
    with pytest.raises(OutputError, match="/dev/full: not written: No space left"):
        device.close()


@pytest.mark.parametrize(
    ("simulator", "name", "message"),
    [
        ("functional", "out.vcd", "only --sim amaranth writes waveforms, not functional"),
        ("verilator", "out.vcd", "only --sim amaranth writes waveforms, not verilator"),
        ("amaranth", "out.fst", r"waveforms are \.vcd files"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, simulator, name, message):
    options = RunOptions(
        workload="matmul",
        simulator=simulator,
        preset="tiny",
        details=WorkloadOptions(shape="4x4x4"),
        wave=tmp_path / name,
    )
    with pytest.raises(InputError, match=message):
        run_workload(options)
