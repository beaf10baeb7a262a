"""Which device a run opens, by its simulator and by what is to be written or kept."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.run import opening
from celosia.sim.run.opening import (
    build_faster,
    is_long,
    open_for,
    prepare_run,
    watching_opener,
)
from celosia.sim.run.options.options import Target, Watching
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.verilator.profiled import PAYS, PROFILED_VARIABLE
from celosia.sim.wave.request import WaveRequest

TINY, TIMING = PRESETS["tiny"], MemoryTiming(seed=3)
WAVE = WaveRequest(path=Path("x.vcd"))


@pytest.fixture
def made(monkeypatch):
    """Devices of any module and class are their names and arguments."""

    class Module:
        def __init__(self, name):
            self.name = name

        def __getattr__(self, kind):
            return lambda *given: (self.name, kind, *given)

    monkeypatch.setattr(opening, "import_module", Module)


def opened(simulator, watching) -> Any:
    target = Target(simulator=simulator, preset="tiny")
    opener = watching_opener(target, watching, open_device)
    return opener(simulator, TINY, TIMING, 4096, progress=silent)


@pytest.mark.parametrize(
    ("simulator", "watching", "module", "kind"),
    [
        ("amaranth", Watching(log=True), "profile.recorders.amaranth_logger", "AmaranthLogDevice"),
        ("verilator", Watching(log=True), "profile.recorders.logger", "VerilatorLogDevice"),
        ("amaranth", Watching(wave=WAVE), "wave.amaranth", "AmaranthWaveDevice"),
        ("verilator", Watching(wave=WAVE), "wave.verilated", "VerilatorWaveDevice"),
    ],
)
def test_devices_that_write_or_keep_what_is_asked_for(simulator, watching, module, kind, made):
    found, name, *request, setup = opened(simulator, watching)
    assert (found, name) == (f"celosia.sim.{module}", kind)
    assert request == ([WAVE] if watching.wave else [])
    assert setup == Setup(TINY, TIMING, 4096, silent)


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("profile.recorders.amaranth_logger", "AmaranthLogDevice"),
        ("profile.recorders.logger", "VerilatorLogDevice"),
        ("wave.amaranth", "AmaranthWaveDevice"),
        ("wave.verilated", "VerilatorWaveDevice"),
    ],
)
def test_what_is_loaded_by_name_is_there(module, kind):
    assert isinstance(getattr(import_module(f"celosia.sim.{module}"), kind), type)


def test_without_a_wish_the_opener_is_the_given_one():
    target = Target(simulator="functional")
    assert watching_opener(target, Watching(), open_device) is open_device


def test_what_a_simulator_cannot_write_is_refused():
    with pytest.raises(InputError, match="--report, --trace, --profile: functional has no clock"):
        opened("functional", Watching(log=True))
    with pytest.raises(InputError, match="--wave: not together with --report"):
        opened("verilator", Watching(log=True, wave=WAVE))


def test_a_device_is_opened_with_its_limit():
    limits, given = [], []

    def opener(name, config, timing, memory_bytes, *, progress) -> Any:
        given.append((name, config, timing, memory_bytes, progress))
        return SimpleNamespace(limit_cycles=limits.append)

    target = Target(simulator="amaranth", preset="base", timing=TIMING, cycle_budget=77)
    open_for(opener, target, TINY, 1 << 20, silent)
    assert limits == [77]
    assert given == [("amaranth", TINY, TIMING, 1 << 20, silent)]


def test_what_cannot_be_opened_is_bad_input():
    target = Target(simulator="none")
    with pytest.raises(InputError, match="simulator: there is no 'none'; there are functional"):
        open_for(open_device, target, TINY, 1 << 20, silent)


@pytest.mark.parametrize(
    ("wish", "cycles", "long"),
    [
        ("", PAYS - 1, False),
        ("", PAYS, True),
        ("auto", PAYS, True),
        ("always", 0, True),
        ("never", 10 * PAYS, False),
    ],
)
def test_a_long_run_is_worth_a_profile_unless_somebody_says_otherwise(
    wish, cycles, long, monkeypatch
):
    monkeypatch.setenv(PROFILED_VARIABLE, wish)
    assert is_long(cycles) is long


def test_only_simulators_of_the_usual_devices_are_made_faster(monkeypatch):
    made = []
    monkeypatch.setattr(opening, "build_faster", lambda config, tell: made.append(config))
    monkeypatch.setenv(PROFILED_VARIABLE, "auto")

    def other(*_, **__) -> Any:
        """No device of anybody's."""

    for simulator, opener, cycles in (
        ("functional", open_device, PAYS),
        ("amaranth", open_device, PAYS),
        ("verilator", other, PAYS),
        ("verilator", open_device, PAYS - 1),
    ):
        prepare_run(Target(simulator=simulator, preset="tiny"), opener, cycles, silent)
    assert made == []
    prepare_run(Target(preset="tiny"), open_device, PAYS, silent)
    assert made == [TINY]


def test_the_profile_is_of_a_run_of_the_same_configuration(monkeypatch):
    commands = []
    monkeypatch.setattr(opening, "model_library", lambda config, progress: Path("plain.so"))
    monkeypatch.setattr(
        opening,
        "build_profiled",
        lambda config, record, tell: commands.append(record(Path("x.so"))),
    )
    build_faster(TINY, silent)
    ((python, option, module, library, *values),) = commands
    assert (python, option, library) == (sys.executable, "-m", "x.so")
    assert hasattr(import_module(module), "standard_run")
    assert resolve_config("base", values) == TINY


def test_a_run_goes_on_without_a_profile(monkeypatch, caplog):
    def broken(*_):
        raise EnvironmentProblem("g++ ended with exit code 1")

    monkeypatch.setattr(opening, "model_library", lambda config, progress: Path("plain.so"))
    monkeypatch.setattr(opening, "build_profiled", broken)
    build_faster(TINY, silent)
    (line,) = caplog.messages
    assert "g++ ended with exit code 1" in line
    assert f"{PROFILED_VARIABLE}=never" in line
