"""Files that are cut short or damaged: a message and exit code 2, or a run; never a traceback."""

import io
import os
import random
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.encoding import pack_ring
from celosia.sw.driver.program_file import parse_program
from tests.support.command_line import FAST, MATMUL, PROGRAM, invoke
from tests.sw.frontend.importer.models import small_model

TOML = 'preset = "tiny"\nscratchpad_kib = 32\nnormalization = false\n'
PATCH = "Fault: f\n--- a/hw/a.py\n+++ b/hw/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones((3, 4), np.int8))
    return file.getvalue()


FILES = {
    "p.cel": (PROGRAM.encode(), ("run", "p.cel", "--sim", "functional")),
    "p.s": (b"".join(PROGRAM.encode().splitlines(True)[4:]), ("asm", "p.s", "-o", os.devnull)),
    "r.bin": (pack_ring(parse_program(PROGRAM).commands), ("disasm", "r.bin")),
    "c.toml": (TOML.encode(), ("config", "show", "c.toml")),
    "a.npy": (_npy(), (*MATMUL, "--a", "a.npy", "--b", "b.npy")),
    "f.patch": (PATCH.encode(), ("mutate", "--patch", "f.patch")),
    "m.onnx": (small_model(), ("check", "m.onnx")),
    "m.safetensors": (
        b"\x20\0\0\0\0\0\0\0" + b'{"a":{"dtype":"I8","shape":[1]}}',
        ("run", "encoder", *FAST, "--model", "m.safetensors"),
    ),
}


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Cut short, or with bytes that are wrong, missing, or too many."""
    way, place = rng.randrange(5), rng.randrange(len(data))
    if way == 0:
        return data[:place]
    if way == 1:
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if way == 2:
        return data[:place] + data[place + rng.randrange(1, 9) :]
    if way == 3:
        return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
    return data[:place] + b"9" * rng.choice((4, 30, 5000)) + data[place:]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_a_message(name):
    data, words = FILES[name]
    np.save("b.npy", np.ones((4, 5), np.int8))
    for seed in range(12):
        Path(name).write_bytes(damaged(data, random.Random(f"{name} {seed}")))
        before = sorted(os.listdir())
        result = invoke(*words)
        assert result.exit_code in {0, 1, 2}, (seed, result.output)
        assert result.exception is None or isinstance(result.exception, SystemExit), seed
        assert "Traceback" not in result.output
        if result.exit_code == 2:
            assert result.stderr
            assert sorted(os.listdir()) == before


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_regular_file_or_too_large_is_a_message(name):
    _, words = FILES[name]
    np.save("b.npy", np.ones((4, 5), np.int8))
    os.mkfifo(name)
    assert_refused(words, f"{name}: is a pipe, not a regular file")
    os.unlink(name)
    os.symlink("/dev/zero", name)
    assert_refused(words, f"{name}: is a device, not a regular file")
    os.unlink(name)
    Path(name).write_bytes(FILES[name][0])
    os.truncate(name, 10 << 30)
    assert_refused(words, f"{name}: 10,737,418,240 bytes are more than the ")


def assert_refused(words, message):
    result = invoke(*words)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


def test_a_shape_with_a_truth_value_is_a_message():
    header = str({"descr": "|i1", "fortran_order": False, "shape": (True, 4)}).encode()
    text = header + b" " * (64 - (len(header) + 11) % 64) + b"\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + b"1234")
    np.save("b.npy", np.ones((4, 5), np.int8))
    assert_refused(FILES["a.npy"][1], "--a a.npy: shape (True, 4): every size must be a whole")


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_or_a_folder_is_a_message(name):
    _, words = FILES[name]
    np.save("b.npy", np.ones((4, 5), np.int8))
    Path(name).mkdir()
    assert invoke(*words).exit_code == 2
    Path(name).rmdir()
    Path(name).write_bytes(b"")
    assert invoke(*words).exit_code in {0, 2}
