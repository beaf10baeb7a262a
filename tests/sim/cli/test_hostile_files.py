"""Files that are cut short or damaged: a message and exit code 2, or a run; never a traceback."""

import os
from pathlib import Path

import numpy as np
import pytest

from celosia.lab.fuzz.files.attempt import attempt
from celosia.lab.fuzz.files.kinds import KINDS, kinds
from tests.support.command_line import invoke

READ = [name for name in kinds() if not KINDS[name].cache_folder]
PLAIN = [name for name in READ if "report" not in name and name not in {"energies", "plan"}]


@pytest.mark.parametrize("name", READ)
def test_a_damaged_file_is_a_message(name):
    assert [tried.why for seed in range(12) if (tried := attempt(seed, (name,))).why] == []


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_regular_file_or_too_large_is_a_message(name):
    file, words = KINDS[name].file, KINDS[name].words
    files = KINDS[name].make()
    for other in files.keys() - {file}:
        Path(other).write_bytes(files[other])
    os.mkfifo(file)
    assert_refused(words, f"{file}: is a pipe, not a regular file")
    os.unlink(file)
    os.symlink("/dev/zero", file)
    assert_refused(words, f"{file}: is a device, not a regular file")
    os.unlink(file)
    Path(file).write_bytes(files[file])
    os.truncate(file, 10 << 30)
    assert_refused(words, f"{file}: 10,737,418,240 bytes are more than the ")


def assert_refused(words, message):
    result = invoke(*words)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


def test_a_shape_with_a_truth_value_is_a_message():
    header = str({"descr": "|i1", "fortran_order": False, "shape": (True, 4)}).encode()
    text = header + b" " * (64 - (len(header) + 11) % 64) + b"\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + b"1234")
    np.save("b.npy", np.ones((4, 5), np.int8))
    assert_refused(KINDS["array"].words, "--a a.npy: shape (True, 4): every size must be a whole")


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "x.json"),
        ("compare", "x.json", "x.json"),
        ("survey", "--quick", "--out", "out", "--against", "x.json"),
    ],
)
def test_json_that_is_nested_too_deeply_is_a_message_of_our_own(words):
    for depth in (10_000, 970):  # Python reads the second one, and then cannot print it.
        Path("x.json").write_text('{"schema": ' + "[" * depth + "]" * depth + "}")
        assert_refused(words, "x.json: not JSON: it is nested too deeply")


@pytest.mark.parametrize("name", PLAIN)
def test_an_empty_file_or_a_folder_is_a_message(name):
    file, words = Path(KINDS[name].file), KINDS[name].words
    np.save("b.npy", np.ones((4, 5), np.int8))
    file.mkdir()
    assert invoke(*words).exit_code == 2
    file.rmdir()
    file.write_bytes(b"")
    assert invoke(*words).exit_code in {0, 2}
