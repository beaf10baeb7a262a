"""What is no regular file, or too large, is refused before it is read, with its name."""

import errno
import json
import os
import socket
import tracemalloc

import pytest

from celosia.isa.foreign_file import (
    ForeignFileError,
    check_foreign,
    open_foreign,
    parse_json,
    read_foreign,
    read_text,
)


def refuse(path, message, most=100):
    for read in (check_foreign, read_foreign, read_text):
        with pytest.raises(ForeignFileError) as caught:
            read(path, most)
        assert str(caught.value) == f"{path}: {message}"


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_foreign(path, 100) == b"x" * 100
    assert read_text(str(path), 100) == "x" * 100
    refuse(path, "100 bytes are more than the 99 that are permitted", 99)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "is a pipe, not a regular file")
    refuse(tmp_path, "is a directory, not a regular file")
    refuse("/dev/zero", "is a device, not a regular file")
    os.symlink("/dev/zero", tmp_path / "link")
    refuse(tmp_path / "link", "is a device, not a regular file")
    refuse(tmp_path / "missing", "No such file or directory")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        refuse(tmp_path / "s", "No such device or address")


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError(errno.EIO, "Input/output error"), "Input/output error"), (OSError("gone"), "gone")],
)
def test_what_the_system_says_while_a_file_is_read_names_it(tmp_path, error, reason):
    """A disk that fails, say; other errors are whose they are."""
    path = tmp_path / "file"
    path.write_bytes(b"x")
    with pytest.raises(ForeignFileError) as caught, open_foreign(path, 100):
        raise error
    assert str(caught.value) == f"{path}: {reason}"
    with pytest.raises(KeyError, match="other"), open_foreign(path, 100):
        raise KeyError("other")


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(ForeignFileError, match="null byte"):
        read_foreign("a\0b", 100)


def test_a_file_of_other_bytes_is_no_text(tmp_path):
    (tmp_path / "file").write_bytes(b"\xff")
    with pytest.raises(ForeignFileError, match="file: not a text file: 'utf-8'"):
        read_text(tmp_path / "file", 100)


def test_a_sparse_file_is_not_read(tmp_path):
    path = tmp_path / "file"
    path.touch()
    os.truncate(path, 10 << 30)
    tracemalloc.start()
    refuse(path, "10,737,418,240 bytes are more than the 1,000,000 that are permitted", 10**6)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    os.truncate(path, 1 << 42)
    with pytest.raises(ForeignFileError, match="are more than this machine's memory of"):
        read_foreign(path, 1 << 50)


def test_no_file_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    refuse(tmp_path, "is a directory, not a regular file")
    refuse("/dev/zero", "is a device, not a regular file")
    assert len(os.listdir("/proc/self/fd")) == before


def test_json_that_is_nested_too_deeply_is_none():
    assert parse_json('{"a": [1, 2.5]}') == {"a": [1, 2.5]}
    assert parse_json("[1]", parse_int=str) == ["1"]
    deep = ("[" * 101, "[" * 100_000, '{"a":' * 100_000, "[" * 970 + "]" * 970, '["[", ' * 101)
    for text in deep:
        with pytest.raises(ValueError, match=r"^it is nested too deeply: over 100 arrays"):
            parse_json(text)
    assert repr(parse_json("[" * 100 + "]" * 100)) == "[" * 100 + "]" * 100
    flat = ["[" * 200, '\\"' + "{" * 200, *[[]] * 200]
    assert parse_json(json.dumps(flat).encode()) == flat
    with pytest.raises(ValueError, match="Expecting value: line 1"):
        parse_json("x")
