"""What `celosia run` does with a run: what it prints, the files that it writes, the exit code.

The run itself took place before, on Amaranth's simulator.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.sim.command import run_command
from celosia.sim.run.outcome import Outcome
from celosia.sim.support.problems import InputError
from tests.support.command_line import invoke, valid

FILES = {
    ("--json", "run.json"): {"run.json"},
    ("--report", "page"): {"page", "page/RUN.json", "page/index.html"},
    ("--trace", "run.pftrace"): {"run.pftrace"},
    ("--out", "result.npy"): {"result.npy"},
    ("--profile",): set(),
}
"""What an option makes."""
RESULT = np.arange(6, dtype=np.int8).reshape(2, 3)


@pytest.fixture
def outcome(monkeypatch, tmp_path, report):
    monkeypatch.chdir(tmp_path)
    known = [Outcome(report, RESULT)]
    monkeypatch.setattr(run_command, "run_advised", lambda _options, _tell: known[0])
    return known


def files():
    return {path.as_posix() for path in Path().rglob("*")}


def run(*options, code=0):
    done = invoke("run", "matmul", "--preset", "tiny", *options)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_each_file_that_is_asked_for_is_written_and_no_other(outcome, option):
    text = run(*option)
    assert files() == FILES[option]
    assert f"{outcome[0].report.total.cycles:,}" in text


def test_all_of_them_are_of_the_same_run(outcome):
    run(*(word for option in FILES for word in option))
    assert files() == {name for names in FILES.values() for name in names}
    document = valid(Path("run.json").read_text())
    assert document == valid(Path("page/RUN.json").read_text())
    assert document["cycles"] == outcome[0].report.total.cycles
    np.testing.assert_array_equal(np.load("result.npy"), RESULT)


def test_a_wrong_run_says_so_and_leaves_no_result(outcome):
    (part,) = outcome[0].report.operators
    outcome[0] = Outcome(
        replace(outcome[0].report, operators=(replace(part, mismatches=3),)), RESULT
    )
    run("--out", "result.npy", "--json", "run.json", code=1)
    assert files() == {"run.json"}


@pytest.mark.parametrize("option", [option for option in FILES if len(option) > 1], ids=" ".join)
def test_where_nothing_can_be_written_nothing_runs(outcome, option, monkeypatch):
    def nothing(*_):
        raise InputError("it ran")

    monkeypatch.setattr(run_command, "run_advised", nothing)
    done = invoke("run", "matmul", "--preset", "tiny", option[0], f"no/where/{option[1]}")
    assert done.exit_code == 2
    assert "there is no directory" in " ".join(done.stderr.split())
