"""What a campaign tells at its end: counts, shares, rates, and what is named."""

import io

import pytest
from rich.console import Console

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz import report
from celosia.lab.fuzz.findings import Findings, What
from celosia.lab.fuzz.report import print_findings, print_signals
from celosia.lab.fuzz.signals import SignalCoverage

TINY = resolve_config("tiny")
POINTS = ("instruction mvin", "instruction mvout", "instruction flush", "hazard raw load store")


def findings_text(what, monkeypatch, **found):
    monkeypatch.setattr(report, "all_points", lambda _: set(POINTS))
    paper = io.StringIO()
    print_findings(Console(file=paper, width=200), Findings(**found), TINY, what)
    return paper.getvalue().splitlines()


def signals_text(**seen):
    paper = io.StringIO()
    print_signals(Console(file=paper, width=4000), SignalCoverage(**seen))
    return paper.getvalue()


def cells(text, name):
    """The cells behind `name` of a table's row."""
    (row,) = [line for line in text.splitlines() if line.strip(" │").startswith(name)]
    return [cell.strip() for cell in row.strip("│").split("│")][1:]


def test_programs_have_a_row_for_each_group_that_there_is(monkeypatch):
    points = {"instruction mvin": 5, "instruction mvout": 1, "hazard raw load store": 2, "other": 1}
    lines = findings_text(
        What.PROGRAMS, monkeypatch, cases=1200, commands=4321, seconds=40.0, points=points
    )
    text = "\n".join(lines)
    assert cells(text, "instruction") == ["2 of 3 (66.7%)", "flush"]
    assert cells(text, "hazard") == ["1 of 1 (100.0%)", "-"]
    assert not [line for line in lines if line.strip(" │").startswith(("transform", "owner"))]
    # 1,200 in 40 s are 1,800 in a minute.
    counts, rate = lines[-1].split(": ")
    assert counts == "1,200 programs, 4,321 commands in 40 s"
    assert rate == "1,800 programs per minute; 0 failed"


@pytest.mark.parametrize("what", [What.FILES, What.MODELS])
def test_kinds_are_listed_in_order_with_their_counts(what, monkeypatch):
    found = {"cases": 3, "commands": 1, "points": {"b": 2000, "a": 1}}
    lines = findings_text(what, monkeypatch, failures=[("x.onnx", "differs [1]")], **found)
    # Nothing has taken any time: there is no rate.
    assert lines == [
        "a: 1",
        "b: 2,000",
        f"3 {what}, 1 command in 0 s: 0 {what} per minute; 1 failed",
        "x.onnx: differs [1]",
    ]


def test_graphs_have_neither_table_nor_kinds(monkeypatch):
    found = {"cases": 1, "commands": 7, "seconds": 120.0, "points": {"a": 1}}
    (line,) = findings_text(What.GRAPHS, monkeypatch, **found)
    assert line == "1 graphs, 7 commands in 120 s: 0 graphs per minute; 0 failed"


def test_signals_states_and_transitions_that_were_not_seen():
    text = signals_text(
        programs=7,
        machines={"state m A", "state m B", "transition m A B", "transition m B A"},
        points={"state m A", "state m B", "transition m A B"},
        # Of errors nothing is asked, but what was seen counts.
        changes={"u.a": 3, "u.b": 0, "u.c": 1, "u.error": 0, "u.late_error": 0, "u.fault": 2},
    )
    assert "Signals, 7 programs" in text
    assert cells(text, "state") == ["2 of 2 (100.0%)", "-"]
    assert cells(text, "transition") == ["1 of 2 (50.0%)", "transition m B A"]
    assert cells(text, "signal of one bit") == ["3 of 4 (75.0%)", "u.b"]
    (left_out,) = [line for line in text.splitlines() if line.startswith("left out")]
    assert left_out.startswith("left out: 2: ")


@pytest.mark.parametrize(("missed", "more"), [(40, ""), (41, ", and 1 more"), (43, ", and 3 more")])
def test_forty_signals_are_named(missed, more):
    text = signals_text(changes={f"u.s{number:02}": 0 for number in range(missed)})
    named = ", ".join(f"u.s{number:02}" for number in range(40))
    assert cells(text, "signal of one bit") == [f"0 of {missed} (0.0%)", named + more]


def test_a_design_without_machines_has_none_of_none():
    assert cells(signals_text(), "state") == ["0 of 0 (0.0%)", "-"]
