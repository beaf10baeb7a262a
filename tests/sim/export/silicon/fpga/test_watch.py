"""How far a run of nextpnr is, and whether it gets anywhere."""

import pytest

from celosia.sim.export.silicon.fpga import watch as module
from celosia.sim.export.silicon.fpga.watch import PATIENCE, Watch, how_far, why_stuck
from celosia.sim.export.silicon.synthesis.jobs import Job

BEFORE = "Info: Placed 7 cells based on constraints.\n"
ROUTING = f"{BEFORE}Info: Running router2...\nInfo: Running main router loop...\n"


def said(*twice):
    """What nextpnr 0.11 says of iterations after which so many wires are used twice."""
    lines = [
        f"Info:     iter={number} wires=1260000 overused={wires} overuse=99999 archfail=NA"
        for number, wires in enumerate(twice, 1)
    ]
    return ROUTING + "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("text", "far"),
    [
        ("", "placing"),
        (BEFORE, "placing"),
        (ROUTING, "routing"),
        (said(55000, 1234), "routing, 1,234 wires are used twice after 2 iterations"),
    ],
)
def test_how_far(text, far):
    assert how_far(text) == far


@pytest.mark.parametrize(
    ("twice", "reason"),
    [
        ([], ""),
        (list(range(500, 1, -1)), ""),
        ([90, 70, *[80] * 39], ""),
        (
            [90, 70, *[80] * 40],
            "the router does not converge: 70 wires are used twice at best, "
            "and were so 40 iterations ago",
        ),
        (
            [9, *[0] * 41],
            "the router does not converge: 0 wires are used twice at best, "
            "and were so 40 iterations ago",
        ),
    ],
)
def test_a_router_that_gets_nowhere(twice, reason):
    assert PATIENCE == 40
    assert why_stuck(said(*twice)) == reason


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
    second = "seed 2: routing, 9 wires are used twice after 2 iterations"
    assert told == [
        ("seed 1: placing", 0.0),
        (f"seed 1: placing; {second}", 0.0),
        (second, 0.5),
        ("placing and routing", 1.0),
    ]
