"""`celosia board` as a user calls it."""

import sys

import pytest

from tests.support.command_line import invoke, refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("/dev/nosuch", "run", "matmul", "--shape", "4x4x4"), "cannot be opened as a serial port"),
        (("/dev/ttyUSB0",), "board /dev/ttyUSB0: what shall it do? run WORKLOAD"),
        (("--simulate", "/dev/ttyUSB0"), "--simulate: makes a port, and takes none"),
        (("--baud", "9600"), "board: which PORT?"),
        (("--preset", "base", "/dev/x", "run", "matmul"), "--preset base: stands behind run"),
        (("--set", "dim=8", "/dev/x", "run", "matmul"), "--set dim=8: stands behind run"),
        (("/dev/nosuch", "run", "matmul", "--preset", "huge"), "there is no preset 'huge'"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    refused(message, "board", *words)


def test_no_words():
    assert "/dev/ttyUSB0" in invoke("board").output


def test_without_pyserial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "celosia.sim.board.link", raising=False)
    monkeypatch.setitem(sys.modules, "serial", None)
    refused("pip install -e '.[board]'", "board", "/dev/x", "run", "matmul", "--shape", "4x4x4")
