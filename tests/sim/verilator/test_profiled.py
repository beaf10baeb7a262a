"""Simulators that are compiled again with a profile: when, of what, and what may go wrong."""

import sys

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench import replay
from celosia.lab.bench.speed import save_recording
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.support import cache
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator import build, profiled
from celosia.sim.verilator.build import MODEL_TOP, model_library
from celosia.sim.verilator.profiled import (
    PAYS,
    PROFILED_VARIABLE,
    Profiled,
    build_profiled,
    profiled_wish,
)
from celosia.sim.verilator.verilog import to_verilog
from tests.support.stub_top import StubTop, copy
from tests.support.tool_runs import pretended_tools

TINY = PRESETS["tiny"]
RECORDING = ["record", "-o", "often.gcda"]


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """An empty cache, and a design that is quickly written."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(PROFILED_VARIABLE, raising=False)
    for module in (build, profiled):
        monkeypatch.setattr(
            module, "usual_verilog", lambda config: to_verilog(StubTop(config), MODEL_TOP)
        )
    return tmp_path / "cache"


@pytest.fixture
def ran(monkeypatch):
    """The tools that are run, instead of running them."""
    commands, run = pretended_tools()
    monkeypatch.setattr(build, "run_tools", run)
    monkeypatch.setattr(profiled, "run_tools", run)
    return commands


def made(path, word):
    """The commands in `path` that have this word."""
    return [command for command in path if word in command]


def test_without_a_wish_long_runs_have_a_profile(monkeypatch):
    assert profiled_wish() is Profiled.AUTO
    for value in Profiled:
        monkeypatch.setenv(PROFILED_VARIABLE, value)
        assert profiled_wish() is value


def test_a_wish_that_nobody_knows_is_named(monkeypatch):
    monkeypatch.setenv(PROFILED_VARIABLE, "often")
    with pytest.raises(EnvironmentProblem, match="'often' is none of auto, always, never"):
        profiled_wish()


def test_it_is_compiled_for_the_profile_and_with_it(ran):
    plain = model_library(TINY)
    assert profiled.profiled(plain) is None
    before, told = len(ran), []
    found = build_profiled(TINY, lambda _: RECORDING, lambda text, _: told.append(text))
    # Compile, link, record, compile, link: neither Verilator nor what runs once again.
    assert len(ran) == before + 5
    assert [len(made(ran, word)) for word in ("-fprofile-use", "rare.cpp", "often.gcda")] == [
        1,
        1,
        1,
    ]
    assert len(made(ran, "-fprofile-generate")) == 2
    assert found == profiled.profiled(plain) != plain
    assert f"profile: 1 s, pays after {PAYS:,} cycles" in told[-1]
    assert build_profiled(TINY, lambda _: RECORDING) == found
    assert len(ran) == before + 5


def test_whoever_wants_none_uses_none(ran, monkeypatch):
    build_profiled(TINY, lambda _: RECORDING)
    plain = model_library(TINY)
    assert profiled.profiled(plain)
    monkeypatch.setenv(PROFILED_VARIABLE, "never")
    assert profiled.profiled(plain) is None


def test_a_damaged_one_is_not_used(ran, caplog):
    found = build_profiled(TINY, lambda _: RECORDING)
    assert found
    found.write_text("damage")
    assert profiled.profiled(model_library(TINY)) is None
    assert "is not as it was made" in caplog.text or "bytes" in caplog.text


@pytest.mark.parametrize("damage", [lambda path: path.write_text("PK"), lambda path: path.unlink()])
def test_what_it_is_compiled_from_is_translated_again_if_it_is_lost(ran, store, damage):
    model_library(TINY)
    (kept,) = store.glob("kept/*.zip")
    damage(kept)
    translated = len(made(ran, "--top-module"))
    assert build_profiled(TINY, lambda _: RECORDING)
    assert len(made(ran, "--top-module")) == translated + 1


def test_a_run_that_leaves_no_profile_is_a_problem(ran):
    with pytest.raises(EnvironmentProblem, match="left none"):
        build_profiled(TINY, lambda _: ["record"])
    assert profiled.profiled(model_library(TINY)) is None


def test_other_compilers_make_none(ran, tmp_path, monkeypatch):
    other = tmp_path / "other-compiler"
    other.write_text("#!/bin/sh\necho some compiler 1.0\n")
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    assert build_profiled(TINY, lambda _: RECORDING) is None


@pytest.mark.nightly
def test_it_computes_the_same(tmp_path):
    """Compiled in truth, of a design that copies; the profile is that of the copies."""
    program = [copy(MEMORY_BASE + 64 * i, MEMORY_BASE + 4096 + 64 * i) for i in range(3)]
    plain, timing, size = model_library(TINY), MemoryTiming(), 1 << 16

    def opened(library):
        device = VerilatorDevice(TINY, timing, size, library=library)
        device.write(MEMORY_BASE, bytes(range(256)))
        return device

    def record(library):
        with opened(plain) as device:
            save_recording(tmp_path, device, program, timing)
        return [sys.executable, replay.__file__, str(library), str(tmp_path), "0", "2000"]

    def run(library):
        with opened(library) as device:
            return device.run(program).cycles, device.read(MEMORY_BASE, size)

    found = build_profiled(TINY, record)
    assert found
    assert run(found) == run(plain)
