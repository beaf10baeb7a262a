"""`celosia c-host build` from outside."""

import os
from pathlib import Path

from celosia.isa.presets import resolve_config
from celosia.sim.c_host.build import choose_presets
from celosia.sim.c_host.constants import presets_header
from celosia.sim.c_host.gemmini_headers import gemmini_headers
from tests.support.command_line import refused, right

BUILD = ("c-host", "build")


def test_it_writes_headers_and_a_library():
    done = right(*BUILD, "--presets", "tiny", "--out", "host")
    files = [path.relative_to("host").as_posix() for path in map(Path, done.stdout.split())]
    assert files[:2] == ["include/celosia.h", "lib/libcelosia.so"]
    found = [str(Path(where, name)) for where, _, names in os.walk("host") for name in names]
    assert sorted(found) == sorted(done.stdout.split())
    config = resolve_config("tiny")
    text = Path("host/include/gemmini/tiny/include/gemmini_params.h").read_text()
    assert f"#define DIM {config.dim}\n" in text
    assert f"#define ACC_ROWS {config.accumulator_rows}\n" in text
    assert "HAS_FIRST_LAYER_OPTIMIZATIONS" not in text


def test_a_file_is_a_preset_too():
    Path("mine.toml").write_text('preset = "gemmini4"\naccumulator_kib = 16\n')
    presets = choose_presets("tiny,mine.toml")
    assert list(presets) == ["tiny", "mine"]
    assert '{"tiny", 4, 16, 8, ' in (header := presets_header(presets))
    assert '{"mine", 4, 16, 16, ' in header
    text = gemmini_headers(presets["mine"])[Path("include", "gemmini_params.h")]
    assert "#define ACC_ROWS 1024\n#define" in text
    assert "#define HAS_FIRST_LAYER_OPTIMIZATIONS\n" in text


def test_bad_input_is_refused():
    refused("there is no preset 'tony'", *BUILD, "--presets", "tiny,tony", "--out", "host")
    refused("tiny is there twice", *BUILD, "--presets", "tiny,tiny", "--out", "host")
    refused("there is no preset ''", *BUILD, "--presets", "", "--out", "host")
    refused("Missing option '--out'", *BUILD)
    refused(
        "--functional-only: the library runs the RTL", *BUILD, "--functional-only", "--out", "h"
    )
    Path("file").write_text("")
    refused("--out file: is not a directory", *BUILD, "--presets", "tiny", "--out", "file")
