"""Progress of several steps, and where it is shown."""

import threading

from celosia.sim.support import display
from celosia.sim.support.display import Steps, line_of, progress_bar, table_console


def told():
    heard = []
    return heard, lambda text, done: heard.append((text, done))


def test_steps_share_one_bar():
    heard, tell = told()
    steps = Steps(tell, 4)
    steps("building", 0.5)
    steps.begin("first")
    steps("simulating", 0.5)
    steps.begin("second")
    steps("compiling", None)
    assert heard == [
        ("building", None),
        ("first: simulating", 0.125),
        ("second: compiling", 0.25),
    ]


def test_one_step_without_a_known_end_has_none():
    heard, tell = told()
    steps = Steps(tell, 1)
    steps.begin("only")
    steps("compiling", None)
    steps("simulating", 0.5)
    assert heard == [("only: compiling", None), ("only: simulating", 0.5)]


def test_steps_within_steps():
    heard, tell = told()
    outer = Steps(tell, 2)
    outer.begin("a")
    inner = Steps(outer, 2)
    inner("building", None)
    inner.begin("x")
    inner("simulating", 1.0)
    assert heard == [("a: building", 0.0), ("a: x: simulating", 0.25)]


def test_work_that_is_soon_done_says_nothing_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(display, "PATIENCE", 1e6)
    with progress_bar() as tell:
        tell("building the simulator", None)
    assert capsys.readouterr() == ("", "")


def test_long_work_prints_a_line_now_and_then_without_a_terminal(monkeypatch):
    """A line tells of long work, such as the second simulator that --report builds."""
    lines, enough = [], threading.Event()

    def write(text, *, err):
        assert err
        lines.append(text)
        if len(lines) > 2:
            enough.set()

    monkeypatch.setattr(display, "PATIENCE", 0.001)
    monkeypatch.setattr(display.typer, "echo", write)
    with progress_bar() as tell:
        tell("compiling the C++", 0.25)
        assert enough.wait(600)
    assert lines[0].startswith("celosia: compiling the C++, 25% (for ")


def test_a_terminal_shows_what_goes_on(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar() as tell:
        tell("simulated 7 cycles", 0.25)
        tell("compiling", None)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling" in shown.err


def test_tables_make_room_for_json_on_standard_output():
    assert table_console("-").stderr
    assert not table_console("report.json").stderr
    assert not table_console().stderr


def test_a_line_tells_the_time_left_where_it_is_known():
    assert line_of("building", None, 40) == "building (for 40 s so far)"
    assert line_of("begun", 0.0, 40) == "begun, 0% (for 40 s so far)"
    assert line_of("at work", 0.25, 20) == "at work, 25% (for 20 s so far, about 60 s left)"
