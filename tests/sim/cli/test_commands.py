"""The other commands from outside, and what all have in common."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import celosia.isa
from celosia.lab.bench import command
from celosia.lab.bench.suite import Bench
from celosia.lab.survey.parts.text import COMMITTED
from celosia.sim.command.hardware import verilog_command
from celosia.sim.support.output import write_file
from tests.support.command_line import SMALL, invoke, refused, right, valid
from tests.support.interruptible import interruptible

ROOT = Path(__file__).parents[3]


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
    Path("benchmarks").mkdir()
    shutil.copy(ROOT / COMMITTED, COMMITTED)
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
        def write_verilog(config, top, memories, output):
            write_file(output, f"module celosia_{top}; // {config.dim} {memories}\nendmodule\n")

    monkeypatch.setattr(verilog_command, "import_module", lambda _: Writer)
    text = right("verilog", "--preset", "tiny").stdout
    assert text == "module celosia_core; // 4 inferred\nendmodule\n"
    options = ("--set", "dim=8", "--top", "axi", "--memories", "blackbox")
    right("verilog", *options, "-o", "celosia.v")
    assert Path("celosia.v").read_text() == "module celosia_axi; // 8 blackbox\nendmodule\n"
    Path("other.md").mkdir()
    refused("other.md: is a directory", "verilog", "-o", "other.v")
    refused("Invalid value for '--top'", "verilog", "--top", "chip")
    refused("there is no directory", "verilog", "-o", "missing/celosia.v")
    refused("there is no preset 'huge'", "verilog", "--preset", "huge")
    refused("there is no preset ''", "verilog", "--preset", "")


def test_benchmarks_that_hold_are_exit_code_0(monkeypatch):
    asked = []

    def made_up(names, _tell, _command_line, options):
        asked.append((*names, options.issue))
        return Bench()

    monkeypatch.setattr(command, "run_bench", made_up)
    right("bench")
    right("bench", "products", "--issue", "ring")
    valid(right("bench", "speed", "--json", "-").stdout)
    assert asked == [
        ("stream",),
        ("products", "ring"),
        ("speed", "stream"),
    ]


def test_a_number_below_its_bound_is_exit_code_1(monkeypatch):
    class Slow(Bench):
        @property
        def right(self):
            return False

    monkeypatch.setattr(command, "run_bench", lambda *_: Slow())
    assert invoke("bench", "--json", "bench.json").exit_code == 1
    assert not valid(Path("bench.json").read_text())["right"]


def test_an_unknown_benchmark_is_refused():
    refused(
        "there is no benchmark 'fast'; there are products, encoders, ",
        "bench",
        "fast",
    )


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


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "celosia.sim.cli", *SMALL, "--json", "-"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    document = valid(done.stdout)
    assert document["command_line"] == ["celosia", *SMALL, "--json", "-"]


def test_a_full_standard_output_is_a_message():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "celosia.sim.cli", "config", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_command_is_exit_code_130_and_leaves_nothing():
    process = subprocess.Popen(
        interruptible("asm", "-", "-o", "out.s"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    reading = Path(f"/proc/{process.pid}/syscall")
    while not reading.read_text().startswith("0 0x0 "):  # It waits for its standard input.
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert not os.listdir()


HEAVY = ("amaranth", "tokenizers", "onnx", "jsonschema", "celosia.hw", "celosia.lab.survey")
"""What few commands need."""
COMPILER = ("celosia.sw.compiler", "celosia.sw.quantize", "celosia.sim.run", "celosia.lab.bench")


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (("--version",), (*HEAVY, *COMPILER)),
        (("disasm", "--help"), HEAVY),
        ((*SMALL, "--json", "run.json"), HEAVY),
    ],
    ids=lambda words: words[0],
)
def test_a_command_starts_without_what_others_need(words, absent):
    code = "import sys, atexit; from celosia.sim.cli import main; sys.argv = ['celosia', *{!r}]; "
    code += "atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr)); main()"
    command = [sys.executable, "-c", code.format(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = done.stderr.splitlines()
    assert "celosia.sim.commands" in loaded
    assert not set(absent) & set(loaded)


def test_blas_has_one_thread_unless_told_otherwise():
    code = "import os, celosia.sim; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for told, threads in ((None, "1"), ("3", "3")):
        names = {name: value for name, value in os.environ.items() if "OPENBLAS" not in name}
        env = names | ({} if told is None else {"OPENBLAS_NUM_THREADS": told})
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        assert done.stdout.strip() == threads
