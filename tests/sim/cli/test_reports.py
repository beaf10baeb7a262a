"""Pages, traces and what reads them, from outside."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import invoke, refused, right, valid

SMALL = ("run", "matmul", "--preset", "tiny", "--sim", "amaranth", "--shape", "5x6x7")


@pytest.fixture
def stored(document):
    """A run's report in the current folder."""
    text = json.dumps(document)
    Path("RUN.json").write_text(text)
    return text


@pytest.mark.slow
def test_a_run_writes_its_page_data_and_trace():
    right(*SMALL, "--report", "out", "--trace", "run.pftrace.gz", "--json", "again.json")
    assert sorted(path.name for path in Path("out").iterdir()) == ["RUN.json", "index.html"]
    run = valid(Path("out/RUN.json").read_text())
    assert run["profile"]["cycles"] == run["cycles"]
    assert run == json.loads(Path("again.json").read_text())
    assert Path("out/index.html").read_text().startswith("<!DOCTYPE html>")
    assert Path("run.pftrace.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_what_has_no_clock_is_not_followed():
    for option in (("--report", "out"), ("--trace", "a.pftrace"), ("--profile",)):
        words = ("run", "matmul", "--preset", "tiny", "--sim", "functional", "--shape", "5x6x7")
        refused("functional has no clock", *words, *option)


def test_a_waveform_is_another_run():
    refused("not together with", *SMALL, "--wave", "out.vcd", "--profile")


def test_places_that_cannot_be_written_are_refused_before_the_run():
    Path("file").touch()
    refused("is not a directory", *SMALL, "--report", "file")
    refused("there is no directory", *SMALL, "--report", "no/where")
    refused("there is no directory", *SMALL, "--trace", "no/where.pftrace")


def test_a_run_is_explained(stored):
    text = right("explain", "RUN.json").stdout
    assert "1. " in text
    assert "of the loss" in text


def test_only_reports_of_runs_are_read(stored):
    Path("broken.json").write_text("{")
    Path("other.json").write_text('{"schema": "celosia.bench/1"}')
    Path("short.json").write_text('{"schema": "celosia.run/1"}')
    Path("plain.json").write_text(json.dumps({**json.loads(stored), "profile": None}))
    Path("torn.json").write_text(
        json.dumps({**json.loads(stored), "profile": {"cycles": 3, "program": "!"}})
    )
    Path("stopped.json").write_text(
        json.dumps({**json.loads(stored), "cycles": None, "counters": {}})
    )
    for name, message in (
        ("none.json", "No such file"),
        ("broken.json", "not JSON"),
        ("other.json", "not a run's report"),
        ("short.json", "is a required property"),
        ("stopped.json", "has no cycles"),
    ):
        refused(message, "explain", name)
        refused(message, "compare", "RUN.json", name)
        refused(message, "top", name)
        refused(message, "asm", "--annotate", name)
    refused("run it with --profile", "top", "plain.json")
    refused("run it with --profile", "asm", "--annotate", "plain.json")
    refused("torn.json: $.profile: ", "explain", "torn.json")
    right("explain", "plain.json")


def test_a_slower_run_is_found(stored):
    other = json.loads(stored)
    other["cycles"] = round(other["cycles"] * 1.01) + 1
    Path("slow.json").write_text(json.dumps(other))
    right("compare", "RUN.json", "RUN.json", "--threshold", "0")
    right("compare", "RUN.json", "slow.json")
    right("compare", "slow.json", "RUN.json", "--threshold", "0.5")
    result = invoke("compare", "RUN.json", "slow.json", "--threshold", "0.5", "--report", "page")
    assert result.exit_code == 1
    assert "slower, more than 0.5 %" in result.stderr
    assert Path("page/index.html").exists()
    refused("Invalid value", "compare", "RUN.json", "slow.json", "--threshold", "-1")
    refused("there is no directory", "compare", "RUN.json", "slow.json", "--report", "no/where")


def test_the_hottest_instructions_are_listed(stored):
    result = right("top", "RUN.json", "-n", "3")
    assert "compute_preloaded" in result.stdout
    refused("Invalid value", "top", "RUN.json", "-n", "0")
    refused("is a run", "top", "RUN.json", "--preset", "tiny")
    refused("nowhere.cel", "top", "nowhere.cel")


def test_an_annotated_listing_is_still_the_program(stored):
    listing = right("asm", "--annotate", "RUN.json", "-o", "run.s")
    assert listing.stdout == ""
    text = Path("run.s").read_text()
    assert "# matmul" in text
    assert "DMA read" in text
    right("asm", "run.s", "-o", "ring.bin")
    right("asm", "run.s", "--annotate", "RUN.json")
    Path("other.s").write_text("fence\n")
    refused("is not the program", "asm", "other.s", "--annotate", "RUN.json")
    refused("give FILE", "asm")
