"""`celosia c-host build` from outside."""

import os
from pathlib import Path

from celosia.isa.presets import resolve_config
from tests.support.command_line import refused, right

BUILD = ("c-host", "build", "--functional-only")


def test_it_writes_headers_and_a_library():
    done = right(*BUILD, "--presets", "tiny,small", "--out", "host")
    files = [path.relative_to("host").as_posix() for path in map(Path, done.stdout.split())]
    assert files[:2] == ["include/celosia.h", "lib/libcelosia.so"]
    found = [str(Path(where, name)) for where, _, names in os.walk("host") for name in names]
    assert sorted(found) == sorted(done.stdout.split())
    for preset in ("tiny", "small"):
        config = resolve_config(preset)
        text = Path(f"host/include/gemmini/{preset}/include/gemmini_params.h").read_text()
        assert f"#define DIM {config.dim}\n" in text
        assert f"#define ACC_ROWS {config.accumulator_rows}\n" in text
    assert "#define celosia" not in text
    right(*BUILD, "--presets", "tiny,small", "--out", "host")


def test_a_file_is_a_preset_too():
    Path("mine.toml").write_text('preset = "tiny"\naccumulator_kib = 16\n')
    right(*BUILD, "--presets", "mine.toml", "--out", "host")
    text = Path("host/include/gemmini/mine/include/gemmini_params.h").read_text()
    assert "#define ACC_ROWS 1024\n" in text


def test_bad_input_is_refused():
    refused("there is no preset 'tony'", *BUILD, "--presets", "tiny,tony", "--out", "host")
    refused("tiny is there twice", *BUILD, "--presets", "tiny,tiny", "--out", "host")
    refused("there is no preset ''", *BUILD, "--presets", "", "--out", "host")
    refused("Missing option '--out'", *BUILD)
    refused("--wave: with --functional-only", *BUILD, "--wave", "--out", "host")
    Path("file").write_text("")
    refused("file/include: Not a directory", *BUILD, "--presets", "tiny", "--out", "file")
