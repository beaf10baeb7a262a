"""Long commands that are interrupted: exit code 130; no process is left, nor half a file."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import MATMUL
from tests.support.interruptible import interruptible

FUZZ = ("fuzz", "--seconds", "600", "--jobs", "2")
MUTATE = ("mutate", "lib_delay", "--fresh")
AMARANTH = (*MATMUL[:-1], "amaranth", "--shape", "64x64x64", "--json", "r.json", "--out", "c.npy")


def below(place: Path) -> list[str]:
    """Processes that work in `place`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            here = (process / "cwd").readlink().is_relative_to(place)
            if here and process.name != str(os.getpid()):
                found.append(process.name)
        except OSError:
            continue
    return found


def interrupt(words: tuple[str, ...], when: Callable[[], object]) -> None:
    """Start a command in this folder, and interrupt it some time after `when` is true."""
    place = Path.cwd()
    process = subprocess.Popen(
        interruptible(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"TMPDIR": str(place)},
    )
    while not when():
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert not below(place)


@pytest.mark.nightly
def test_a_fuzzing_campaign_keeps_what_it_knows():
    state = Path(".celosia-fuzz.json")
    interrupt(FUZZ, state.exists)
    assert os.listdir() == [state.name]


@pytest.mark.nightly
def test_a_campaign_of_planted_faults_leaves_no_copy():
    interrupt(MUTATE, lambda: [*Path().glob("celosia-mutate-*/celosia/hw/lib")])
    assert os.listdir() == []


@pytest.mark.nightly
def test_a_simulation_writes_nothing():
    started = time.monotonic()
    interrupt(AMARANTH, lambda: time.monotonic() > started + 20)
    assert os.listdir() == []


@pytest.mark.nightly
def test_two_simulations_at_once_fill_a_cold_cache(monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(Path("cache").absolute()))
    words = (*MATMUL[:-1], "verilator", "--shape", "5x6x7", "--json")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "celosia.sim.cli", *words, f"{number}.json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(2)
    ]
    for number, process in enumerate(processes):
        said, _ = process.communicate(timeout=900)
        assert process.returncode == 0, said
        assert Path(f"{number}.json").is_file()
    assert len([*Path("cache/models").glob("*.so")]) == 1
    assert not [*Path("cache").rglob(".making-*")]
