"""What it costs to follow a run: the arithmetic, and what is run."""

import json
from dataclasses import replace

import pytest

from celosia.lab.bench.line import Lines
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import trace_table
from celosia.lab.bench.trace import WORKLOADS, TraceLine, TracePair, run_traces
from celosia.sim.run.origin import as_json
from celosia.sim.run.outcome import Outcome
from tests.support.documents import validate


def line(*, slower=(0.1,), megabytes=1.0, same=True):
    pairs = tuple(TracePair(1e5 * (1 + share), 1e5) for share in slower)
    return TraceLine(
        name="w", cycles=1000, trace_bytes=round(1000 * megabytes), pairs=pairs, same=same
    )


def test_it_is_the_median_pair_that_must_not_be_too_slow():
    assert line(slower=(0.9, 0.1, 0.19, 0.5, 0.0)).slower == pytest.approx(0.19)
    assert line(slower=(0.9, 0.1, 0.19, 0.5, 0.0)).right
    assert not line(slower=(0.21,)).right


def test_too_large_or_another_run_is_not_right():
    assert not line(megabytes=5.0).right
    assert not line(same=False).right
    assert not Bench(parts={"trace": Lines((line(same=False),))}).right


def test_a_document_follows_the_schema():
    document = Bench(parts={"trace": Lines((line(), line(megabytes=7)))}).document()
    validate(json.loads(as_json(document)))
    assert [each["right"] for each in document["trace"]] == [True, False]


def test_the_table_shows_both_figures():
    cells = [list(column.cells) for column in trace_table((line(),)).columns]
    assert "10.00%" in str(cells)
    assert "1.00" in str(cells)


def test_each_workload_runs_in_turns_followed_and_not(report):
    asked = []

    def run(options, _):
        asked.append((options.workload, options.watching.log))
        cycles = report.total.cycles + (len(asked) == 3)
        (part,) = report.operators
        part = replace(part, cycles=cycles, cpu_seconds=2.0 if options.watching.log else 1.0)
        return Outcome(replace(report, operators=(part,)))

    found = run_traces(lambda *_: None, run, pairs=2)
    names = [options.workload for options in WORKLOADS.values()]
    assert asked == [(name, log) for name in names for _ in range(2) for log in (False, True)]
    assert [each.same for each in found.lines] == [False, True]  # A third run took one cycle more.
    assert found.lines[1].slower == pytest.approx(1.0)
    assert found.lines[1].trace_bytes > 1000
