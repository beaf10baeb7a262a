"""What `celosia.h` promises, from C, C++ and Python, and how failures end."""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.c_host.build import build_c_host
from tests.support.c_host import CHost, c_host

HEADER = Path(__file__).parents[3] / "sim" / "c_host" / "library" / "celosia.h"

MOVE = """
#include <celosia.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  static const int8_t constant[16] = {1};
  int8_t data[3][16] = {{0}};
  uint64_t in = (uint64_t)(uintptr_t)data[1], out = in, start;
  (void)constant, (void)start, (void)out;
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(4, 0), 4);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(0), celosia_store(4, 1));
  %s
  celosia_fence();
  return 0;
}
"""
LOAD = "celosia_cmd(CELOSIA_MVIN, in, celosia_tile(0, 4, 2));"
STORE = "celosia_cmd(CELOSIA_MVOUT, out, celosia_tile(0, 4, 2));"


def run(tmp_path, body, **environment):
    source = tmp_path / "program.c"
    source.write_text(MOVE % body)
    program = c_host().compile(source, tmp_path / "program", "-D_GNU_SOURCE")
    return c_host().run(program, **environment)


def test_the_header_is_short_and_every_function_is_explained():
    lines = HEADER.read_text().splitlines()
    assert len(lines) < 200
    functions = [
        number
        for number, line in enumerate(lines)
        if line.split("(")[0].split()[-1:]
        and line.startswith(("uint64_t celosia_", "void celosia_", "int celosia_", "static"))
    ]
    assert len(functions) == 11
    for number in functions:
        assert "*/" in lines[number - 1], lines[number]


@pytest.mark.parametrize("language", ["c99", "c17", "c++11", "c++20"])
def test_the_header_is_c_and_cplusplus(language, tmp_path):
    source = tmp_path / "program.c"
    source.write_text(MOVE % (LOAD + STORE))
    program = c_host().compile(source, tmp_path / "program", "-D_GNU_SOURCE", language=language)
    assert c_host().run(program).returncode == 0


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("in = 0x123450000;" + LOAD, "command 2: mvin dram=0x123450000 local=sp[0]"),
        ("out = 0x40;" + LOAD + STORE, "command 3: mvout dram=0x40 local=sp[0]"),
        ("out = (uint64_t)(uintptr_t)constant;" + LOAD + STORE, "command 3: mvout dram="),
        (
            "char *page = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
            "munmap(page + 4096, 4096); in = (uint64_t)(uintptr_t)page + 4096 - 6;" + LOAD,
            "command 2: mvin dram=",
        ),
    ],
    ids=["nowhere", "page zero", "constants", "behind a page"],
)
def test_a_wild_address_names_its_command(body, command, tmp_path):
    done = run(tmp_path, body)
    assert done.returncode == 1
    assert "the process has no such memory" in done.stderr
    assert command in done.stderr
    assert "the last commands:\n" in done.stderr


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("celosia_cmd(99, 1, 2);", "UNKNOWN_FUNCT: no instruction has this funct"),
        ("celosia_cmd(CELOSIA_CONFIG, 1 << 3 | 3 << 3 | 1, 4);", "UNSUPPORTED"),
        ("celosia_cmd(CELOSIA_MVIN, in, celosia_tile(1 << 20, 4, 2));", "LOCAL_RANGE"),
        ("celosia_cmd(CELOSIA_MVIN, in, celosia_tile(0, 400, 2));", "SHAPE"),
    ],
)
def test_a_broken_rule_names_its_command(body, what, tmp_path):
    done = run(tmp_path, LOAD + body + "celosia_fence();" + STORE)
    assert done.returncode == 1
    assert what in done.stderr
    assert "\n  command 3: " in done.stderr
    assert "\n         2: mvin dram=" in done.stderr


def test_a_failure_at_the_end_of_the_process_is_one(tmp_path):
    done = run(tmp_path, "in = 64;" + LOAD + STORE + "return 0;")
    assert done.returncode == 1
    assert "command 2: mvin dram=0x40" in done.stderr
    assert "\n  store: 1 queued, the first one waits for load\n" in done.stderr


def test_only_named_bytes_are_written(tmp_path):
    body = (
        "for (int i = 0; i < 48; i++) data[0][i] = (int8_t)(i + 1);\n" + LOAD +
        "out += 21;" "celosia_cmd(CELOSIA_MVOUT, out, celosia_tile(0, 3, 2)); celosia_fence();"
        "for (int i = 0; i < 48; i++) { int at = i - 16 - 21;"
        "  int moved = (at >= 0 && at < 3) || (at >= 4 && at < 7);"
        "  if (data[0][i] != (moved ? at + 17 : i + 1)) return 3; }"
    )  # fmt: skip
    assert run(tmp_path, body.replace("data[0][", "(&data[0][0])[")).returncode == 0


def test_time_passes_while_commands_are_handed_over(tmp_path):
    body = (
        LOAD + "start = celosia_cycles(); if (!start) return 3;" + LOAD +
        "if (celosia_cycles() != start + 1) return 4;"
        "celosia_fence(); if (celosia_cycles() < start + 40) return 5;"
        "start = celosia_cycles(); celosia_fence(); if (celosia_cycles() != start) return 6;"
    )  # fmt: skip
    done = run(tmp_path, body)
    assert done.returncode == 0, done.stderr


def test_counters_are_live(tmp_path):
    """Configure 0 to count cycles of reading, and 7 for the queue of loads."""
    body = (
        "uint64_t reading = 8 | 18 << 12, queue = 8 | 7 << 4 | 1 << 12 | 0x80000000ull, now;"
        "if (celosia_cmd(CELOSIA_COUNTER, reading, 0)) return 3;"
        + 8 * LOAD +
        "if (celosia_cmd(CELOSIA_COUNTER, queue, 0) < 3) return 4;"
        "now = celosia_cmd(CELOSIA_COUNTER, 4, 0); if (!now) return 5;" + LOAD +
        "celosia_fence(); if (celosia_cmd(CELOSIA_COUNTER, 0, 0) != now) return 6;"
        "if (celosia_cmd(CELOSIA_COUNTER, 2, 0) < now + 10) return 7;"
        "if (celosia_cmd(CELOSIA_COUNTER, 1, 0)) return 8;"
        "if (celosia_cmd(CELOSIA_COUNTER, 7 << 4, 0)) return 9;"
    )  # fmt: skip
    done = run(tmp_path, body)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("event", "counters"), [(18, 0), (42, 1), (24, 3), (9, 10)])
def test_a_counter_is_read_in_time(event, counters, tmp_path):
    """16 cycles while something runs, or four for each of the accelerator's counters."""
    body = (
        f"uint64_t counted = 8 | (uint64_t){event} << 12;"
        "celosia_cmd(CELOSIA_COUNTER, counted, 0); celosia_fence();" + LOAD +
        "start = celosia_cycles(); celosia_cmd(CELOSIA_COUNTER, 0, 0);"
        f"if (celosia_cycles() - start != {max(16, 4 * counters)}) return 3;"
    )  # fmt: skip
    done = run(tmp_path, body)
    assert done.returncode == 0, done.stderr


def test_statistics_are_written_at_the_end(tmp_path):
    path = tmp_path / "statistics.json"
    done = run(tmp_path, LOAD + STORE, CELOSIA_JSON=str(path))
    assert done.returncode == 0
    found = json.loads(path.read_text())
    assert (found["simulator"], found["preset"], found["commands"]) == ("verilator", "tiny", 4)
    counters = found["counters"]
    assert (counters["commands"], counters["read_bytes"], counters["write_bytes"]) == (4, 8, 8)
    assert 40 < counters["cycles"] <= found["cycles"]


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"CELOSIA_PRESET": "tony"}, "preset tony: this library was built with tiny"),
        ({"CELOSIA_SIM": "functional"}, "simulator functional: there is only verilator"),
        ({"CELOSIA_SIM": "spike"}, "simulator spike: there is only verilator"),
        ({"CELOSIA_WAVE": "w.vcd"}, "no such model: celosia c-host build makes it with --wave"),
        ({"CELOSIA_JSON": "/nowhere/x"}, "CELOSIA_JSON: /nowhere/x: No such file"),
    ],
)
def test_a_wrong_environment_is_explained(environment, message, tmp_path):
    done = run(tmp_path, LOAD, **environment)
    assert done.returncode == 1
    assert message in done.stderr


PYTHON = """
import ctypes, sys
celosia = ctypes.CDLL(sys.argv[1])
celosia.celosia_cmd.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64]
celosia.celosia_cmd.restype = celosia.celosia_cycles.restype = ctypes.c_uint64
assert celosia.celosia_cycles() == 0
assert celosia.celosia_open(sys.argv[2].encode(), None) == 0
assert celosia.celosia_open(None, None) == 1
data = (ctypes.c_int8 * 32)(*range(16))
tile = 4 << 48 | 4 << 32
celosia.celosia_cmd(0, 0x3F800000 << 32 | 4 << 16 | 1, 4)
celosia.celosia_cmd(0, 2, 0x3F800000 << 32 | 4)
celosia.celosia_cmd(2, ctypes.addressof(data), tile)
celosia.celosia_cmd(3, ctypes.addressof(data) + 16, tile)
celosia.celosia_fence()
assert list(data) == [*range(16), *range(16)]
assert celosia.celosia_cycles() > 3
celosia.celosia_close()
celosia.celosia_close()
assert celosia.celosia_cycles() == 0
assert celosia.celosia_open(sys.argv[2].encode(), b"tiny") == 0
"""


def test_python_calls_the_same_functions():
    words = [sys.executable, "-c", PYTHON, str(c_host().library), "verilator"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "is open already" in done.stderr


def test_the_library_exports_what_the_header_declares():
    library = ctypes.CDLL(str(c_host().library))
    for name in ("cmd", "fence", "cycles", "open", "close"):
        assert hasattr(library, f"celosia_{name}")
    assert not hasattr(library, "_ZN7celosia14format_commandB5cxx11ERKNS_7CommandE")


@pytest.mark.slow
def test_a_program_of_gemmini_runs_with_its_headers(tmp_path):
    host = c_host("gemmini4")
    source = Path(__file__).parent / "os_product.c"
    options = ("-ffast-math", "-Wno-pedantic", "-Wno-unused-value")
    program = host.compile(source, tmp_path / "program", *options, language="gnu99")
    done = host.run(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 wrong, counter 0")


@pytest.mark.nightly
def test_a_waveform_shows_signals_and_commands(tmp_path):
    """The model is built anew, which takes a minute."""
    host = CHost(tmp_path / "host", "tiny")
    build_c_host(host.root, {"tiny": resolve_config("tiny")}, wave=True)
    source = tmp_path / "program.c"
    source.write_text(MOVE % (LOAD + STORE))
    program = host.compile(source, tmp_path / "program", "-D_GNU_SOURCE")
    path = tmp_path / "wave.vcd"
    done = host.run(program, CELOSIA_WAVE=str(path))
    assert (done.returncode, done.stderr) == (0, "")
    text = path.read_text()
    (bits, code), *_ = re.findall(r"\$var wire +(\d+) (\S+) command \[959:0\]", text)
    values = re.findall(rf"^b([01]+) {re.escape(code)}$", text, re.MULTILINE)
    lines = [int(v, 2).to_bytes(int(bits) // 8, "big").strip(b"\0").decode() for v in values]
    assert [line.split()[0] for line in lines[-4:]] == ["config_ld", "config_st", "mvin", "mvout"]
    done = host.run(program, CELOSIA_WAVE="/nowhere/wave.vcd")
    assert done.returncode == 1
    assert "/nowhere/wave.vcd: cannot be written" in done.stderr
