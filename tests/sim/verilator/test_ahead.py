"""A simulator that is built while something else is prepared."""

import gc
import multiprocessing
import signal
import time
import warnings

import pytest
from amaranth import Elaboratable, Fragment, Module

from celosia.isa.presets import resolve_config
from celosia.sim.support.cache import CACHE_VARIABLE
from celosia.sim.verilator import ahead
from celosia.sim.verilator.ahead import built_ahead
from celosia.sim.verilator.build import is_built, model_library
from celosia.sim.verilator.build_options import BuildOptions
from celosia.sim.verilator.doctor import absence
from tests.support.exports import SMALLEST

OPTIONS = BuildOptions()

pytestmark = pytest.mark.skipif(absence("verilator") is not None, reason="no Verilator")


_COMPILER = """#!/bin/sh
# Makes each file that it is told to make, of nothing.
for word; do [ "$last" = -o ] && echo "$word" > "$word"; last=$word; done
echo "a compiler"
"""


@pytest.fixture
def config():
    """An accelerator without what takes long to write and to translate."""
    return resolve_config("tiny", [*SMALLEST, "normalization=false", "loop_entries=0"])


@pytest.fixture
def cold(monkeypatch, tmp_path):
    """An empty cache, and a compiler that takes no time: nobody loads what is built."""
    compiler, cache = tmp_path / "c++", tmp_path / "cache"
    compiler.write_text(_COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv(CACHE_VARIABLE, str(cache))
    return cache


def wait_for_the_build(cache):
    deadline = time.monotonic() + 300
    while not [*cache.rglob(".making-*")]:
        assert time.monotonic() < deadline, "the build never began"
        time.sleep(0.02)


def test_who_asks_for_the_simulator_finds_what_was_built_ahead(cold, config):
    with built_ahead(config, OPTIONS):
        assert not is_built(config, OPTIONS)
        wait_for_the_build(cold)
    told = []
    assert model_library(config, OPTIONS, lambda text, _done: told.append(text)).exists()
    # That another process builds it is all that there is to tell: it is not built twice.
    assert told in ([], ["building the simulator: Verilog, Verilator and the C++ compiler"])
    for process in multiprocessing.active_children():
        process.join()
    with built_ahead(config, OPTIONS):
        assert not multiprocessing.active_children(), "what is in the cache is built again"


@pytest.fixture(params=["told", "ignored"])
def interrupts(request):
    """Whether a shell lets interrupts through, as to a command in its foreground."""
    handler = signal.SIG_IGN if request.param == "ignored" else signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_block_that_raises_ends_the_build_and_leaves_nothing_behind(cold, config):
    def block():
        with built_ahead(config, OPTIONS):
            wait_for_the_build(cold)
            raise KeyError

    with pytest.raises(KeyError):
        block()
    assert not multiprocessing.active_children()
    assert not [*cold.rglob(".making-*")]
    assert not is_built(config, OPTIONS)


def test_a_block_that_raises_soon_says_nothing_of_the_build(cold, config, capfd):
    """The process is interrupted while it imports, when it has no handler yet."""

    def fails_soon():
        time.sleep(0.2)
        raise ValueError("soon")

    with pytest.raises(ValueError, match="soon"), built_ahead(config, OPTIONS):
        fails_soon()
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_build_says_nothing_of_parts_without_a_use(monkeypatch, config):
    class Part(Elaboratable):
        def elaborate(self, platform):
            return Module()

    def interrupted(config, options):
        Fragment.get(Part(), None)  # Amaranth warns from the first use on.
        Part()
        raise KeyboardInterrupt

    monkeypatch.setattr(ahead, "model_library", interrupted)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ahead._build(config, OPTIONS)
        gc.collect()  # A part refers to itself.
    assert not told
