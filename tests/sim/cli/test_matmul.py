"""`celosia run matmul` from outside."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.sim.command import run_command
from celosia.sim.run.workload import run
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sw.reference.matmul import matmul_reference
from tests.support.command_line import MATMUL, SMALL, invoke, refused, right, save, valid


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
    options = [
        *("--mem-latency", 7, "--mem-bytes-per-cycle", 3, "--mem-stall-percent", 20),
        *("--mem-channel-stall", "r=50", "--mem-channel-stall", "b=0"),
        *("--mem-reorder", "--mem-late-ready"),
        *("--mem-fault", "read:0x80000010:slverr", "--mem-fault", "write:#3:decerr"),
    ]
    document = valid(right(*SMALL, *options, "--json", "-").stdout)
    assert document["memory"] == {
        "latency": 7,
        "bytes_per_cycle": 3,
        "stall_percent": 20,
        "channel_stalls": {"r": 50, "b": 0},
        "reorder": True,
        "ready_after_valid": True,
        "faults": ["read:0x80000010:slverr", "write:#3:decerr"],
    }


@pytest.mark.parametrize("issue", ["stream", "ring"])
def test_commands_come_as_the_option_says(issue):
    result = right(*SMALL, "--issue", issue, "--json", "-")
    assert valid(result.stdout)["issue"] == issue
    told = " ".join(result.stderr.split())  # A caption may take two lines.
    assert ("commands from a ring" in told) == (issue == "ring")


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
        ("functional has no signals", ["--shape", "4x4x4", "--wave", "x.vcd"]),
        ("--a and --b go together", ["--a", "A.npy"]),
        ("--a and --b go together", ["--b", "A.npy"]),
        ("--shape 4x4x4: not with --a and --b", ["--a", "A", "--b", "B", "--shape", "4x4x4"]),
        ("--a missing.npy: No such file", ["--a", "missing.npy", "--b", "missing.npy"]),
        ("there is no preset 'huge'", ["--shape", "4x4x4", "--preset", "huge"]),
        ("missing.toml: No such file", ["--shape", "4x4x4", "--preset", "missing.toml"]),
        ("dataflow: 'foo' is none of ws, os, both", ["--shape", "4x4x4", "--set", "dataflow=foo"]),
        ("speed: no such parameter", ["--shape", "4x4x4", "--set", "speed=9"]),
        ("dim: 3 is not a power of two in 2..64", ["--shape", "4x4x4", "--set", "dim=3"]),
        ("write it as key=value", ["--shape", "4x4x4", "--set", "dim"]),
        ("'--sim'", ["--shape", "4x4x4", "--sim", "icarus"]),
        ("'--seed'", ["--shape", "4x4x4", "--seed", "-1"]),
        ("'--mem-latency'", ["--shape", "4x4x4", "--mem-latency", "0"]),
        ("'--mem-bytes-per-cycle'", ["--shape", "4x4x4", "--mem-bytes-per-cycle", "0"]),
        ("'--mem-stall-percent'", ["--shape", "4x4x4", "--mem-stall-percent", "100"]),
        ("'--issue'", ["--shape", "4x4x4", "--issue", "bus"]),
        ("'--cycle-budget'", ["--shape", "4x4x4", "--cycle-budget", "-1"]),
        ("--mem-fault read:5: write read|write", ["--shape", "4x4x4", "--mem-fault", "read:5"]),
        ("--mem-fault read:5:okay: wr", ["--shape", "4x4x4", "--mem-fault", "read:5:okay"]),
        (
            "0x10000000000000000 has more than 64 bits",
            ["--shape", "4x4x4", "--mem-fault", "read:0x10000000000000000:slverr"],
        ),
        ("x=5: write CHANNEL=PERCENT", ["--shape", "4x4x4", "--mem-channel-stall", "x=5"]),
        ("r=99: write CHANNEL=PERCENT", ["--shape", "4x4x4", "--mem-channel-stall", "r=99"]),
        ("r: write CHANNEL=PERCENT", ["--shape", "4x4x4", "--mem-channel-stall", "r"]),
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


def test_a_wrong_result_is_not_written():
    save(A=np.ones((3, 4), np.int8), B=np.ones((4, 5), np.int8))

    def wrong(*words):
        outcome = run.run_workload(*words)
        (measured,) = outcome.report.operators
        bad = replace(measured, mismatches=1)
        return replace(outcome, report=replace(outcome.report, operators=(bad,)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_command, "run_advised", wrong)
        result = invoke(*MATMUL, "--a", "A.npy", "--b", "B.npy", "--out", "C.npy")
    assert result.exit_code == 1
    assert "1 of 15 elements are wrong" in result.stdout
    assert not Path("C.npy").exists()


def test_a_disk_that_fills_up_during_the_run_leaves_nothing(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    refused("report.json: not written: No space left", *SMALL, "--json", "report.json")
    refused("C.npy: not written: No space left", *SMALL, "--out", "C.npy")


def test_a_missing_tool_is_refused(monkeypatch):
    def missing(*_):
        raise EnvironmentProblem("no C++ compiler: the Debian package g++ has it")

    monkeypatch.setattr(run_command, "run_advised", missing)
    refused("the Debian package g++ has it", *SMALL)
