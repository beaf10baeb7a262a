"""Files that appear whole or not at all."""

import errno
import io
import os
import stat
import threading

import numpy as np
import pytest

from celosia.sim.support.output import (
    check_destination,
    open_atomically,
    read_bytes,
    read_text,
    write_array,
    write_file,
)
from celosia.sim.support.problems import InputError, OutputError


def test_a_file_appears_under_its_name_only_when_it_is_complete(tmp_path):
    path = tmp_path / "report.json"
    with open_atomically(path) as file:
        file.write(b"part")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"part"
    assert os.listdir(tmp_path) == ["report.json"]


def test_what_was_there_before_survives_a_failure(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old")

    def interrupted():
        with open_atomically(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_full_disk_is_a_message_and_leaves_nothing(tmp_path):
    path = tmp_path / "report.json"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    message = r"report\.json: not written: No space left"
    with pytest.raises(OutputError, match=message), open_atomically(path):
        raise full
    assert not os.listdir(tmp_path)


def test_a_full_device_is_a_message():
    with pytest.raises(OutputError, match="/dev/full: not written: No space left on device"):
        write_file("/dev/full", "x")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_device_stays_a_device():
    write_file("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "text")
    reader.join()
    assert received == [b"text"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "usual").write_text("")
    write_file(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_array_is_written_as_numpy_reads_it(tmp_path):
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    write_array(tmp_path / "c.npy", array)
    assert np.array_equal(np.load(tmp_path / "c.npy"), array)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing/file", "there is no directory"),
        (".", "is a directory"),
    ],
)
def test_a_hopeless_destination_is_refused_at_once(tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=message):
        check_destination(path)


def test_a_directory_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # Root may write everywhere.
    with pytest.raises(OutputError, match="may not be written"):
        check_destination(tmp_path / "file")


@pytest.mark.parametrize("path", [None, "-", "/dev/null", "new-file"])
def test_a_possible_destination_passes(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    check_destination(path)
    assert not os.listdir(tmp_path)


def test_what_cannot_be_read_is_a_message(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="binary: not a text file"):
        read_text(tmp_path / "binary", 10)
    with pytest.raises(InputError, match="missing: No such file"):
        read_bytes(tmp_path / "missing", 10)


def test_standard_input_has_a_bound_too(monkeypatch):
    for data in (b"", b"x" * 10):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_bytes("-", 10) == data
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 11)))
    with pytest.raises(InputError, match="standard input: more than the 10 bytes that it may"):
        read_bytes("-", 10)


@pytest.mark.parametrize("name", ["x" * 250, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused_before(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=r"cannot be written: (File name too long|embedded null)"):
        check_destination(name)
    assert not os.listdir()
