"""Progress of several steps, and where it is shown."""

from celosia.sim.support.display import Steps, progress_bar, table_console
from celosia.sim.support.progress import silent


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


def test_nothing_is_shown_where_nobody_looks():
    with progress_bar() as tell:
        assert tell is silent


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
