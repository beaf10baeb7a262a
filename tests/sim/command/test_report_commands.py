"""What `celosia top` does with the run of a program, which took place before.

What it does with reports of runs is in `tests/sim/cli/test_reports.py`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.sim.command import report_commands
from celosia.sim.run.outcome import Outcome
from tests.support.command_line import invoke, valid


@pytest.fixture
def top(monkeypatch, tmp_path):
    """The command, for a program whose run is known."""
    monkeypatch.chdir(tmp_path)

    def shown(report, *options):
        asked = []

        def known(given, _tell):
            asked.append(given)
            return Outcome(report)

        monkeypatch.setattr(report_commands, "run_workload", known)
        done = invoke("top", "p.cel", *options)
        (given,) = asked
        assert given.workload == "p.cel"
        assert given.watching.log
        return done

    return shown


def test_a_right_run_is_shown_and_written(top, report):
    done = top(report, "-n", "3", "--json", "run.json")
    assert done.exit_code == 0
    assert "compute_preloaded" in done.stdout
    assert valid(Path("run.json").read_text())["cycles"] == report.total.cycles


def test_a_run_that_was_stopped_is_shown_and_wrong(top, runs):
    done = top(runs[1], "--json", "run.json")
    assert done.exit_code == 1
    assert "p.cel: stopped: " in done.stderr
    assert "mvin" in done.stdout
    assert Path("run.json").exists()


def test_a_run_of_which_nothing_is_known_is_wrong(top, runs):
    """It was stopped before anything was logged: there is no table, and no report."""
    (part,) = runs[1].operators
    done = top(replace(runs[1], operators=(replace(part, executed=None),)), "--json", "run.json")
    assert done.exit_code == 1
    assert "p.cel: stopped: " in done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "hottest" not in done.stdout
    assert not Path("run.json").exists()


def test_a_run_with_wrong_elements_is_shown_and_wrong(top, report):
    (part,) = report.operators
    done = top(replace(report, operators=(replace(part, mismatches=1),)))
    assert done.exit_code == 1
    assert "compute_preloaded" in done.stdout
