"""How far a run of nextpnr is, and whether it gets anywhere."""

import pytest

from celosia.sim.export.silicon.fpga import watch as module
from celosia.sim.export.silicon.fpga.watch import PATIENCE, Watch, how_far, why_stuck
from celosia.sim.export.silicon.synthesis.jobs import Job

BEFORE = "Info: Placed 7 cells based on constraints.\n"
ROUTING = f"""\
{BEFORE}Info: Routing..
Info: Setting up routing queue.
Info: Routing 197455 arcs.
Info:            |   (re-)routed arcs  |   delta    | remaining|       time spent     |
Info:    IterCnt |  w/ripup   wo/ripup |  w/r  wo/r |      arcs| batch(sec) total(sec)|
"""


def said(*left):
    """What nextpnr 0.7 says when so many arcs are left after each thousand."""
    lines = [
        f"Info: {number * 1000:10} | {300565:8} {584970:10} |  335   665 | {arcs:9}|       5.83"
        "    2095.55|"
        for number, arcs in enumerate(left, 1)
    ]
    return ROUTING + "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("text", "far"),
    [
        ("", "placing"),
        (BEFORE, "placing"),
        (ROUTING, "routing"),
        (said(55000, 1234), "routing, 1,234 arcs are left after 2,000 steps"),
    ],
)
def test_how_far(text, far):
    assert how_far(text) == far


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        ([], ""),
        (list(range(500, 1, -1)), ""),
        ([90, 70, *[80] * 199], ""),
        (
            [90, 70, *[80] * 200],
            "the router does not get to an end: 70 arcs are left at best, "
            "and were so 200,000 arcs ago",
        ),
        (
            [9, *[0] * 201],
            "the router does not get to an end: 0 arcs are left at best, "
            "and were so 200,000 arcs ago",
        ),
    ],
)
def test_a_router_that_gets_nowhere(left, reason):
    assert PATIENCE == 200
    assert why_stuck(said(*left)) == reason


@pytest.fixture
def clock(monkeypatch):
    """Seconds on the clock, in a list of one."""
    seconds = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: seconds[0])
    return seconds


def test_each_run_has_its_own_hours(tmp_path, clock):
    jobs = [Job(f"seed {seed}", (), tmp_path / str(seed)) for seed in (1, 2)]
    for job in jobs:
        job.work.mkdir()
        (job.work / "output.log").write_text(ROUTING)
    watch = Watch(1.5, lambda text, done: None)
    assert not watch(jobs[0])
    clock[0] += 5400
    assert not watch(jobs[0])
    assert not watch(jobs[1])
    clock[0] += 1
    assert watch(jobs[0])
    assert not watch(jobs[1])
    assert watch.given_up == {"seed 1": "it has taken 1.5 hours, routing"}


def test_what_runs_is_told(tmp_path):
    told = []
    watch = Watch(1, lambda text, done: told.append((text, done)))
    jobs = [Job(f"seed {seed}", (), tmp_path / str(seed)) for seed in (1, 2)]
    for job, text in zip(jobs, (BEFORE, said(8, 9)), strict=True):
        job.work.mkdir()
        (job.work / "output.log").write_text(text)
        watch(job)
    watch.ended(jobs[0], 0.5)
    watch.ended(jobs[1], 1.0)
    second = "seed 2: routing, 9 arcs are left after 2,000 steps"
    assert told == [
        ("seed 1: placing", None),
        (f"seed 1: placing; {second}", None),
        (second, 0.5),
        ("placing and routing", 1.0),
    ]
