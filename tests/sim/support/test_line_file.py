"""Files of JSON lines: one writer, whole lines, messages."""

import os

import pytest

from celosia.sim.support.line_file import append_line, open_lines_of
from celosia.sim.support.problems import OutputError


def test_lines_are_added_behind_what_is_there(tmp_path):
    path = tmp_path / "lines"
    for number in range(2):
        with open_lines_of(path, "held") as file:
            assert file.read().count(b"\n") == number
            append_line(file, {"number": number})
    assert path.read_text() == '{"number": 0}\n{"number": 1}\n'


def test_one_process_at_a_time(tmp_path):
    path = tmp_path / "lines"
    with (
        open_lines_of(path, "held"),
        pytest.raises(OutputError, match="held"),
        open_lines_of(path, "held"),
    ):
        pass


def test_what_cannot_be_written(tmp_path, monkeypatch):
    with (
        pytest.raises(OutputError, match="cannot be written: Is a directory"),
        open_lines_of(tmp_path, "held"),
    ):
        pass
    with open_lines_of(tmp_path / "lines", "held") as file:
        monkeypatch.setattr(os, "write", lambda *_: 1)
        with pytest.raises(OutputError, match="lines: the disk is full"):
            append_line(file, {})
        with pytest.raises(ValueError, match="not JSON compliant"):
            append_line(file, {"x": float("nan")})
