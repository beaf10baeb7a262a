"""Advice that is measured with the run."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from celosia.isa.memory import MemoryTiming
from celosia.sim import cli
from celosia.sim.command import run_command
from celosia.sim.profile.whatif import Change, what_if
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.workload import advice
from celosia.sim.run.workload.advice import follow, run_advised
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from tests.support.plain import PLAIN_OVERRIDES
from tests.support.run_options import changed

PRODUCT = RunOptions(
    workload="matmul",
    details=Matmul(shape="12x8x8"),
    target=Target(
        preset="tiny",
        overrides=PLAIN_OVERRIDES,
        timing=MemoryTiming(latency=200, bytes_per_cycle=2),
    ),
    watching=Watching(advice=True, log=True),
)


class Runs:
    """Runs as `run_workload` makes them, and remembers their options."""

    def __init__(self, wrong=()):
        self.asked = []
        self._wrong = wrong

    def __call__(self, options, tell):
        self.asked.append(options)
        outcome = run_workload(options, tell)
        if options.target.timing.latency not in self._wrong:
            return outcome
        operators = tuple(replace(part, mismatches=1) for part in outcome.report.operators)
        return replace(outcome, report=replace(outcome.report, operators=operators))


def test_another_memory_is_measured_and_another_accelerator_is_not():
    runs = Runs()
    report = run_advised(PRODUCT, silent, runs).report
    before = report.total.cycles
    assert before is not None
    first, *others = runs.asked
    assert first is PRODUCT
    assert [
        (each.target.timing.latency, each.target.timing.bytes_per_cycle) for each in others
    ] == [
        (100, 2),
        (200, 4),
    ]
    assert not any(each.watching.log or each.watching.advice for each in others)
    for change in report.changes:
        assert change.measured == ("--set" not in change.options), change
        if change.measured:
            again = run_workload(follow(PRODUCT, change)).report.total.cycles
            assert again is not None
            assert (change.saved, change.before) == (before - again, before)
    told = what_if(report.document())
    assert told
    assert "measured; add --mem-" in str(told[0])


@pytest.mark.parametrize(
    "change",
    [
        {"advice": False},
        {"simulator": "amaranth", "log": False, "details": Matmul(shape="4x4x4")},
    ],
    ids=["nobody asked", "slow simulator"],
)
def test_no_run_is_made_again_if_nobody_asked_or_it_is_slow(change):
    runs = Runs()
    report = run_advised(changed(PRODUCT, **change), silent, runs).report
    assert len(runs.asked) == 1
    assert report.changes == ()


def test_a_long_run_is_not_made_again(monkeypatch):
    monkeypatch.setattr(advice, "MEASURED_CYCLES", 100)
    runs = Runs()
    assert run_advised(PRODUCT, silent, runs).report.changes == ()
    assert len(runs.asked) == 1


def test_what_is_wrong_shows_nothing():
    """Neither about a run whose own results are wrong, nor about a change that makes them so."""
    runs = Runs(wrong=(200,))
    assert run_advised(PRODUCT, silent, runs).report.changes == ()
    assert len(runs.asked) == 1
    changes = run_advised(PRODUCT, silent, Runs(wrong=(100,))).report.changes
    measured = {change.options[1] for change in changes if change.measured}
    assert measured == {"4"}


def test_options_are_followed_as_the_command_line_takes_them(monkeypatch):
    """What is printed can be copied: `celosia run` makes the same run of it."""
    words = ("--mem-latency", "20", "--mem-bytes-per-cycle", "32", "--set", "bus_bits=256")
    asked = []

    def run(options, _tell):
        asked.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "run_advised", run)
    given = ["run", "matmul", "--shape", "8x8x8", "--preset", "tiny", "--set", "bus_bits=64"]
    given += ["--mem-latency", "40"]
    for more in ((), words):
        CliRunner().invoke(cli.app, [*given, *more])
    before, after = (changed(options, command_line=()) for options in asked)
    assert follow(before, Change("x", 1, 1, options=words)) == after
    with pytest.raises(ValueError, match="--wave"):
        follow(before, Change("x", 1, 1, options=("--wave", "x")))
