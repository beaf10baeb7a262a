"""Advice that is followed, in runs that are made up, and on RTL."""

import json

import pytest

from celosia.lab.bench.advice import (
    NOTHING,
    RUNS,
    AdviceLine,
    AdviceLines,
    Trial,
    followed,
    run_advice,
)
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import advice_table
from celosia.sim.profile.whatif import FOLLOWED, Change
from celosia.sim.run.origin import as_json
from celosia.sim.support.progress import silent
from tests.support.documents import validate

SHORT = [run for run in RUNS if run.target.preset == "tiny"]


def line(saved, said=100, *, helps=True, right=True, measured=False):
    change = Change("more", said, 1000, options=("--set", "dim=8"), measured=measured)
    return AdviceLine("run", 1000, (Trial(change, 1000 - saved, right, 1000),), helps)


def test_direction_and_size_must_hold():
    assert line(100).right
    assert line(76).right
    assert not line(74).right
    assert line(149).right
    assert not line(151).right
    for wrong in (line(0), line(-56), line(100, right=False)):
        assert not wrong.right
        assert not AdviceLines((wrong,)).right


def test_if_nothing_is_said_to_help_nothing_does():
    assert line(0, helps=False).right
    assert line(-300, helps=False).right
    assert not line(round(NOTHING * 1000) + 1, helps=False).right
    assert line(0, helps=False).error is None


def test_it_must_not_be_more_wrong_than_reports_say():
    assert AdviceLines((line(100),)).right
    worst = round(100 / (1 + FOLLOWED.worst)) - 2
    assert line(worst).right or FOLLOWED.worst > 0.3
    assert not AdviceLines((*[line(100)] * 50, line(worst))).right
    found = followed([line(100), line(80), line(0, helps=False)])
    assert found is not None
    assert (found.runs, found.mean, found.worst) == (2, pytest.approx(0.125), pytest.approx(0.25))
    assert followed([line(0, helps=False)]) is None
    assert followed([line(100, measured=True)]) is None


def test_the_document_and_the_table_say_it():
    lines = (line(100), line(0))
    bench = Bench(parts={"advice": AdviceLines(lines)})
    assert not bench.right
    document = json.loads(as_json(bench.document()))
    validate(document)
    assert [each["error"] for each in document["advice"]] == [0, None]
    assert advice_table(lines).row_count == 2


def test_the_runs_are_many_and_of_many_kinds():
    assert len(RUNS) >= 12
    assert {"matmul", "softmax", "layernorm", "attention", "encoder-layer"} <= {
        run.workload for run in RUNS
    }
    assert FOLLOWED.runs <= len(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", SHORT, ids=lambda run: f"{run.workload} {run.target.timing.latency}"
)
def test_the_first_advice_holds_on_rtl(run):
    (found,) = run_advice(silent, runs=[run]).lines
    assert found.right, found
